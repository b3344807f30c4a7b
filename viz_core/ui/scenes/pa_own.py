"""The reader's own scenario, as a small JSON text."""

from __future__ import annotations

from viz_core.i18n import Problem
from viz_core.paging.excerpt import excerpt
from viz_core.paging.kv_events import residency
from viz_core.paging.log_file import has_header
from viz_core.paging.presets import THRASH
from viz_core.paging.scenario_file import MOST_CHARACTERS, from_json, to_json
from viz_core.paging.serving_traces import load_trace
from viz_core.trace import Text
from viz_core.ui import cached
from viz_core.ui.params import Filler, Line
from viz_core.ui.scene import Context, Scene, View
from viz_core.ui.scenes.pa_knobs import knobs, spread
from viz_core.ui.scenes.pa_shown import shown

TEXT = Line("scenario", spread(to_json(THRASH)), longest=MOST_CHARACTERS, rows=12)
EXCERPT = 18_000  # characters: a trace is cut to what can be read and changed by hand


def filled(name: str, data: bytes) -> tuple[str, Text | None]:
    """The text for a file: a scenario as it is, a serving trace as its first requests; a Problem for anything else."""
    text = data.decode("utf-8-sig", "replace")
    if _recording(text, data):
        raise Problem("paging_recording_here")
    if name.lower().endswith(".json"):
        from_json(text, workbench=(0,))
        return _fits(spread(text)), None
    rows = load_trace(text)
    part = excerpt(rows, EXCERPT)
    params = {"requests": part.requests, "all": len(rows), "scale": part.scale, "ms": f"{part.step_ms:.0f}"}
    return _fits(spread(to_json(part.scenario))), Text("paging.excerpt", params)


def _recording(text: str, data: bytes) -> bool:
    """Whether a file is what the scene "A recorded run" plays: a log of this app, or KV events."""
    if has_header(text):
        return True
    try:
        return text.lstrip().startswith("[") and bool(residency(data))
    except Problem:
        return False


def _fits(text: str) -> str:
    if len(text) > TEXT.longest:
        raise Problem("paging_scenario_long", most=TEXT.longest)
    return text


FILE = Filler("scenario_file", ("json", "jsonl", "csv"), TEXT, filled)


def build(context: Context) -> View:
    """Whatever the text describes; a text that is wrong gets one sentence, and the last good run stays."""
    bench = context.bench
    scenario = from_json(context.values["scenario"], cached.tokens(bench.model, bench.prompt))
    return shown(context, scenario, Text("scene.paged_attention.own.title"), "scenario")


SCENE = Scene("paged_attention", "own", build, params=(TEXT,), bench=True, parts=(*knobs(TEXT), FILE))
