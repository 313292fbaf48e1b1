"""What an action had to move at least, and what it gained: against the ideal of a balanced cluster."""

from __future__ import annotations

from dataclasses import dataclass


def least_bytes(stored: float, before: int, after: int, copies: int) -> float:
    """Bytes that nodes must at least receive when a balanced cluster changes its size.

    A node of n holds min(R, n) / n of all data, R being the number of copies. A node that joins must receive
    its whole share, one that stays what its share grows by (when others leave). For one node added to n >= R
    that is 1 / (n + 1) of what is stored (Karger et al. 1997: no key moves between nodes that stay).

    Args:
        stored: bytes on all nodes before, copies included.
        before, after: nodes that hold data, at least one.
        copies: of each record that are promised.
    """
    data = stored / min(copies, before)
    share_before, share_after = min(copies, before) / before, min(copies, after) / after
    staying, joining = min(before, after), max(after - before, 0)
    return data * (staying * max(share_after - share_before, 0.0) + joining * share_after)


@dataclass(frozen=True)
class Gain:
    """What a change of size brought in capacity.

    Attributes:
        ratio: highest rate after over highest rate before.
        ideal: nodes after over nodes before.
    """

    ratio: float
    ideal: float

    @property
    def share(self) -> float:
        """Of the ideal change, the part that came: 1 when capacity grew as the nodes did, 0 when not at all
        (after SB2 of Kuhlenkamp et al. 2014); of no change in nodes the ratio."""
        return (self.ratio - 1) / (self.ideal - 1) if self.ideal != 1 else self.ratio


def gain(before_per_s: float | None, after_per_s: float | None, before: int, after: int) -> Gain | None:
    """The gain in capacity, of rates searched before and after; None where either was not searched."""
    if not before_per_s or not after_per_s or not before:
        return None
    return Gain(after_per_s / before_per_s, after / before)
