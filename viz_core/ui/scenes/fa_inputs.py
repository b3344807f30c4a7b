"""What the scenes of this page run on: a drawn example, or a head of the workbench's model."""

from __future__ import annotations

from viz_core.attention.bias import causal
from viz_core.attention.bias import window as window_bias
from viz_core.attention.inputs import INPUTS, Inputs
from viz_core.ui import cached
from viz_core.ui.params import Choice
from viz_core.ui.scene import Context

N, D = 16, 4  # a drawn example fits on a blackboard
INPUT = Choice("fa_input", (*INPUTS, "head"), "normal")


def inputs(context: Context, n: int = N, d: int = D) -> Inputs:
    """q, k, v and bias of the chosen input; a head's are those of the prompt, causal, with the layer's own window."""
    if context.values["fa_input"] != "head":
        return INPUTS[context.values["fa_input"]](n, d, 1)
    capture = cached.capture(context.bench.model, context.bench.prompt)
    layer, head = context.values["layer"], context.values["head"]
    capture.head(layer, head)  # a Problem for a head that is not there
    kv, tokens = capture.kv_head(layer, head), len(capture.q[layer][head])
    window = capture.window[layer]
    mask = causal(tokens, tokens) if window is None else window_bias(tokens, tokens, window - 1)
    return capture.q[layer][head], capture.k[layer][kv], capture.v[layer][kv], mask
