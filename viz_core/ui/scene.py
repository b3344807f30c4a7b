"""What a scene is: one message, its controls and its figure, declared as data and built by a pure function.

A scene's `build` knows nothing of Streamlit: it takes a `Context` and returns a `View`; so one parametrised test builds
every scene in both languages. Texts live in the catalogue under `scene.<page>.<id>`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from viz_core.figures.layout import Look, alt_text
from viz_core.i18n import Lang, has, listed, t
from viz_core.proofs import Proof
from viz_core.trace import Trace
from viz_core.ui.params import Filler, Param, Part

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True, slots=True)
class Bench:
    """The workbench: what the reader carries from page to page, the language included."""

    model: str
    prompt: str
    seed: int
    lang: Lang = "en"


@dataclass(frozen=True, slots=True)
class Context:
    """All that a scene may depend on: language and look, workbench and the values of its own controls."""

    look: Look
    bench: Bench
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lang(self) -> Lang:
        """The reader's language."""
        return self.look.lang

    def t(self, key: str, **params: object) -> str:
        """A text in the reader's language."""
        return t(key, self.lang, **params)

    def listed(self, parts: Iterable[object]) -> str:
        """Several things in one sentence, as the reader's language lists them."""
        return listed(parts, self.lang)

    def column(self, name: str) -> str:
        """The heading of a table's column; files keep the name itself, which is the same in both languages."""
        key = f"column.{name}"
        return self.t(key) if has(key) else name


@dataclass(frozen=True, slots=True)
class Plate:
    """A Plotly figure, and what a click on it sets.

    `on_click` names one control of the scene for each entry of a clicked point's customdata. `undo`, where there is
    something to take back, holds the values that a button below gives these controls; its text is the scene's `undo`.
    """

    figure: go.Figure
    on_click: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()

    @property
    def alt(self) -> str:
        """The sentence that says what the figure shows to who cannot see it."""
        return alt_text(self.figure)


@dataclass(frozen=True, slots=True)
class Number:
    """A number that matters: catalogue key under `number`, value as text, and what it was measured on."""

    key: str
    value: str
    params: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """A prediction to make before looking: option texts and the computed index of the right one.

    Its sentences are `scene.<page>.<id>.question` and `.answer`.
    """

    options: tuple[str, ...]
    right: int
    params: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Download:
    """A file the reader may take: name, MIME type and a function that makes its bytes when asked."""

    name: str
    mime: str
    data: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class View:
    """What a scene shows, from top to bottom; `facts` fill the placeholders of its message and notes.

    `quote` is text that the model made or the reader typed: shown as it is, never as markup. `beside` puts the plates
    side by side, which a phone stacks; `opened` shows the table at once.
    """

    trace: Trace | None = None
    start: int = 0
    plates: tuple[Plate, ...] = ()
    beside: bool = False
    table: Mapping[str, list[Any]] | None = None
    opened: bool = False
    numbers: tuple[Number, ...] = ()
    proofs: tuple[Proof, ...] = ()
    question: Question | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    notice: str | None = None
    quote: str | None = None
    code: tuple[Callable[..., Any], ...] = ()
    downloads: tuple[Download, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """One scene: its place (page, id), its controls, and how it is built."""

    page: str
    id: str
    build: Callable[[Context], View]
    params: tuple[Param, ...] = ()
    bench: bool = False  # whether it depends on the workbench's model and prompt
    parts: tuple[Part | Filler, ...] = ()  # controls that write into one of `params`

    @property
    def table(self) -> str:
        """The scene's table in the catalogue."""
        return f"scene.{self.page}.{self.id}"
