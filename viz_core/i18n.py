"""The catalogue: every sentence the app says, in Chinese and English.

Texts live in `locales/<lang>/<page or room>.toml` as nested tables, the same files in both languages; a key is the
dotted path of a text, and stands in one file only. Placeholders are those of `str.format`, and number words as `fill`
has them. Rooms below the app never choose a language: they raise `Problem(key, **params)` and the app shows it in the
reader's language.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Literal

Lang = Literal["zh", "en"]
LANGS: tuple[Lang, ...] = ("zh", "en")
WIDE = r"[\u3000-\u9fff\uff00-\uffef]"  # Hanzi and their punctuation
FOLDER = Path(__file__).parent / "locales"


def _flat(table: dict[str, object], prefix: str = "") -> dict[str, str]:
    out: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            out |= _flat(value, f"{prefix}{name}.")
        else:
            out[prefix + name] = str(value)
    return out


@cache
def catalogue(lang: Lang) -> dict[str, str]:
    """All texts of one language as {dotted key: template}."""
    out: dict[str, str] = {}
    for path in sorted((FOLDER / lang).glob("*.toml")):
        texts = _flat(tomllib.loads(path.read_text(encoding="utf-8")))
        twice = out.keys() & texts.keys()
        assert not twice, f"{path.name} repeats {sorted(twice)}"
        out |= texts
    return out


def listed(parts: Iterable[object], lang: Lang) -> str:
    """Several things as the language lists them: "a, b and c"; a blank parts Hanzi from Latin letters alone."""
    *most, last = [str(part) for part in parts] or [""]
    if not most:
        return last
    said = t("shell.list_and", lang, most=t("shell.list_comma", lang).join(most), last=last)
    return re.sub(f"(?<={WIDE}) (?={WIDE})", "", said)


def has(key: str) -> bool:
    """Whether the catalogue knows `key`."""
    return key in catalogue("en")


def t(key: str, lang: Lang, **params: object) -> str:
    """The text of `key` in `lang`, placeholders filled; KeyError for an unknown key or a missing placeholder."""
    return fill(catalogue(lang)[key], **params)


class _Forms(Formatter):
    """`str.format`, where a specification with a bar is the word that follows: `{n:token|tokens}` is "1 token"."""

    def format_field(self, value: object, format_spec: str) -> str:
        """One filled placeholder."""
        one, bar, more = format_spec.partition("|")
        if not bar:
            return str(super().format_field(value, format_spec))
        return f"{value} {one if str(value) == '1' else more}"


_FORMS = _Forms()


def fill(template: str, **params: object) -> str:
    """A template with its placeholders filled; `{n:token|tokens}` is the number with the form that goes with it."""
    return _FORMS.vformat(template, (), params) if "|" in template else template.format(**params)


def as_lang(code: object) -> Lang:
    """The nearest supported language of a locale code such as `zh-CN`, `en_GB` or `de`; English where none fits."""
    return "zh" if str(code).lower().startswith("zh") else "en"


class Problem(ValueError):
    """Bad input, as one plain sentence: what is wrong and what to do.

    `key` names the sentence in the catalogue (table `problem`), `params` fill it. `str()` is the English sentence.
    """

    def __init__(self, key: str, **params: object) -> None:
        self.key, self.params = key, params
        super().__init__(key, params)

    def text(self, lang: Lang) -> str:
        """The sentence in the reader's language; half a character of a file (a lone surrogate) is spelled out, because
        UTF-8 cannot carry it.
        """
        return t(f"problem.{self.key}", lang, **self.params).encode("utf-8", "backslashreplace").decode()

    def __str__(self) -> str:
        return self.text("en")


@dataclass(frozen=True, slots=True)
class Term:
    """One notion of the field in both languages, and Chinese words that are not to be used for it."""

    en: str
    zh: str
    avoid: tuple[str, ...]


@cache
def terms() -> tuple[Term, ...]:
    """The one table of terms, `locales/terms.toml`."""
    rows = tomllib.loads((FOLDER / "terms.toml").read_text(encoding="utf-8"))["term"]
    return tuple(Term(row["en"], row["zh"], tuple(row["avoid"])) for row in rows)


def langs_agree() -> list[str]:
    """Keys that one language has and the other lacks (empty when the catalogue is whole)."""
    zh, en = (set(catalogue(lang)) for lang in LANGS)
    return sorted(zh ^ en)
