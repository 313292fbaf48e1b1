"""Numbers and times as Java prints them: scripts that read YCSB's output were written for these."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal

LONG_MAX = 2**63 - 1


def double_text(value: float) -> str:
    """`Double.toString`: at least one digit after the point, powers of ten from 10^7 up and below 10^-3."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return _plain(value)
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"


def _plain(value: float) -> str:
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else f"{text}.0"


def number_text(value: float) -> str:
    """An int as it is, a float as `Double.toString` has it."""
    return str(value) if isinstance(value, int) else double_text(value)


def rounded(value: float) -> str:
    """`DecimalFormat("#.##")`: at most two digits after the point, halves to the even one."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "\u221e"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def moment(realtime_s: float) -> str:
    """`yyyy-MM-dd HH:mm:ss:SSS`, local time."""
    at = datetime.fromtimestamp(realtime_s)
    return f"{at:%Y-%m-%d %H:%M:%S}:{at.microsecond // 1000:03d}"


def remaining(seconds: float) -> str:
    """YCSB's text of a time to come; a blank ends it, and one digit of seconds says `second`."""
    left = LONG_MAX if not math.isfinite(seconds) else min(LONG_MAX, math.ceil(seconds))
    text = ""
    days, left = divmod(left, 86_400)
    hours, left = divmod(left, 3_600)
    minutes, left = divmod(left, 60)
    for count, unit in ((days, "day"), (hours, "hour"), (0 if days else minutes, "minute")):
        text += f"{count} {unit}{'' if count == 1 else 's'} " if count else ""
    return text or f"{left} second{'' if left < 10 else 's'} "
