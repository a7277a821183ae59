"""One attention layer, as it was computed, and the six steps re-derived from it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from explorer.errors import ChoiceError, check_index, unknown
from explorer.records.edits import Edit
from explorer.records.record import Record
from explorer.records.shares import softmax

STAGES = ("scores", "scaled", "capped", "biased", "masked", "weights", "context")


@dataclass(frozen=True, eq=False)
class Attention(Record):
    """What one attention layer computed for one text.

    `q`, `k`, `v` are [head, position, dim] (k and v may have fewer heads), `scale` multiplies q·k, `softcap`
    and `sinks` are None where the model has none, `bias` is added to the scores, `allowed` [query, key] says
    who may see whom, `weights` [head, query, key] are the model's own and `output` [query, dim] is after W_O.
    q, k and v are None where only the weights can be had. `projected_q` and `projected_k` are what W_Q and W_K made, where
    something (QK norm, RoPE) changes it into `q` and `k` before they meet; None where nothing does. `terms` are what
    a bias that depends on the words is the sum of (DeBERTa), by name and each [head, query, key].
    """

    stream: str
    layer: int
    q: np.ndarray | None
    k: np.ndarray | None
    v: np.ndarray | None
    scale: float
    allowed: np.ndarray
    weights: np.ndarray
    output: np.ndarray | None = None
    bias: np.ndarray | None = None
    softcap: float | None = None
    sinks: np.ndarray | None = None
    edited: tuple[Edit, ...] = ()
    projected_q: np.ndarray | None = None
    projected_k: np.ndarray | None = None
    terms: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def heads(self) -> int:
        """How many heads there are."""
        return self.weights.shape[0]

    def stage(self, name: str, head: int) -> np.ndarray:
        """One stage of one head: [query, key], or [query, dim] for the context; one that does not apply equals the one before."""
        if name not in STAGES:
            raise unknown("stage", name, STAGES)
        head = check_index(f"head in layer {self.layer}", head, self.heads)
        if name == "weights":
            return self.weights[head]
        if self.q is None or self.k is None or self.v is None:
            raise ChoiceError(f"This model hands out only its weights, so {name!r} cannot be derived. Choose 'weights'.")
        return self._context(head) if name == "context" else self._before_softmax(name, head)

    def _before_softmax(self, name: str, head: int) -> np.ndarray:
        assert self.q is not None and self.k is not None
        value = self.q[head] @ self.k[self._shared(head)].T  # [query, key]
        last = STAGES.index(name)
        if last >= 1:
            value = value * np.float32(self.scale)
        if last >= 2 and self.softcap is not None:
            value = np.tanh(value / self.softcap) * self.softcap
        if last >= 3 and self.bias is not None:
            value = value + self.bias[head]
        if last >= 4:
            value = np.where(self.allowed, value, -np.inf)
        return value.astype(np.float32)

    def _shared(self, head: int) -> int:
        """The key/value head that this query head uses (grouped heads share one)."""
        assert self.k is not None
        return head // (self.heads // self.k.shape[0])

    def _context(self, head: int) -> np.ndarray:
        assert self.v is not None
        every = np.stack([self.weights[h] @ self.v[self._shared(h)] for h in range(self.heads)])
        for edit in self.edited:
            every = edit.on_context(every)
        return every[head]

    def derived(self, head: int) -> np.ndarray:
        """The weights of a head computed again from q, k, scale, bias and mask, with the same edits: [query, key]."""
        masked = self._before_softmax("masked", head).astype(np.float64)
        if self.sinks is not None:
            masked = np.concatenate([masked, np.full((len(masked), 1), self.sinks[head])], axis=1)
        weights = softmax(masked)[:, : self.allowed.shape[1]]
        every = np.broadcast_to(weights, (self.heads, *weights.shape))
        for edit in self.edited:
            every = edit.on_weights(every, self.allowed)
        return every[head]

    @property
    def residual(self) -> float:
        """The largest gap between the re-derived weights and the model's own; NaN where they cannot be derived."""
        if self.q is None or self.k is None:
            return float("nan")
        worst = np.max([np.abs(self.derived(h) - self.weights[h]).max() for h in range(self.heads)])
        return float("inf") if np.isnan(worst) else float(worst)  # a model that computes NaN is not re-derived
