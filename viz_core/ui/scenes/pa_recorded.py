"""A run that was recorded elsewhere, played again: a log of this app, or a server's KV events."""

from __future__ import annotations

from dataclasses import replace

from viz_core.i18n import Problem
from viz_core.paging.kv_events import residency
from viz_core.paging.presets import THRASH
from viz_core.paging.residency_film import residency_film, times
from viz_core.paging.run import run
from viz_core.trace import Text
from viz_core.ui import uploads
from viz_core.ui.cached_paged import not_too_long, replayed
from viz_core.ui.params import Upload
from viz_core.ui.scene import Context, Number, Scene, View
from viz_core.ui.scenes.pa_shown import log_bytes, recorded

TITLE = Text("scene.paged_attention.recorded.title")


def is_log(data: bytes) -> bool:
    """Whether a file is a log of this app, which starts with an object; KV events do not."""
    return data.lstrip()[:1] == b"{"


def check(name: str, data: bytes) -> None:
    """A Problem for a file that cannot be played; what is inside decides, not its name."""
    if is_log(data):
        replayed(data)
        return
    blocks = residency(data)
    if not blocks:
        raise Problem("paging_events_none")
    not_too_long(len(times(blocks)))
    residency_film(blocks, "")


FILE = Upload("recording", ("jsonl", "json", "msgpack", "bin"), check)


def build(context: Context) -> View:
    """The reader's file; until there is one, the log that the preemption preset exports."""
    asked = context.values[FILE.name]
    kept = uploads.kept(FILE.name, asked) if asked else None
    name = "recorded" if kept is None else kept.name
    data = log_bytes(run(THRASH)) if kept is None else kept.data
    view = recorded(context, replayed(data), TITLE, "recorded") if is_log(data) else resident(context, data)
    notice = context.t("paging.file_gone") if asked and kept is None else None
    what = context.t("paging.recorded_example") if kept is None else name
    return replace(view, notice=notice, facts={**view.facts, "what": what})


def resident(context: Context, data: bytes) -> View:
    """A server's prefix blocks over its events."""
    blocks = residency(data)
    film = residency_film(blocks, TITLE)
    most = max(value or 0 for value in film.series[0].values)
    return View(
        trace=film,
        start=film.steps - 1,
        numbers=(
            Number("prefix_blocks", str(len(blocks))),
            Number("most_resident", str(int(most))),
        ),
        facts={"counts": context.t("paging.resident_counts", blocks=len(blocks), steps=film.steps)},
    )


SCENE = Scene("paged_attention", "recorded", build, params=(FILE,))
