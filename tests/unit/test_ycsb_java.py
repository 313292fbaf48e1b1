"""Numbers, times and property files as Java has them. Expected texts are what a JDK 17 prints."""

from __future__ import annotations

import math

import pytest

from steelyard.spec.properties import read_properties
from steelyard.ycsb.java import double_text, remaining, rounded


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"), (1.0, "1.0"), (98.91196834817013, "98.91196834817013"), (9999999.5, "9999999.5"),
        (1e7, "1.0E7"), (1.23456789e10, "1.23456789E10"), (0.001, "0.001"), (0.00099, "9.9E-4"),
        (0.002, "0.002"), (math.nan, "NaN"), (math.inf, "Infinity"), (-2.5e8, "-2.5E8"),
    ],
)  # fmt: skip
def test_doubles(value: float, text: str) -> None:
    assert double_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.5, "0.5"), (0.001, "0"), (1234.5, "1234.5"), (98.765, "98.77"), (0.125, "0.12"),
     (0.135, "0.14"), (1e9, "1000000000"), (100, "100"), (math.nan, "NaN")],
)  # fmt: skip
def test_two_digits_after_the_point(value: float, text: str) -> None:
    assert rounded(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(math.inf, "106751991167300 days 15 hours "), (0.2, "1 second "), (5, "5 second "), (42, "42 seconds "),
     (60, "1 minute "), (3700, "1 hour 1 minute "), (90_000, "1 day 1 hour "), (86_400 * 2 + 61, "2 days ")],
)  # fmt: skip
def test_remaining_time(seconds: float, text: str) -> None:
    assert remaining(seconds) == text


def test_a_property_file_is_read_as_java_does() -> None:
    text = (
        "# a comment\n! another\n\n  a = 1\nb:2\nc 3\nd\\=e=f\\tg\nlong=one,\\\n   two\nempty\n"
        "uni=\\u0041\nend=x  \nlast=\\"
    )
    assert list(read_properties(text)) == [
        ("a", "1", 4), ("b", "2", 5), ("c", "3", 6), ("d=e", "f\tg", 7), ("long", "one,two", 8),
        ("empty", "", 10), ("uni", "A", 11), ("end", "x  ", 12), ("last", "", 13),
    ]  # fmt: skip
