"""The reader's own scenario, as a small JSON text."""

from __future__ import annotations

import json

from viz_core.paging.presets import SOURCE
from viz_core.paging.scenario_file import from_json, to_json
from viz_core.trace import Text
from viz_core.ui import cached
from viz_core.ui.params import Line
from viz_core.ui.scene import Context, Scene, View
from viz_core.ui.scenes.pa_shown import shown


def spread(text: str) -> str:
    """A scenario's JSON with one operation or request a line."""
    data = json.loads(text)
    lines = []
    for key, value in data.items():
        rows = value if key in ("script", "requests") else None
        inner = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows) if rows else ""
        lines.append(f'"{key}": [\n  {inner}]' if rows else f'"{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{" + ",\n ".join(lines) + "}"


TEXT = Line("scenario", spread(to_json(SOURCE)), longest=20_000, rows=12)


def build(context: Context) -> View:
    """Whatever the text describes; a text that is wrong gets one sentence, and the last good run stays."""
    bench = context.bench
    scenario = from_json(context.values["scenario"], cached.tokens(bench.model, bench.prompt))
    return shown(context, scenario, Text("scene.paged_attention.own.title"), "scenario")


SCENE = Scene("paged_attention", "own", build, params=(TEXT,), bench=True)
