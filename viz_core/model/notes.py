"""What a reader of files says beside the data: remarks that stop no load, and hostile text made fit to show."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from viz_core.i18n import Lang, t

LONGEST = 80


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about a file that was loaded all the same: catalogue key below `note`, and its parameters."""

    key: str
    params: dict[str, object] = field(default_factory=dict)

    def text(self, lang: Lang) -> str:
        """The sentence in the reader's language."""
        return t(f"note.{self.key}", lang, **self.params)


def shown(text: object) -> str:
    """Text from a file as one short printable line: control, bidi and lone-surrogate characters become \\u escapes."""
    line = "".join(
        c if unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} else f"\\u{ord(c):04x}"
        for c in str(text)[: LONGEST + 1]
    )
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
