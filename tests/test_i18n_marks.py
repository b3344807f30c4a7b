"""Bold in the catalogue is bold on the page: every ** opens or closes by the rules of CommonMark 0.31.2, section 6.2.

A ** between 。 and a letter closes nothing, because punctuation before it makes it an opening mark; the reader then
sees the asterisks.
"""

from __future__ import annotations

import re
import unicodedata

import pytest

from viz_core.i18n import LANGS, Lang, catalogue

CODE = re.compile(r"(`+).+?\1")
FIELD = re.compile(r"\{[^{}]*\}")
BOLD = re.compile(r"(?<!\*)\*\*(?!\*)")


def blank(letter: str) -> bool:
    return not letter or letter.isspace()


def mark(letter: str) -> bool:
    return bool(letter) and unicodedata.category(letter)[0] in "PS"


def opens(before: str, after: str) -> bool:
    return not blank(after) and (not mark(after) or blank(before) or mark(before))


def unpaired(text: str) -> list[str]:
    """Where a ** of a line neither opens (1st, 3rd …) nor closes (2nd, 4th …) as it should, with what stands there."""
    found = []
    for line, filled in ((line, filled) for line in text.splitlines() for filled in "x%"):  # "83 %" ends in a mark
        plain = FIELD.sub(filled, CODE.sub("`", line))
        runs = list(BOLD.finditer(plain))
        for i, run in enumerate(runs):
            before, after = plain[: run.start()][-1:], plain[run.end() :][:1]
            if not (opens(after, before) if i % 2 else opens(before, after)) or (i == len(runs) - 1 and not i % 2):
                found.append(plain[max(0, run.start() - 12) : run.end() + 6])
    return found


@pytest.mark.parametrize(("text", "sound"), [
    ("**a** b", True), ("**并不这样做**。然后", True), ("**并不这样做。**然后", False), ("**并不这样做。** 然后", True),
    ("说**“甲”**乙", False), ("(**“甲”**)", True), ("**a", False), ("** a**", False), ("`2**3` **b**", True),
])  # fmt: skip
def test_the_rule_is_commonmarks(text: str, sound: bool) -> None:
    assert (unpaired(text) == []) == sound


@pytest.mark.parametrize("lang", LANGS)
def test_every_bold_mark_opens_or_closes(lang: Lang) -> None:
    assert {key: found for key, text in catalogue(lang).items() if (found := unpaired(text))} == {}
