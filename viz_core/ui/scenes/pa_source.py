"""The small scenario of nine blocks: who gets B's blocks, under the demo's own free list and under another one."""

from __future__ import annotations

from viz_core import units
from viz_core.paging.events import Op
from viz_core.paging.film import film
from viz_core.paging.metrics import measure
from viz_core.paging.presets import SOURCE, under
from viz_core.paging.run import Recording, run
from viz_core.proofs.paging import no_block_is_lost
from viz_core.trace import Text
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context, Number, Question, Scene, View
from viz_core.ui.scenes.pa_counts import counted, sentence

RULES = {  # code -> policy, prefix caching
    "fifo": ("seed-fifo", False),
    "cached": ("vllm-0.33", True),
    "plain": ("vllm-0.33", False),
    "stack": ("early-vllm", False),
    "classic": ("vllm-classic", True),
}
OTHER = Choice("other_policy", tuple(RULES)[1:], "cached")


def recorded(code: str) -> Recording:
    """The scenario under one of the rules."""
    return run(under(SOURCE, *RULES[code]))


def taken(recording: Recording, request: str) -> list[str]:
    """The blocks that a request took from the free queue, in order."""
    null = int(recording.config.rules.null_block)
    return [f"P{e.block - null}" for e in recording.log if e.op == Op.TAKE and e.request == request]


def question(runs: dict[str, Recording]) -> Question:
    """Which blocks D gets from the demo's own list; the other answers are what other rules give."""
    answers = list(dict.fromkeys(" ".join(taken(runs[code], "D")) for code in ("plain", "fifo", "cached")))
    return Question(
        tuple(answers), answers.index(" ".join(taken(runs["fifo"], "D"))), {"b": " ".join(taken(runs["fifo"], "B"))}
    )


def build(context: Context) -> View:
    """Both runs step beside step, opened just after B has finished."""
    code = context.values["other_policy"]
    runs = {name: recorded(name) for name in RULES}
    first, other = runs["fifo"], runs[code]
    names = {name: Text(f"option.other_policy.{name}") for name in RULES}
    both = [(names["fifo"], first), (names[code], other)]
    measured = {name: measure(runs[name]) for name in ("fifo", code)}
    waste, rule = measured["fifo"].waste, context.t("option.other_policy.fifo")
    held = int(waste.tokens[-1] + waste.reserved[-1] + waste.internal[-1])
    share = units.percent(waste.tokens[-1] / held)
    ended = next(event.step for event in first.log if event.op == Op.FINISH)
    return View(
        trace=counted(  # on a phone maps would push the player's bar out of sight
            film(both, Text("scene.paged_attention.source.title")),
            [(names[name], metrics) for name, metrics in measured.items()],
            maps=not context.look.phone,
        ),
        start=ended,
        numbers=(
            Number("most_blocks_of", f"{int(measured['fifo'].blocks.max())} / {SOURCE.blocks}", {"rule": rule}),
            Number("slots_used_of", f"{waste.tokens[-1]} / {held} = {share}", {"rule": rule}),
        ),
        proofs=(no_block_is_lost(first), no_block_is_lost(other)),
        question=question(runs),
        facts={
            "b": " ".join(taken(first, "B")),
            "d": " ".join(taken(first, "D")),
            "used": int(waste.tokens[-1]),
            "held": held,
            "share": share,
            "counts": context.t("paging.counts_of", rule=rule, counts=sentence(context, first, measured["fifo"])),
            **{f"d_{name}": " ".join(taken(each, "D")) for name, each in runs.items()},
        },
        table={
            "policy": [context.t(f"option.other_policy.{name}") for name in RULES],
            **{f"blocks of {who}": [" ".join(taken(each, who)) for each in runs.values()] for who in "ABCD"},
        },
        code=(recorded, taken),
    )


SCENE = Scene("paged_attention", "source", build, params=(OTHER,))
