"""Controls as data: a value with a name, a default, and the rule that reads it from a link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from viz_core.trace import Text

SPELLED = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few codes, shown by its name in the catalogue (`option.<name>.<code>`), else as it is."""

    name: str
    options: tuple[str, ...]
    default: str
    listed: bool = False  # as a list even where few options could stand side by side
    when: tuple[str, str | tuple[str, ...]] | None = None  # shown only while that control has that value, or one of
    # these, and with two options or more
    sliding: bool = False  # as a slider, for options in a natural order

    def parse(self, raw: str) -> str | None:
        """The option that a link names, if it is one."""
        return raw if raw in self.options else None


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within bounds."""

    name: str
    low: int
    high: int
    default: int
    step: int = 1
    when: tuple[str, str] | None = None  # as for a Choice

    def parse(self, raw: str) -> int | None:
        """The number that a link names, if it is one that the slider has."""
        try:
            value = int(raw)
        except ValueError:
            return None
        return value if self.low <= value <= self.high and (value - self.low) % self.step == 0 else None


@dataclass(frozen=True, slots=True)
class Switch:
    """On or off."""

    name: str
    default: bool = False

    def parse(self, raw: str) -> bool | None:
        """True or False, however a hand-written link spells them."""
        return SPELLED.get(raw.strip().lower())


@dataclass(frozen=True, slots=True)
class Line:
    """A text of the reader's own, of at most `longest` characters."""

    name: str
    default: str
    longest: int = 10_000
    rows: int = 1

    def parse(self, raw: str) -> str | None:
        """The text as the link holds it."""
        return raw[: self.longest]


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of the reader's own with one of these endings; its value is a digest, "" for none (see `uploads`).

    `check(name, bytes)` raises a Problem for a file that is no use.
    """

    name: str
    endings: tuple[str, ...]
    check: Callable[[str, bytes], None]
    default: str = ""
    when: tuple[str, str] | None = None

    def parse(self, raw: str) -> str | None:
        """The digest that a link names."""
        return raw if len(raw) == 16 and set(raw) <= set("0123456789abcdef") else None


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as it is typed, without bounds: who reads it says what is wrong with it."""

    name: str
    default: int | float
    step: int | float = 1


@dataclass(frozen=True, slots=True)
class Part:
    """A control of one part of a text control, `line`: the text alone holds the value.

    `read(text)` is None where the text has no such part to set; then the control rests. `write(text, value)` is the
    text with the new value in it; None stands for an emptied control.
    """

    control: Choice | Switch | Amount
    line: Line
    read: Callable[[str], Any]
    write: Callable[[str, Any], str]


@dataclass(frozen=True, slots=True)
class Filler:
    """A file that fills a text control, `line`, and is not kept itself.

    `read(name, bytes)` gives the new text and, where there is something to say on it, a sentence; it raises a Problem
    for a file that is no use.
    """

    name: str
    endings: tuple[str, ...]
    line: Line
    read: Callable[[str, bytes], tuple[str, Text | None]]


@dataclass(frozen=True, slots=True)
class Live:
    """A control whose bounds depend on the workbench (a layer of the loaded model, say): `of(bench)` makes it."""

    name: str
    of: Callable[[Any], Choice | Whole | Switch | Line]


Fixed = Choice | Whole | Switch | Line | Upload
Param = Fixed | Live
