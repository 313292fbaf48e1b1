"""The workload: records, keys, values, the mix of operations, and which record each asks for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt, model_validator

from steelyard.spec.base import Model

Fraction = Annotated[float, Field(gt=0, le=1)]
Compat = Literal["ycsb"] | None


class ConstantLength(Model):
    """Always the same length."""

    kind: Literal["constant"] = "constant"
    length: PositiveInt = 100


class RangeLength(Model):
    """A length of `min` to `max`, uniform or zipfian (short ones most likely)."""

    kind: Literal["uniform", "zipfian"]
    min: PositiveInt = 1
    max: PositiveInt

    @model_validator(mode="after")
    def _ordered(self) -> RangeLength:
        if self.min > self.max:
            raise ValueError(f"min = {self.min} is above max = {self.max}")
        return self


class HistogramLength(Model):
    """Lengths drawn by their weights."""

    kind: Literal["histogram"]
    weights: Annotated[tuple[tuple[PositiveInt, PositiveInt], ...], Field(min_length=1)]
    """(length, weight) pairs."""

    @property
    def mean(self) -> float:
        """The mean length."""
        return sum(n * weight for n, weight in self.weights) / sum(weight for _, weight in self.weights)


Length = Annotated[ConstantLength | RangeLength, Field(discriminator="kind")]
FieldLength = Annotated[ConstantLength | RangeLength | HistogramLength, Field(discriminator="kind")]


class Key(Model):
    """How a record's rank becomes its key."""

    order: Literal["hashed", "ordered"] = "hashed"
    prefix: Annotated[str, Field(max_length=16, pattern=r"^[!-~]*$")] = "user"
    zero_padding: Annotated[int, Field(ge=1, le=24)] = 1


class Fields(Model):
    """A record's fields."""

    count: Annotated[int, Field(ge=1, le=4096)] = 10
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,31}$")] = "field"
    length: FieldLength = ConstantLength()
    bits_per_byte: Annotated[int, Field(ge=1, le=6)] = 6
    """Random bits in each byte of content; 6 compresses as YCSB's values do."""


class Mix(Model):
    """Weights of the operation kinds; they need not sum to 1."""

    read: NonNegativeFloat = 0
    update: NonNegativeFloat = 0
    insert: NonNegativeFloat = 0
    scan: NonNegativeFloat = 0
    delete: NonNegativeFloat = 0
    read_modify_write: NonNegativeFloat = 0

    @model_validator(mode="after")
    def _something(self) -> Mix:
        if not sum(self.model_dump().values()) > 0:
            raise ValueError("the proportions sum to 0: no operation would ever be chosen")
        return self


class Uniform(Model):
    """Every record equally likely."""

    kind: Literal["uniform"] = "uniform"
    compat: Compat = None


class Zipfian(Model):
    """Popularity falls as rank^-theta."""

    kind: Literal["zipfian"] = "zipfian"
    theta: NonNegativeFloat = 0.99
    compat: Compat = None

    @model_validator(mode="after")
    def _fixed(self) -> Zipfian:
        if self.compat and self.theta != 0.99:
            raise ValueError("compat = 'ycsb' draws with theta = 0.99 only; leave compat out to choose theta")
        return self


class Latest(Model):
    """The newest records most popular."""

    kind: Literal["latest"] = "latest"
    theta: NonNegativeFloat = 0.99
    compat: Compat = None


class Hotspot(Model):
    """A fraction of the records gets a fraction of the operations."""

    kind: Literal["hotspot"] = "hotspot"
    data_fraction: Fraction = 0.2
    operation_fraction: Fraction = 0.8
    compat: Compat = None


class Sequential(Model):
    """One record after the other."""

    kind: Literal["sequential"] = "sequential"
    compat: Compat = None


class Exponential(Model):
    """Popularity falls exponentially with age."""

    kind: Literal["exponential"] = "exponential"
    percentile: Annotated[float, Field(gt=0, lt=100)] = 95
    fraction: Fraction = 0.8571428571
    compat: Compat = None


Request = Annotated[
    Uniform | Zipfian | Latest | Hotspot | Sequential | Exponential, Field(discriminator="kind")
]


class Workload(Model):
    """What is stored and what is asked."""

    name: str = "a"
    records: Annotated[int, Field(ge=1, lt=2**62)] = 100_000
    table: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,47}$")] = "usertable"
    key: Key = Key()
    fields: Fields = Fields()
    mix: Mix
    request: Request = Zipfian()
    scan_length: Length = RangeLength(kind="uniform", min=1, max=100)
    read_all_fields: bool = True
    write_all_fields: bool = False
    values: Literal["checked", "ycsb", "ycsb_integrity"] = "checked"
    """`ycsb`: random as YCSB's; `ycsb_integrity`: derived from key and field as its `dataintegrity` does."""
    verify: Literal["off", "sample", "all", "full"] = "all"
    """`checked` values can be judged: `all` finds corrupt and foreign ones, `full` also stale and lost."""


def _of_rabl(name: str, **mix: float) -> Workload:
    """One of Rabl et al. 2012: records of 75 bytes, 25 of them the key, and scans of 50 records."""
    return Workload(
        name=name,
        mix=Mix(**mix),
        request=Uniform(),
        key=Key(zero_padding=21),
        fields=Fields(count=5, length=ConstantLength(length=10)),
        scan_length=RangeLength(kind="uniform", min=50, max=50),
    )


CORE: dict[str, Workload] = {
    "a": Workload(name="a", mix=Mix(read=0.5, update=0.5)),
    "b": Workload(name="b", mix=Mix(read=0.95, update=0.05)),
    "c": Workload(name="c", mix=Mix(read=1)),
    "d": Workload(name="d", mix=Mix(read=0.95, insert=0.05), request=Latest()),
    "e": Workload(name="e", mix=Mix(scan=0.95, insert=0.05)),
    "f": Workload(name="f", mix=Mix(read=0.5, read_modify_write=0.5)),
    "g": Workload(name="g", mix=Mix(update=1)),
    "r": _of_rabl("r", read=0.95, insert=0.05),
    "rw": _of_rabl("rw", read=0.5, insert=0.5),
    "w": _of_rabl("w", read=0.01, insert=0.99),
    "rs": _of_rabl("rs", read=0.47, scan=0.47, insert=0.06),
    "rsw": _of_rabl("rsw", read=0.25, scan=0.25, insert=0.5),
}
"""YCSB's core workloads (YCSB.md 3.4), and papers' own: G, which is A made write-only, and those of Rabl."""
