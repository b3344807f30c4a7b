"""A model whose weights went through a format, and what that did to its predictions.

Weights are replaced by the values that the format stores; products stay in float32, as dequantizing kernels do them.
Norms stay as they are. Every matrix is quantized along its inputs, as GGUF stores it; where rows are not whole blocks,
llama.cpp's stand-in is used and counted. Fused matrices (q, k, v; gate, up) count as one tensor for per-tensor scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from viz_core.i18n import Problem
from viz_core.model.linear import Dense, Linear
from viz_core.model.llama import Block, Llama
from viz_core.quantizers.fallback import storable
from viz_core.quantizers.format import Format


@dataclass(frozen=True, slots=True)
class QuantizedModel:
    """The model, the bits of its matrices over their weights, and the share of weights that a stand-in stores."""

    llama: Llama
    bits_per_weight: float
    stand_in: float


class _Ledger:
    """Rounds matrices and adds up what they take."""

    def __init__(self, form: Format) -> None:
        self.form, self.bits, self.weights, self.replaced = form, 0.0, 0, 0

    def rows(self, matrix: np.ndarray) -> np.ndarray:
        """Values of a matrix (out, in) quantized along its rows."""
        form = storable(self.form, matrix.shape[1])
        self.bits += form.bits(matrix.shape)
        self.weights += matrix.size
        self.replaced += matrix.size * (form.name != self.form.name)
        return form.round(matrix)

    def linear(self, layer: Linear) -> Linear:
        """A linear layer with its weights rounded."""
        if not isinstance(layer, Dense):
            raise Problem("model_quantize_dense")
        return replace(layer, w=np.ascontiguousarray(self.rows(np.ascontiguousarray(layer.w.T)).T))

    def block(self, block: Block) -> Block:
        """A transformer block with its four matrices rounded."""
        qkv, o, gate_up, down = (self.linear(layer) for layer in (block.qkv, block.o, block.gate_up, block.down))
        return replace(block, qkv=qkv, o=o, gate_up=gate_up, down=down)


def quantize_model(llama: Llama, form: Format) -> QuantizedModel:
    """Every matrix of `llama` in `form`, the embedding included; Problem for a model that is not in float32."""
    ledger = _Ledger(form)
    embed = None if llama.embed is None else ledger.rows(llama.embed.astype(np.float32))
    blocks = tuple(ledger.block(block) for block in llama.blocks)
    made = replace(llama, embed=embed, blocks=blocks, head=ledger.linear(llama.head))
    return QuantizedModel(made, ledger.bits / ledger.weights, ledger.replaced / ledger.weights)


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a model says about texts: log-probabilities (tokens, V) and each text's next tokens (tokens,)."""

    log: np.ndarray
    target: np.ndarray

    @property
    def loss(self) -> np.ndarray:
        """−log p of every token that followed, nats, (tokens,)."""
        return -self.log[np.arange(len(self.target)), self.target].astype(np.float64)

    @property
    def perplexity(self) -> float:
        """exp of the mean loss."""
        return float(np.exp(self.loss.mean(dtype=np.float64)))


def predict(llama: Llama, texts: Sequence[Sequence[int]]) -> Predictions:
    """Predictions of every token but the first of each text, each text read from its start."""
    logits = np.concatenate([llama.forward(ids)[:-1] for ids in texts])
    return Predictions(log_softmax(logits), np.concatenate([np.asarray(ids[1:]) for ids in texts]))


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Logits (…, V) as log-probabilities."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@dataclass(frozen=True, slots=True)
class Damage:
    """One model's predictions beside the original's.

    Attributes:
        perplexity: of the changed model.
        added: mean of (its loss − the original's), nats a token.
        noise: standard error of `added`: differences within two of these say nothing.
        kl: mean KL divergence of its distribution from the original's, nats.
        flips: share of tokens where its first choice is another one.
    """

    perplexity: float
    added: float
    noise: float
    kl: float
    flips: float


def damage(original: Predictions, changed: Predictions) -> Damage:
    """What changed between two sets of predictions of the same texts."""
    added = changed.loss - original.loss
    kl = np.vecdot(np.exp(original.log), original.log - changed.log)
    flips = (original.log.argmax(axis=-1) != changed.log.argmax(axis=-1)).mean()
    noise = added.std(ddof=1) / np.sqrt(len(added)) if len(added) > 1 else 0.0
    return Damage(changed.perplexity, float(added.mean()), float(noise), float(kl.mean()), float(flips))
