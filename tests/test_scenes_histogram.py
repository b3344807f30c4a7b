"""The film of the snapping histogram: what it moves, counts and says, against masks over the tensor itself."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.scenes import context
from viz_core.i18n import LANGS, Lang
from viz_core.trace import Trace
from viz_core.trace_codec import Decoded, decode, encode
from viz_core.ui import quantizing
from viz_core.ui.quantizing_film import AFTER, BEFORE, CLIPPED, STEPS, stops
from viz_core.ui.quantizing_flow import VIEWS, Moving, asked, moving
from viz_core.ui.scenes import quant_histogram

DATA = quantizing.Data("ffn_in")


def found(name: str, view: str, block: int = 3) -> Moving:
    return moving(asked(DATA, [name], view, block), name)


def film(lang: Lang = "en", **values: object) -> tuple[Trace, Decoded]:
    view = quant_histogram.SCENE.build(context(quant_histogram.SCENE, lang, **values))
    assert view.trace is not None
    return view.trace, decode(encode(view.trace, lang))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", quantizing.NAMES)
def test_every_weight_moves_once_and_the_error_is_the_tensor_s(name: str, view: str) -> None:
    trace, shown = film(format=name, view=view)
    one = found(name, view)
    assert trace.steps <= STEPS + 1
    first, last = trace.state(0), trace.state(trace.steps - 1)
    assert set(first["hue"].tolist()) == {BEFORE} and not first.get("moved", np.zeros(1)).any()
    assert last["moved"].all()
    assert (last["hue"] == np.where(one.flow.marked, CLIPPED, AFTER[0])).all()
    percent, rms = (series.values for series in trace.series)
    assert percent[-1] == 100
    expected = float(np.sqrt(np.mean(one.error**2)))
    assert rms[-1] == pytest.approx(expected)
    if view != "block":
        assert rms[-1] == pytest.approx(quantizing.row(DATA, name).errors.rmse, rel=1e-6)
    takes = [int(number.replace(",", "")) for said in shown.sentences("captions")[1:]
             for number in re.findall(r"takes? ([\d,]+) of", said)]
    assert sum(takes) == one.at.size and len(takes) == trace.steps - 1 and min(takes) > 0


@pytest.mark.parametrize("view", VIEWS)
def test_a_step_moves_the_pieces_that_round_to_its_points(view: str) -> None:
    """At every step the moved pieces are those whose goals lie left of all that have not moved."""
    trace, _ = film(format="NF4", view=view)
    flow = found("NF4", view).flow
    goals = flow.goals[flow.goal]
    for step in range(1, trace.steps):
        moved = trace.state(step)["moved"] == 1
        assert moved.any() and goals[moved].max() < goals[~moved].min(initial=np.inf)


def test_a_piece_says_one_of_its_weights() -> None:
    """The line of a piece gives its count and mean error, and a weight whose arithmetic holds."""
    trace, shown = film(format="Q4_1", view="steps")
    one, lines = found("Q4_1", "steps"), shown.sentences("details")
    at = trace.state(0)["detail"]
    for k in range(0, len(one.flow.counts), 7):
        held = one.flow.piece == k
        line, n = lines[at[k] - 1], int(held.sum())
        if n > 1:
            assert f"{n:,} weights" in line
            assert f"mean |error| of the weights {np.abs(one.error[held]).mean():.2g}" in line
        level, scale, sign, offset, value = re.search(
            r": (−?[\d.]+) × (−?[\d.e−]+) ([+−]) ([\d.e−]+) = (−?[\d.e−]+)", line).groups()  # type: ignore[union-attr]
        number = [float(x.replace("−", "-")) for x in (level, scale, f"{sign}{offset}".replace("+", ""), value)]
        slack = 2e-3 * (abs(number[2]) + abs(number[3]))  # four digits are shown
        assert number[0] * number[1] + number[2] == pytest.approx(number[3], abs=slack)


def test_two_formats_sweep_together() -> None:
    trace, _ = film(other="NF4")
    assert [lane.label for lane in trace.lanes] == ["Q4_0", "NF4"] and len(trace.series) == 3
    cells = [range(lane.first, lane.first + lane.count) for lane in trace.lanes]
    half = trace.state(trace.steps // 2)["moved"]
    assert all(0 < half[list(mine)].mean() < 1 for mine in cells)
    assert trace.state(trace.steps - 1)["moved"].all()


@pytest.mark.parametrize("other", ["NF4", "int8 row", "Q6_K", "E4M3", "MXFP4"])
@pytest.mark.parametrize("block", [0, 7, 12])
def test_two_formats_show_the_same_weights_of_a_block_on_one_axis(other: str, block: int) -> None:
    want = asked(DATA, ["Q4_0", other], "block", block)
    trace, _ = film(other=other, view="block", block=block)
    assert (want.start, want.count) == (32 * block, 16 if other == "Q6_K" else 32)
    for name in ("Q4_0", other):
        one = moving(want, name)
        layout = one.pair.after.layout
        blocks = {layout.place(int(at))[0] for at in one.at}
        assert len({one.pair.after.points(number).tobytes() for number in blocks}) == 1, "one set of points"
        assert np.array_equal(one.before, quantizing.tensor(DATA).reshape(-1)[want.start : want.start + want.count])
    first, second = (lane.bars for lane in trace.lanes)
    assert first is not None and second is not None and first.across == second.across


@pytest.mark.parametrize(("one", "other"), [("MXFP4", "Q4_0"), ("NF4", "Q4_0"), ("BF16", "int8 tensor")])
def test_all_weights_of_two_formats_have_one_axis_and_the_same_bars_before(one: str, other: str) -> None:
    trace, _ = film(format=one, other=other, view="weights")
    first, second = (lane.bars for lane in trace.lanes)
    assert first is not None and second is not None
    assert (first.across, first.up) == (second.across, second.up)
    apart = np.abs(np.array(first.outline)[:, 3] - np.array(second.outline)[:, 3])
    assert apart.max() <= 12, "but for the few values that one of them moves out of sight"


@pytest.mark.parametrize("name", ["E4M3", "FP16", "BF16", "E2M1"])
def test_a_cast_has_one_block_for_all(name: str) -> None:
    size = quantizing.tensor(DATA).size
    assert (asked(DATA, [name], "block", 7).start, asked(DATA, [name], "block", 7).count) == (0, size)
    both = asked(DATA, [name, "Q4_0"], "block", 7)
    assert (both.start, both.count) == (224, 32), "the block is that of the format which has blocks"


def test_the_numbers_of_a_block_are_its_own() -> None:
    view = quant_histogram.SCENE.build(context(quant_histogram.SCENE, "en", view="block", block=7))
    x = quantizing.tensor(DATA).reshape(-1)[224:256].astype(np.float64)
    y = quantizing.pair(DATA, "Q4_0").after.values.reshape(-1)[224:256]
    said = {number.key: number.value for number in view.numbers}
    assert said["quant_sqnr"] == f"{10 * np.log10((x @ x) / ((y - x) @ (y - x))):.1f} dB"
    assert said["quant_clipped_all"].endswith("/ 32")
    assert f"{100 * np.mean((x != 0) & (y == 0)):.1f}\u202f%" in str(view.facts["said"])


@pytest.mark.parametrize("log", [False, True])
def test_two_formats_share_the_axis_of_counts_where_their_bins_are_alike(log: bool) -> None:
    for view, shared in (("weights", True), ("block", True), ("steps", False)):
        both, _ = film(format="int4 g64", other="Q8_0", view=view, log_counts=log)
        ups = [lane.bars.up for lane in both.lanes if lane.bars is not None]
        assert (ups[0] == ups[1]) == shared


def test_the_axis_of_a_block_stays_while_its_grid_moves() -> None:
    """Blocks without a value beyond the tensor's central share have one axis; their points follow their scales."""
    seen: list[Moving] = [found("Q4_0", "block", k) for k in range(12)]
    calm = [one for one in seen if np.isclose(one.flow.edges[0], seen[0].flow.edges[0])]
    assert len(calm) > 3
    assert len({float(one.points[-1] - one.points[0]) for one in calm}) == len(calm)




def test_steps_part_between_goals() -> None:
    goals, mass = np.arange(5.0), np.array([1, 0, 4, 2, 0])
    assert stops(goals, mass).tolist() == [1.0, 2.5]
    assert stops(goals, np.zeros(5, int)).size == 0
    many = np.arange(500.0)
    parted = stops(many, np.full(500, 3), 10)
    assert len(parted) == 9 and np.ptp(np.diff(parted)) <= 1
    heavy = np.ones(500, int)
    heavy[0] = 10_000
    assert 4 <= len(stops(many, heavy, 10)) <= 9


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("log", [False, True])
def test_log_counts_make_small_bars_taller(lang: Lang, log: bool) -> None:
    trace, _ = film(lang, log_counts=log)
    bars = trace.lanes[0].bars
    assert bars is not None
    heights = np.array(bars.outline)[:, 3]
    assert (heights.min() > 0.25 * heights.max()) == log
