"""One run at a time: sharing, eviction, copy-on-write, preemption, windows, each in its smallest scenario."""

from __future__ import annotations

from dataclasses import replace

from viz_core.paging.policies import POLICIES
from viz_core.paging.presets import PRESETS, under
from viz_core.paging.scenario import Scenario
from viz_core.trace import Text
from viz_core.ui.params import Choice, Whole
from viz_core.ui.scene import Context, Scene, View
from viz_core.ui.scenes.pa_shown import shown

OWN = "own"
PRESET = Choice("preset", tuple(name for name in PRESETS if name != "source"), "shared_prompt")
POLICY = Choice("policy", (OWN, *POLICIES), OWN)
MORE = Whole("more_blocks", -4, 16, 0)


def scenario(preset: str, policy: str, more: int) -> Scenario:
    """The preset with the reader's changes; a policy without a prefix cache runs without one."""
    chosen = PRESETS[preset]
    if policy != OWN:
        chosen = under(chosen, policy, chosen.caching and POLICIES[policy].caches)
    return replace(chosen, blocks=max(1, chosen.blocks + more))


def build(context: Context) -> View:
    """The chosen preset."""
    values = context.values
    view = shown(
        context,
        scenario(values["preset"], values["policy"], values["more_blocks"]),
        Text(f"option.preset.{values['preset']}"),
        values["preset"],
    )
    return replace(view, facts={**view.facts, "what": context.t(f"paging.preset.{values['preset']}")})


SCENE = Scene("paged_attention", "presets", build, params=(PRESET, POLICY, MORE))
