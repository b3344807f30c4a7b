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
POLICY = Choice("policy", (OWN, *POLICIES), OWN, listed=True)
MORE = Whole("more_blocks", -4, 16, 0)


def able(preset: str, policy: str) -> bool:
    """Whether a policy can do what a preset shows: find prefixes, fork, or give blocks back that left a window."""
    chosen = PRESETS[preset]
    if policy == OWN:
        return True
    rules, forks = POLICIES[policy], any(act.op == "fork" for act in chosen.script)
    windows = chosen.windows != (0,)
    return (rules.caches or not chosen.caching) and (rules.forks or not forks) and (rules.null_block or not windows)


def scenario(preset: str, policy: str, more: int) -> Scenario:
    """The preset with the reader's changes; under its own policy where the chosen one cannot do what it shows."""
    chosen = PRESETS[preset]
    if policy != OWN and able(preset, policy):
        chosen = under(chosen, policy, chosen.caching)
    return replace(chosen, blocks=max(1, chosen.blocks + more))


def build(context: Context) -> View:
    """The chosen preset."""
    preset, policy = context.values["preset"], context.values["policy"]
    view = shown(
        context, scenario(preset, policy, context.values["more_blocks"]), Text(f"option.preset.{preset}"), preset
    )
    names = {"policy": policy, "own": PRESETS[preset].policy}
    said = {name: context.t(f"option.policy.{code}") for name, code in names.items()}
    notice = None if able(preset, policy) else context.t("paging.unable", **said)
    return replace(view, notice=notice, facts={**view.facts, "what": context.t(f"paging.preset.{preset}")})


SCENE = Scene("paged_attention", "presets", build, params=(PRESET, POLICY, MORE))
