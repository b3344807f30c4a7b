"""The reader's own scenario, as a small JSON text."""

from __future__ import annotations

from viz_core.paging.presets import THRASH
from viz_core.paging.scenario_file import from_json, to_json
from viz_core.trace import Text
from viz_core.ui import cached
from viz_core.ui.params import Line
from viz_core.ui.scene import Context, Scene, View
from viz_core.ui.scenes.pa_knobs import knobs, spread
from viz_core.ui.scenes.pa_shown import shown

TEXT = Line("scenario", spread(to_json(THRASH)), longest=20_000, rows=12)


def build(context: Context) -> View:
    """Whatever the text describes; a text that is wrong gets one sentence, and the last good run stays."""
    bench = context.bench
    scenario = from_json(context.values["scenario"], cached.tokens(bench.model, bench.prompt))
    return shown(context, scenario, Text("scene.paged_attention.own.title"), "scenario")


SCENE = Scene("paged_attention", "own", build, params=(TEXT,), bench=True, parts=knobs(TEXT))
