"""The player's own code, run by node on the bytes that Python wrote: it must show what Python says."""

from __future__ import annotations

import base64
import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.scenes import context
from tests.traces import WORDS, any_trace, blocks, cache, recorded
from viz_core.figures.theme import DARK, LIGHT
from viz_core.trace import Series, State, Trace
from viz_core.trace_codec import decode, encode
from viz_core.trace_numbers import shown, unit
from viz_core.ui.player import payload, script, style, trace_html
from viz_core.ui.scenes import quant_histogram

PLAYER = Path(__file__).parents[1] / "viz_core" / "ui" / "player"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None, reason="node is not installed: the player's script is not run outside a browser"
)

WIND = """
import { readFileSync } from "node:fs";
import { parted } from "PLAYER/bytes.js";
import { open } from "PLAYER/film.js";
for (const job of JSON.parse(readFileSync(0, "utf8"))) {
  const bytes = new Uint8Array(Buffer.concat([Buffer.alloc(3), Buffer.from(job.blob, "base64")])).subarray(3);
  const film = await open(...parted(bytes));
  film.every = job.every;
  const shots = job.visits.map((step) => ({
    step, planes: Object.fromEntries(Object.entries(film.seek(step)).map(([k, v]) => [k, [...v]])),
    caption: film.captions.at(step), shown: film.series.map((one) => film.shown(one, step)),
  }));
  console.log(JSON.stringify({ shots, details: [...film.details.which.keys()].map((i) => film.details.at(i)) }));
}
"""


OVER_TIME = """
import { readFileSync } from "node:fs";
import { parted } from "PLAYER/bytes.js";
import { open } from "PLAYER/film.js";
import { paths } from "PLAYER/map.js";
for (const { blob, rows, columns } of JSON.parse(readFileSync(0, "utf8"))) {
  const film = await open(...parted(new Uint8Array(Buffer.from(blob, "base64"))));
  const runs = paths(film, film.header.lanes[0], rows, columns, (from, to, row) => `${from},${to},${row};`);
  console.log(JSON.stringify([...runs]));
}
"""
LAY_OUT = """
import { bucketOf } from "PLAYER/fit.js";
import { layout, spot } from "PLAYER/layout.js";
for (const { header, width, em } of JSON.parse(readFileSync(0, "utf8"))) {
  const plan = layout(header, width, { em, legend: [{ text: "computed now" }, { text: "本步计算" }] });
  console.log(JSON.stringify({ height: plan.height, lanes: plan.lanes.map((lane) => ({
    w: lane.w, h: lane.h, run: lane.run, spots: Array.from({ length: lane.count }, (_, i) => spot(lane, i)),
    buckets: Array.from({ length: lane.lane.count }, (_, k) => bucketOf(lane, k)),
  })), texts: [...plan.legend, ...plan.series.rows].map(({ x, y }) => [x, y]) }));
}
""".replace("import {", 'import { readFileSync } from "node:fs";\nimport {', 1)


def node(code: str, jobs: object) -> list[Any]:
    """Run a module with `jobs` as its input and return the JSON values that it prints, one a line."""
    assert NODE
    code = code.replace("PLAYER", PLAYER.as_uri())
    run = subprocess.run(
        [NODE, "--input-type=module", "-e", code],
        input=json.dumps(jobs),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert not run.returncode, run.stderr
    return [json.loads(line) for line in run.stdout.split("\n") if line]


def number(series: Series, step: int) -> str:
    """A series' number as Python alone would write it."""
    value, (divisor, places, name) = series.values[step], unit(series)
    if value is None:
        return "–"
    if places is None:
        text = shown(value)
    elif math.isinf(value):
        text = "∞" if value > 0 else "−∞"
    else:
        text = f"{value / divisor:,.{places}f}"
        text = text.lstrip("-") if not float(text.replace(",", "")) else text.replace("-", "−")
    return f"{text}\u202f{name}" if name else text


@needs_node
@given(any_trace(), st.lists(st.integers(0, 10**6), min_size=1, max_size=8), st.integers(1, 4))
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_the_script_winds_to_what_python_says(trace: Trace, visits: list[int], every: int) -> None:
    visits = [visit % trace.steps for visit in visits]
    blob = encode(trace, "zh")
    (played,) = node(WIND, [{"blob": base64.b64encode(blob).decode(), "visits": visits, "every": every}])
    captions = decode(blob).sentences("captions")
    assert played["details"] == decode(blob).sentences("details")
    for shot in played["shots"]:
        step = shot["step"]
        assert shot["planes"] == {name: values.tolist() for name, values in trace.state(step).items()}
        assert shot["caption"] == captions[step]
        assert shot["shown"] == [number(series, step) for series in trace.series]


@needs_node
@pytest.mark.parametrize("trace", [blocks(64, 3000), recorded()], ids=["blocks", "recorded"])
def test_a_long_trace_winds_both_ways(trace: Trace) -> None:
    last = trace.steps - 1
    visits = [last, 0, last // 2, last // 2 - 1, *(step for step in (256, 255, 2816) if step <= last), 1, last - 1]
    blob = base64.b64encode(encode(trace, "en")).decode()
    (played,) = node(WIND, [{"blob": blob, "visits": visits, "every": 256}])
    for shot in played["shots"]:
        assert shot["planes"] == {name: values.tolist() for name, values in trace.state(shot["step"]).items()}
        assert shot["shown"] == [number(series, shot["step"]) for series in trace.series]


def refs(state: dict[str, Any]) -> Any:
    return state["ref"][:9] if "ref" in state else np.zeros(9, int)


@needs_node
@pytest.mark.parametrize(("rows", "columns"), [(9, 90), (9, 30), (3, 90)])
def test_a_lane_over_time_shows_each_owner_when_it_owned(rows: int, columns: int) -> None:
    trace = blocks(9, 90)
    blob = base64.b64encode(encode(trace, "en")).decode()
    (runs,) = node(OVER_TIME, [{"blob": blob, "rows": rows, "columns": columns}])
    drawn = np.zeros((columns, rows), int)
    for hue, path in runs:
        for begin, end, row in (map(int, run.split(",")) for run in path.split(";") if run):
            assert not drawn[begin:end, row].any(), "two owners in one place"
            drawn[begin:end, row] = hue
    for column in range(columns):
        state = trace.state((column + 1) * 90 // columns - 1)
        used = np.isin(state["state"][:9], (State.HELD, State.COMPUTED, State.REUSED))
        owner = np.where(used, np.where(refs(state) > 1, 0xFFFF, state["hue"][:9]), 0).reshape(rows, -1)
        assert drawn[column].tolist() == [next((h for h in row.tolist() if h), 0) for row in owner]


@needs_node
@given(
    st.lists(st.tuples(st.integers(1, 3000), st.sampled_from([0, 0, 4, 40, 128]), WORDS), min_size=1, max_size=4),
    st.integers(0, 5), st.sampled_from([320, 358, 600, 720, 1000, 1400]), st.sampled_from([1, 1.5]),
)  # fmt: skip
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_every_cell_stands_inside_the_figure_and_alone(
    lanes: list[tuple[int, int, str]], series: int, width: int, em: float
) -> None:
    packed = [
        {"label": text, "first": 0, "count": count, "columns": columns, "labels": [text] * (count if count < 20 else 0),
         "under": [], "history": count % 2 == 0, "rowNames": [], "columnNames": []}
        for count, columns, text in lanes
    ]  # fmt: skip
    header = {"lanes": packed, "series": [{}] * series, "texts": [""]}
    (plan,) = node(LAY_OUT, [{"header": header, "width": width, "em": em}])
    floor = 0.0
    for lane in plan["lanes"]:
        spots = lane["spots"]
        assert len({tuple(spot) for spot in spots}) == len(spots)
        assert all(x >= 0 and x + lane["w"] <= width + 1 and floor <= y for x, y in spots), (lane["w"], lane["run"])
        assert lane["w"] >= 9
        assert set(lane["buckets"]) == set(range(len(spots))), "every bucket has cells, and every cell a bucket"
        floor = max(y for _, y in spots) + lane["h"]
    assert floor <= plan["height"] and all(0 <= x <= width and 0 <= y <= plan["height"] for x, y in plan["texts"])


@needs_node
@pytest.mark.parametrize(("width", "columns", "count"), [(358, 4, 64), (358, 1, 16), (1000, 4, 64), (1000, 1, 32)])
def test_a_folded_grid_is_as_wide_as_its_words_and_not_too_high(width: int, columns: int, count: int) -> None:
    """Its rows have names, its cells hold a token of eight letters, and short rows stand side by side."""
    lane = {"label": "pool", "first": 0, "count": count, "columns": columns, "labels": [], "under": [], "folded": True,
            "history": False, "rowNames": [f"P{i}" for i in range(count // columns)], "columnNames": []}  # fmt: skip
    header = {"lanes": [lane], "series": [], "texts": ["", "language"]}
    (plan,) = node(LAY_OUT, [{"header": header, "width": width, "em": 1}])
    (drawn,) = plan["lanes"]
    assert drawn["h"] >= 28 and drawn["w"] >= 0.55 * 8 * 14 * (width > 600 or columns == 1)
    assert len({tuple(spot) for spot in drawn["spots"]}) == count
    assert all(x >= 0 and x + drawn["w"] <= width for x, _ in drawn["spots"])
    assert plan["height"] < (700 if width < 600 and columns > 1 else 480)


@needs_node
def test_a_long_name_loses_its_middle() -> None:
    code = 'import { middle, measure } from "PLAYER/text.js";\n' + """
for (const [text, room] of [["short", 9], ["request-of-the-first-reader-17", 9], ["很长很长的请求名字之甲", 6]]) {
  console.log(JSON.stringify([middle(text, room), measure(middle(text, room))]));
}
"""
    short, long, hanzi = node(code, [])
    assert short[0] == "short"
    assert long[0].startswith("request") and long[0].endswith("der-17") and "…" in long[0] and long[1] <= 9
    assert hanzi[0] == "很长…之甲" or (hanzi[0][0], hanzi[0][-1]) == ("很", "甲")


@needs_node
def test_the_joined_script_is_one_module_with_the_function_streamlit_calls() -> None:
    source = base64.b64encode(script().encode()).decode()
    code = (
        f'const made = await import("data:text/javascript;base64,{source}"); console.log(`"${{typeof made.default}}"`);'
    )
    (kind,) = node(code, [])
    assert kind == "function"


def test_the_page_of_its_own_loads_nothing() -> None:
    page = trace_html(cache(), "zh")
    assert "http" not in page.replace("http://www.w3.org/", "") and "import " not in page.split("<script", 1)[1]
    assert base64.b64encode(payload(cache(), "zh")).decode() in page


def test_the_hues_and_letters_are_those_of_the_figures() -> None:
    """The style sheet repeats the theme's colours; both must stay the same."""
    assert f".h0 {{ --hue: light-dark({LIGHT.shared.lower()}, {DARK.shared.lower()});" in style()
    for i in range(6):
        colours = re.search(
            rf"\.h{i + 1} \{{ --hue: light-dark\((.*), (.*)\); --letter: light-dark\((.*), (.*)\); }}", style()
        )
        assert colours
        wanted = (LIGHT.hues[i], DARK.hues[i], LIGHT.letters[i], DARK.letters[i])
        assert colours.groups() == tuple(colour.lower() for colour in wanted)


BARS = """
import { readFileSync } from "node:fs";
globalThis.document = { createElementNS: (_, name) => ({
  name, at: {}, dataset: {}, style: {}, children: [], classList: { toggle() {} },
  setAttribute(key, value) { this.at[key] = value; }, append(child) { this.children.push(child); },
}) };
const { parted } = await import("PLAYER/bytes.js");
const { open } = await import("PLAYER/film.js");
const { layout } = await import("PLAYER/layout.js");
const { pieces } = await import("PLAYER/bars.js");
const { look } = await import("PLAYER/cells.js");
for (const { blob, width } of JSON.parse(readFileSync(0, "utf8"))) {
  const film = await open(...parted(new Uint8Array(Buffer.from(blob, "base64"))));
  const plan = layout(film.header, width, {});
  const views = plan.lanes.map((place) => ({ place, all: pieces(document.createElementNS("", "g"), place) }));
  const out = [];
  for (let step = 0; step < film.steps; step++) {
    film.seek(step);
    out.push(views.map(({ place: { lane }, all }) => all.map((piece, i) => {
      piece.draw(look(film, lane, lane.first + i, "", [""]));
      return ["x", "y", "width", "height"].map((key) => Number(piece.g.at[key]));
    })));
  }
  console.log(JSON.stringify({ width: plan.width, heights: plan.lanes.map(({ y, high }) => [y, y + high]), out }));
}
"""


@needs_node
@pytest.mark.parametrize("width", [1060, 640, 340])
@pytest.mark.parametrize("other", ["none", "NF4"])
def test_pieces_of_bars_stand_where_python_says(width: int, other: str) -> None:
    """Every piece keeps its column and its height in proportion, before and after, inside its lane's plot."""
    view = quant_histogram.SCENE.build(context(quant_histogram.SCENE, "en", other=other))
    assert view.trace is not None
    blob = base64.b64encode(encode(view.trace, "en")).decode()
    (shown,) = node(BARS, [{"blob": blob, "width": width}])
    for k, lane in enumerate(view.trace.lanes):
        assert lane.bars is not None
        cells = range(lane.first, lane.first + lane.count)
        low, high = shown["heights"][k]
        plot = None
        for step in (0, view.trace.steps // 2, view.trace.steps - 1):
            moved = view.trace.state(step).get("moved", np.zeros(view.trace.cells))[list(cells)]
            boxes = np.where(moved[:, None] == 1, lane.bars.after, lane.bars.before)
            drawn = np.array(shown["out"][step][k])
            assert (drawn[:, 0] >= 0).all() and (drawn[:, 0] + drawn[:, 2] <= width + 1).all()
            assert (drawn[:, 1] >= low).all() and (drawn[:, 1] + drawn[:, 3] <= high).all()
            fit = np.polyfit(boxes[:, 0], drawn[:, 0], 1)
            assert np.allclose(np.polyval(fit, boxes[:, 0]), drawn[:, 0], atol=0.05)
            assert plot is None or np.allclose(plot, fit, rtol=1e-3), "the axis stays"
            plot = fit
            floor = drawn[:, 1] + drawn[:, 3]
            up = np.polyfit(boxes[:, 1], floor, 1)
            assert up[0] < 0 and np.allclose(np.polyval(up, boxes[:, 1]), floor, atol=0.05)
