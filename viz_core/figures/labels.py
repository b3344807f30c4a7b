"""Labels of tokens for axes and hovers, and the joining of tokens that share one character.

A byte-level tokenizer splits 東 over two tokens, neither of which is text. `joined` finds such runs; `merge` folds an
attention matrix over them: the weights of the key pieces add up, the query pieces are averaged, rows still add to 1.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from viz_core.figures.visible import visible, visible_bytes
from viz_core.i18n import Lang, Problem, t
from viz_core.model.pieces import Scheme, character_spans, piece_bytes

LONGEST = 14  # characters of a tick label; the hover has the whole piece
OPENING, CLOSING = "\u2068", "\u2069"  # first-strong isolate: a right-to-left label must not flip its neighbours


@dataclass(frozen=True, slots=True)
class Group:
    """Tokens start ≤ i < stop that are drawn as one, and the visible form of their joined bytes."""

    start: int
    stop: int
    text: str

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Labels:
    """For each row or column of a figure its visible form (not escaped) and its hover line (escaped)."""

    texts: tuple[str, ...]
    hovers: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, chosen: slice) -> Labels:
        """The labels of a slice, for a cropped figure."""
        return Labels(self.texts[chosen], self.hovers[chosen])


def plot_text(text: str) -> str:
    """Text as Plotly draws it literally: no tags, no entities and, where MathJax is loaded, no TeX."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def tick_text(text: str, longest: int = LONGEST) -> str:
    """A tick label: shortened to `longest` characters, escaped, isolated from the direction of its neighbours."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return plot_text(OPENING + short + CLOSING if not short.isascii() else short)


def joined(pieces: Sequence[str], scheme: Scheme) -> tuple[Group, ...]:
    """The pieces as groups, each the shortest run whose bytes are whole characters; the rest stay single."""
    data = [piece_bytes(piece, scheme) for piece in pieces]
    return tuple(
        Group(a, b, visible(pieces[a], scheme) if b - a == 1 else visible_bytes(b"".join(data[a:b])))
        for a, b in character_spans(data)
    )


def labels(pieces: Sequence[str], scheme: Scheme, lang: Lang, ids: Sequence[int] = (), merged: bool = False) -> Labels:
    """Labels of the tokens, one a piece, or with `merged` one a group of `joined`; `ids` are shown where given."""
    if ids and len(ids) != len(pieces):
        raise Problem("figure_ids", pieces=len(pieces), ids=len(ids))
    groups = joined(pieces, scheme)
    if not merged:
        parts = [(Group(i, i + 1, visible(pieces[i], scheme)), whole) for whole in groups for i in _tokens(whole)]
    else:
        parts = [(whole, whole) for whole in groups]
    hovers = (_hover(part, whole, pieces, scheme, ids, lang) for part, whole in parts)
    return Labels(tuple(part.text for part, _ in parts), tuple(hovers))


def _tokens(group: Group) -> range:
    return range(group.start, group.stop)


def _hover(part: Group, whole: Group, pieces: Sequence[str], scheme: Scheme, ids: Sequence[int], lang: Lang) -> str:
    """Visible form, position, id, raw piece where it differs, and the character that a split piece belongs to."""
    last = part.stop - 1
    positions = str(part.start) if last == part.start else f"{part.start}–{last}"
    words = [f"<b>{plot_text(part.text)}</b>", t("figure.position", lang, position=positions)]
    if ids:
        words.append(t("figure.token_id", lang, id=", ".join(str(ids[i]) for i in _tokens(part))))
    raw = [visible(pieces[i], "plain") for i in _tokens(part)]
    if raw != [part.text]:
        words.append(t("figure.raw", lang, raw=plot_text(" ".join(raw))))
    if len(whole) > 1:
        split = " + ".join(visible(pieces[i], scheme) for i in _tokens(whole))
        words.append(plot_text(f"{split} = {whole.text}"))
    return " · ".join(words)


def merge(weights: NDArray[np.floating], queries: Sequence[Group], keys: Sequence[Group]) -> NDArray[np.float64]:
    """Weights (n, m) folded over groups: sum over key pieces, mean over query pieces.

    NaN marks a masked cell and counts as 0; a group of cells is masked where all of its cells are. Raises Problem where
    the groups do not cover the matrix.
    """
    whole = np.asarray(weights, np.float64)
    if whole.shape != (_covered(queries), _covered(keys)):
        raise Problem("figure_groups", shape=str(whole.shape), groups=str((_covered(queries), _covered(keys))))
    if 0 in whole.shape:
        return whole
    rows, columns = ([group.start for group in axis] for axis in (queries, keys))
    seen = np.add.reduceat(np.add.reduceat(~np.isnan(whole), columns, axis=1), rows, axis=0)
    total = np.add.reduceat(np.add.reduceat(np.nan_to_num(whole), columns, axis=1), rows, axis=0)
    sizes = np.array([len(group) for group in queries])[:, None]
    return np.where(seen > 0, total / sizes, np.nan)


def _covered(groups: Sequence[Group]) -> int:
    """How many tokens the groups cover without a gap; -1 where they leave one."""
    if any(a.stop != b.start for a, b in pairwise(groups)) or (groups and groups[0].start):
        return -1
    return groups[-1].stop if groups else 0


def shortened(name: str, most: int) -> str:
    """A name of at most so many characters: what is too long loses its middle, for names often differ at their ends."""
    if len(name) <= most:
        return name
    head = most // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"
