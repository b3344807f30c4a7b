"""Names of points: each has one, beside its point or at the end of a line, and none touches anything."""

from __future__ import annotations

from itertools import combinations
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scenes import context
from viz_core.figures import points as figure
from viz_core.figures.labels import plot_text
from viz_core.figures.name_places import Box, Name, Spot, box_of, dot, line_of, places
from viz_core.i18n import LANGS, Lang
from viz_core.quantizers.samples import SAMPLES
from viz_core.ui.scenes import quant_table

ROOM, R = Box(0, 0, 600, 400), 5.0


def clear(names: list[Name], found: list[Spot], room: Box = ROOM) -> None:
    """No name touches a name, a point or an edge."""
    placed = [(i, box) for i, (name, spot) in enumerate(zip(names, found, strict=True))
              if (box := box_of(name, spot, R)) is not None]
    assert all(room.holds(box) for _, box in placed)
    assert not any(a.touches(b) for (_, a), (_, b) in combinations(placed, 2))
    for i, box in placed:
        own = dot(names[i], R)
        assert not any(box.touches(other) for name in names if (other := dot(name, R)) != own)


somewhere = st.builds(Name, st.floats(0, 600), st.floats(0, 400), st.floats(10, 90), st.just(15.0))


@settings(max_examples=40)
@given(st.lists(somewhere, max_size=25))
def test_names_touch_nothing(names: list[Name]) -> None:
    clear(names, places(names, ROOM, R))


def test_a_name_that_finds_no_near_place_has_a_line() -> None:
    """A crowd of 25: all are named, and where the room is too small for that, some are not."""
    crowd = [Name(300 + 6 * (k % 5), 200 + 6 * (k // 5), 60, 15) for k in range(25)]
    found = places(crowd, ROOM, R)
    assert all(spot.side or spot.away for spot in found) and sum(spot.away is not None for spot in found) > 10
    clear(crowd, found)
    small = Box(250, 170, 370, 250)
    few = places(crowd, small, R)
    assert Spot() in few
    clear(crowd, few, small)
    assert not any(spot.away for spot in places(crowd, ROOM, R, lines=False))


def test_near_places_are_given_first_and_no_name_runs_off() -> None:
    alone = Name(590, 50, 40, 15)
    assert places([alone], ROOM, R) == [Spot("middle left")] and places([], ROOM, R) == []
    assert places([Name(100, 100, 40, 15), alone], ROOM, R)[0] == Spot("middle right")


def test_a_line_ends_at_the_edge_of_its_name() -> None:
    name = Name(100, 100, 40, 20)
    assert line_of(name, (60, 0)) == (100, 100, 140, 100) and line_of(name, (0, -50)) == (100, 100, 100, 60)
    assert line_of(name, (5, 0)) == (100, 100, 100, 100), "a point within its name needs no line"


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("source", SAMPLES)
def test_every_format_is_named_on_the_chart(source: str, narrow: bool, lang: Lang) -> None:
    seen: list[tuple[list[Name], list[Spot], Box]] = []

    def kept(names: list[Name], room: Box, radius: float, lines: bool) -> list[Spot]:
        seen.append((names, places(names, room, radius, lines), room))
        return seen[-1][1]

    with mock.patch.object(figure, "places", kept):
        view = quant_table.SCENE.build(context(quant_table.SCENE, lang, narrow=narrow, source=source))
    drawn = view.plates[0].figure
    led = [note.text for note in drawn.layout.annotations if note.showarrow]
    assert view.table is not None
    assert sorted([*filter(None, drawn.data[0].text), *led]) == sorted(plot_text(name) for name in view.table["format"])
    clear(*seen[0])

