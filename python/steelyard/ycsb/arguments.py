"""YCSB's command line, options with a single dash, parsed as its client does: words in, properties out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.errors import InputError, nearest
from steelyard.spec.properties import Property, read_properties
from steelyard.spec.workloads import read_text

ACTIONS = ("load", "run")
VALUED = {"-threads": "threadcount", "-target": "target", "-db": "db", "-l": "label"}
"""Options with a word that sets a property."""
SWITCHES = {"-s": ("status", "true")}
WRAPPER = ("-cp", "-jvm-args")
"""Options of YCSB's start script, for Java."""
OWN = ("--as-ycsb", "--no-result", "--out")
KNOWN = (*VALUED, *SWITCHES, *WRAPPER, *OWN, "-P", "-p", "-load", "-t", "--help")
HINT = "`steelyard ycsb --help` lists what there is"


@dataclass
class Words:
    """A parsed command line.

    Attributes:
        action: `load` or `run`.
        database: YCSB's name of the binding.
        properties: name -> value and where it was said; `-p` beats every file, a later file an earlier one.
        files: the property files, in their order.
        class_path: of `-cp`, where hbase-site.xml may be.
        ignored: options that were taken and mean nothing here.
        as_ycsb: do as YCSB does, its defects included.
        keep: whether the result folder stays; `out` is that folder, None = `results/TIME-NAME`.
    """

    action: str
    database: str
    properties: dict[str, Property] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    class_path: list[Path] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    as_ycsb: bool = False
    keep: bool = True
    out: Path | None = None


def parse(given: Sequence[str]) -> Words:
    """Parse what follows `steelyard ycsb`.

    Raises:
        InputError: an unknown word, an option without its word, a file that cannot be read.
    """
    if len(given) < 2 or given[0] not in ACTIONS:
        found = f"'{given[0]}' is neither" if given else "neither was said"
        raise InputError(f"expected load or run and a database: {found}" + _near(given), hint=HINT)
    words = Words(given[0], given[1])
    said: dict[str, Property] = {}
    rest = iter(given[2:])
    for option in rest:
        _take(words, option, rest, said)
    for path in words.files:
        for name, value, line in read_properties(read_text(path)):
            words.properties[name] = Property(value, f"{path}:{line}")
    words.properties |= said
    return words


def _near(given: Sequence[str]) -> str:
    return nearest(given[0], ACTIONS) if given and given[0] not in ACTIONS else ""


def _take(words: Words, word: str, rest: Iterator[str], said: dict[str, Property]) -> None:
    if word in VALUED:
        said[VALUED[word]] = Property(_next(word, rest), word)
    elif word in SWITCHES:
        name, value = SWITCHES[word]
        said[name] = Property(value, word)
    elif word == "-P":
        words.files.append(Path(_next(word, rest)))
    elif word == "-p":
        name, equals, value = _next(word, rest).partition("=")
        if not (equals and name):
            raise InputError(f"-p {name}: expected name=value, e.g. -p recordcount=1000")
        said[name] = Property(value, "-p")
    elif word == "-cp":
        words.class_path += [Path(part) for part in _next(word, rest).split(":") if part]
    elif word == "-jvm-args" or word.startswith("-jvm-args="):
        value = word.partition("=")[2] if "=" in word else _next(word, rest)
        words.ignored.append(f"-jvm-args {value}: there is no JVM")
    elif word in ("-load", "-t"):
        words.action = "load" if word == "-load" else "run"
    else:
        _take_own(words, word, rest)


def _take_own(words: Words, word: str, rest: Iterator[str]) -> None:
    match word:
        case "--as-ycsb":
            words.as_ycsb = True
        case "--no-result":
            words.keep = False
        case "--out":
            words.out = Path(_next(word, rest))
        case _:
            raise InputError(f"unknown option '{word}'{nearest(word, KNOWN)}", hint=HINT)


def _next(option: str, rest: Iterator[str]) -> str:
    word = next(rest, None)
    if word is None:
        raise InputError(f"{option} needs a word after it", hint=HINT)
    return word
