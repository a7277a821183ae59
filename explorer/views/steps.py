"""The steps of one layer, in the order of computation: each with its formula and an explanation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from explorer.records import Trace
from explorer.views import panels
from explorer.views.panels import Panel, Walk, added, entered, normed, projected, ready, stage


@dataclass(frozen=True)
class WalkStep:
    """One step: its name on the slider, its title, its formula and its explanation."""

    name: str
    title: str
    latex: str
    says: str
    panel: Callable[[Walk], Panel] = field(repr=False)
    by_head: bool = True
    whole: bool = True  # False: this step is about one query even when all tokens are shown


def norm_step(name: str, part: str) -> WalkStep:
    """A norm, wherever the model has it."""
    return WalkStep(
        name,
        "normalise each token's vector",
        r"\frac{x-\mu}{\sigma}\odot\gamma+\beta",
        "Each token's vector separately: subtract its mean μ, divide by its standard deviation σ, then scale by γ and shift by β, "
        "which are learned. γ and β hold one number for each dimension. (A norm without a mean, RMSNorm, has μ = 0 here.)",
        normed(part),
        by_head=False,
    )


def entry_step(name: str, part: str) -> WalkStep:
    """The norm before a sub-layer, where a second one comes after it."""
    return replace(norm_step(name, part), panel=entered(part))


def sum_step(name: str, part: str) -> WalkStep:
    """A residual sum."""
    return WalkStep(
        name,
        "add the input",
        r"x + \mathrm{new}",
        "The residual connection: the output of the sub-layer is added to its input. Nothing is overwritten.",
        added(part),
        by_head=False,
    )


X = WalkStep(
    "x",
    "the tokens as vectors",
    r"x_1,\dots,x_n\in\mathbb{R}^d",
    "One row for each token. In layer 0 a row is the token embedding plus the position embedding, if any; higher up it is the "
    "output of the layer below.",
    panels.entering,
    by_head=False,
)
Q = WalkStep(
    "q",
    "queries: what each token looks for",
    r"q_i = x_i W_Q + b_Q",
    "Each token's vector (normalised first in pre-norm models), times the matrix W_Q of this head, plus its bias. Models without "
    "biases (T5, LLaMA) have b = 0 here and below.",
    projected("q"),
)
K = WalkStep(
    "k",
    "keys: what each token is matched by",
    r"k_j = x_j W_K + b_K",
    "Each token's vector, times the matrix W_K of this head, plus its bias.",
    projected("k"),
)
READY = (
    "In between, {} are prepared: where the model has QK norm, they are normalised, all heads together, so that no "
    "score grows without limit; where it has RoPE, each pair of their dimensions is rotated by an angle proportional to the position."
)
READY_Q = WalkStep(
    "q′",
    "queries, as the scores use them",
    r"q_i' = R_i\,\mathrm{norm}(q_i)",
    READY.format("queries"),
    ready("q"),
)
READY_K = WalkStep("k′", "keys, as the scores use them", r"k_j' = R_j\,\mathrm{norm}(k_j)", READY.format("keys"), ready("k"))
V = WalkStep(
    "v",
    "values: what each token passes on",
    r"v_j = x_j W_V + b_V",
    "Each token's vector, times the matrix W_V of this head, plus its bias.",
    projected("v"),
)
PRODUCTS = WalkStep(
    "q ⊙ k",
    "one query times every key, dimension by dimension",
    r"q_i \odot k_j",
    "Element by element, before anything is summed. Mostly blue: a large positive score; mostly orange: a "
    "large negative one; colours that cancel: a small one.",
    panels.products,
    whole=False,
)
SCORES = WalkStep(
    "q·k",
    "scores: the products of each pair, summed",
    r"S = QK^\top,\quad s_{ij} = q_i\cdot k_j",
    "How well query i matches key j. One number for each pair of tokens.",
    stage("scores"),
)
SCALED = WalkStep(
    "÷ √dₖ",
    "scores, scaled",
    r"\frac{q_i\cdot k_j}{\sqrt{d_k}}",
    "The spread of a sum of d_k products grows as √d_k; dividing by √d_k, the dimension of one head, keeps the softmax from "
    "saturating.",
    stage("scaled"),
)
CAPPED = WalkStep(
    "cap", "scores kept below a cap", r"c\,\tanh(s/c)", "Large scores are squashed towards the cap.", stage("capped")
)
BIASED = WalkStep(
    "+ bias",
    "what the positions add",
    r"s_{ij} + b_{ij}",
    "This model adds a position bias to the scores: a number for each pair of positions.",
    stage("biased"),
)
MASKED = WalkStep(
    "mask",
    "masked scores become −∞",
    r"s_{ij} = -\infty \text{ where forbidden}",
    "A decoder must not see later tokens, so those cells become −∞ (grey). An encoder masks nothing.",
    stage("masked"),
)
WEIGHTS = WalkStep(
    "softmax",
    "weights that sum to 1",
    r"\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_m e^{s_{im}}}",
    "The softmax of each row: all weights are positive (−∞ becomes 0) and they sum to 1.",
    stage("weights"),
)
WEIGHED = WalkStep(
    "α · v",
    "every value times its weight",
    r"\alpha_{ij}\,v_j",
    "The values of all tokens, each times its weight. A value with a small weight adds almost nothing.",
    panels.weighed,
    whole=False,
)
CONTEXT = WalkStep(
    "Σ α v",
    "the weighted values, summed",
    r"z_i = \sum_j \alpha_{ij}\,v_j",
    "The rows of the step before, added up: the output of this head for each token.",
    panels.summed,
)
HEADS = WalkStep(
    "heads",
    "all heads, concatenated",
    r"z_i^1 \oplus \dots \oplus z_i^h",
    "Each head did the same with its own W_Q, W_K and W_V. Their outputs are concatenated and have as many dimensions as x again.",
    panels.side_by_side,
    by_head=False,
)
OUTPUT = WalkStep(
    "W_O",
    "mix the heads",
    r"(z^1\oplus\dots\oplus z^h)\,W_O + b_O",
    "One matrix combines the outputs of all heads; its bias is added.",
    panels.mixed,
    by_head=False,
)
UNITS = WalkStep(
    "units",
    "feed-forward: hidden units",
    r"f(x W_1 + b_1)",
    "For each token separately: many more dimensions, then an activation function (ReLU, GELU, SwiGLU) that lets some through.",
    panels.widened,
    by_head=False,
)
NARROW = WalkStep(
    "feed-forward",
    "feed-forward: back to the dimension of x",
    r"f(x W_1 + b_1)\,W_2 + b_2",
    "A second matrix brings the hidden units back to the dimension of x.",
    panels.narrowed,
    by_head=False,
)


def steps_of(trace: Trace) -> tuple[WalkStep, ...]:
    """The steps of a layer, in the order in which this model computes them; those that it does not have are left out."""
    absent = {
        "cap": all(attention.softcap is None for attention in trace.attention),
        "+ bias": all(attention.bias is None for attention in trace.attention),
        "q′": all(attention.projected_q is None for attention in trace.attention),
        "k′": all(attention.projected_k is None for attention in trace.attention),
    }
    look = [
        Q,
        READY_Q,
        K,
        READY_K,
        V,
        PRODUCTS,
        SCORES,
        SCALED,
        CAPPED,
        BIASED,
        MASKED,
        WEIGHTS,
        WEIGHED,
        CONTEXT,
        HEADS,
        OUTPUT,
    ]
    attend = [step for step in look if not absent.get(step.name)]
    first, second = norm_step("norm", "attention"), norm_step("norm again", "feed-forward")
    plus, again = sum_step("+ x", "attention"), sum_step("+ x again", "feed-forward")
    early, earlier = entry_step("norm before", "attention"), entry_step("norm before the FFN", "feed-forward")
    orders = {
        "post": (X, *attend, plus, first, UNITS, NARROW, again, second),
        "pre": (X, first, *attend, plus, second, UNITS, NARROW, again),
        "bare": (X, *attend, plus, second, UNITS, NARROW, again),
        "inside": (X, *attend, first, plus, UNITS, NARROW, second, again),
        "both": (X, early, *attend, first, plus, earlier, UNITS, NARROW, second, again),
    }
    return orders[trace.blocks[0].place]
