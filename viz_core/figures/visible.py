"""Token text as it can be seen: spaces, controls, half characters and bare marks get a visible form.

`visible` is what stands on an axis before escaping. Spaces inside a piece stay spaces; those at its ends become ␣, for
" the" and "the" are different tokens. Canonically composed (NFC), so that NFD and NFC look the same, as they should.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from viz_core.model.pieces import Scheme, piece_bytes

MOST_MARKS: Final = 6  # beyond this, marks on one base are counted instead of drawn; living scripts need fewer
JOINERS: Final = "\u200c\u200d"  # ZWNJ and ZWJ bind their neighbours: kept between two characters
NAMED: Final[dict[str, str]] = {
    "\n": "↵", "\r": "␍", "\t": "⇥", "\u00a0": "⍽", "\ufffd": "\ufffd",
    "\u00ad": "<SHY>", "\u061c": "<ALM>", "\u200b": "<ZWSP>", "\u200c": "<ZWNJ>", "\u200d": "<ZWJ>",
    "\u200e": "<LRM>", "\u200f": "<RLM>", "\u202a": "<LRE>", "\u202b": "<RLE>", "\u202c": "<PDF>", "\u202d": "<LRO>",
    "\u202e": "<RLO>", "\u2028": "<LS>", "\u2029": "<PS>", "\u2060": "<WJ>", "\u2066": "<LRI>", "\u2067": "<RLI>",
    "\u2068": "<FSI>", "\u2069": "<PDI>", "\ufeff": "<BOM>",
}  # fmt: skip
SELECTORS: Final = re.compile("^[\ufe00-\ufe0f]+")
EDGE_SPACES: Final = re.compile(r"^ +| +$")


def visible(piece: str, scheme: Scheme) -> str:
    """The visible form of a piece, e.g. `Ġthe` → `␣the`, `æĿ` → `<E6 9D>`, the empty piece → `∅`; not yet escaped."""
    if scheme == "plain":  # text already; and bytes could not carry a lone surrogate
        return _visible_text(piece) or "∅"
    return visible_bytes(piece_bytes(piece, scheme))


def visible_bytes(data: bytes) -> str:
    """The visible form of bytes: whole characters as text, each run of stray bytes as `<E6 9D>`."""
    out: list[str] = []
    while data:
        try:
            return "".join([*out, _visible_text(data.decode())])
        except UnicodeDecodeError as error:
            stray = error.end
            while stray < len(data) and not _starts_character(data[stray:]):
                stray += 1
            out += [_visible_text(data[: error.start].decode())] if error.start else []
            out.append(f"<{data[error.start : stray].hex(' ').upper()}>")
            data = data[stray:]
    return "".join(out) or "∅"


def _starts_character(data: bytes) -> bool:
    """Whether a whole character begins the bytes."""
    length = 1 + (data[0] >= 0xC0) + (data[0] >= 0xE0) + (data[0] >= 0xF0)
    try:
        data[:length].decode()
    except UnicodeDecodeError:
        return False
    return True


def _visible_text(text: str) -> str:
    text = EDGE_SPACES.sub(lambda found: "␣" * len(found[0]), unicodedata.normalize("NFC", text))
    text = SELECTORS.sub(lambda found: "".join(f"<VS{ord(c) - 0xFDFF}>" for c in found[0]), text)
    return _capped_marks("".join(_visible_char(text, i) for i in range(len(text))))


def _visible_char(text: str, i: int) -> str:
    char = text[i]
    if char in JOINERS and 0 < i < len(text) - 1:
        return char
    if char in NAMED:
        return NAMED[char]
    kind = unicodedata.category(char)
    flag = i > 0 and "\U000e0020" <= char <= "\U000e007f"  # the tags of a flag emoji follow its flag
    if (kind in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") and not flag) or (kind == "Zs" and char != " "):
        return f"<{ord(char):02X}>"
    return "◌" + char if kind.startswith("M") and i == 0 else char


def _capped_marks(text: str) -> str:
    """Marks beyond MOST_MARKS on one base are replaced by their number: one label must not cover its neighbours."""
    out: list[str] = []
    run = ""
    for char in [*text, ""]:
        if char and unicodedata.category(char).startswith("M"):
            run += char
            continue
        out += [f" (+{len(run)} marks)" if len(run) > MOST_MARKS else run, char]
        run = ""
    return "".join(out)
