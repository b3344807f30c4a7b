"""The player: one inline Components-v2 component that plays any Trace, and the same as a page of its own.

The scripts beside this file are ES modules; Streamlit takes one inline script, so `script` joins them. What the
player says comes from the catalogue's table `player`, in the reader's language, inside the bytes that it is given.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st

from viz_core.i18n import Lang, catalogue
from viz_core.trace import Trace
from viz_core.trace_codec import encode, said

PAGE = """<!doctype html>
<html lang="{lang}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ background: light-dark(#ffffff, #0e1218); margin: 1.5rem auto; max-width: 72rem; padding: 0 1rem; }}
{style}</style>
<main></main>
<script type="module">
{code}
const data = Uint8Array.from(atob("{data}"), (char) => char.charCodeAt(0));
player({{ data, parentElement: document.querySelector("main"), setStateValue() {{}} }});
</script>
</html>
"""
HERE = Path(__file__).parent


@cache
def script() -> str:
    """The player as one module with the default export that Streamlit calls."""
    joined = "\n".join(path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.js")))
    joined = re.sub(r"^import .*\n", "", joined, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", joined, flags=re.MULTILINE)


@cache
def style() -> str:
    """The player's style sheet."""
    return (HERE / "player.css").read_text(encoding="utf-8")


@cache
def _words(lang: Lang) -> dict[str, object]:
    """The catalogue's table `player`, nested as in the file."""
    words: dict[str, object] = {"state": {}}
    for key, text in catalogue(lang).items():
        room, _, name = key.partition(".")
        if room == "player" and name.startswith("state."):
            words["state"][name.removeprefix("state.")] = text  # type: ignore[index]
        elif room == "player":
            words[name] = text
    return words


def payload(trace: Trace, lang: Lang, *, start: int = 0, height: int = 0, report: bool = False) -> bytes:
    """All that the browser needs to play `trace` in `lang`, opened at step `start` (from 0, clipped to the trace)."""
    start = max(0, min(start, trace.steps - 1))
    return encode(trace, lang, {"player": _words(lang), "tall": height, "report": report}, start=start)


_mount = st.components.v2.component("infersight_player", js=script(), css=style())


def player(
    trace: Trace, *, lang: Lang, key: str, height: int | None = None, start: int | None = None,
    on_step: Callable[[int], None] | None = None,
) -> None:  # fmt: skip
    """Show `trace`, played in the browser; no step causes a rerun.

    `height` is the height in pixels that the cells aim at; `start` the step it opens on (from 0; −1 is the last).
    With `on_step`, the step on which the reader rests is reported, for a link; that costs one rerun of the fragment.
    """
    first = trace.steps + start if start is not None and start < 0 else start or 0
    data = payload(trace, lang, start=first, height=height or 0, report=on_step is not None)

    def changed() -> None:
        step = st.session_state[key].get("step")
        if on_step is not None and isinstance(step, int | float):
            on_step(int(step))

    _mount(key=key, data=data, on_step_change=changed)


def trace_html(trace: Trace, lang: Lang, *, start: int = 0) -> str:
    """The whole animation as one self-contained page that plays offline."""
    data = base64.b64encode(payload(trace, lang, start=start)).decode("ascii")
    title = html.escape(said(trace.title, lang) or "InferSight")
    code = script().replace("export default function", "function")
    return PAGE.format(lang=lang, title=title, style=style(), code=code, data=data)
