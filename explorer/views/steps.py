"""The steps of one layer, in the order of the lecture: each with its formula and what happens in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from explorer.records import Trace
from explorer.views import panels
from explorer.views.panels import Panel, Walk, added, normed, projected, ready, stage


@dataclass(frozen=True)
class Step:
    """One step: its name on the slider, its title, its formula and what happens in it."""

    name: str
    title: str
    latex: str
    says: str
    panel: Callable[[Walk], Panel] = field(repr=False)
    by_head: bool = True
    whole: bool = True  # False: this step is about one query even when all words are shown


def norm_step(name: str, part: str) -> Step:
    """A norm, wherever the model has it."""
    return Step(
        name,
        "normalise each word",
        r"\frac{x-\mu}{\sigma}\odot\gamma+\beta",
        "Each word on its own: take away the mean μ of its features, divide by their spread σ, then stretch by γ and shift by β, "
        "which were learned. γ and β hold one number for each feature. (A norm without a mean, RMSNorm, has μ = 0 here.)",
        normed(part),
        by_head=False,
    )


def sum_step(name: str, part: str) -> Step:
    """A residual sum."""
    return Step(
        name,
        "add the input",
        r"x + \mathrm{new}",
        "What the sub-layer found is added to what came in. Nothing is overwritten: each word keeps its vector and gains something.",
        added(part),
        by_head=False,
    )


X = Step(
    "x",
    "the words as vectors",
    r"x_1,\dots,x_n\in\mathbb{R}^d",
    "One row for each word. In layer 0 a row is the word's own vector plus what says where it stands; higher up it is what "
    "the layer below made of it.",
    panels.entering,
    by_head=False,
)
Q = Step(
    "q",
    "queries: what each word asks",
    r"q_i = x_i W_Q",
    "Each word's vector (normalised first, where the norm comes first), times the matrix W_Q of this head.",
    projected("q"),
)
K = Step(
    "k",
    "keys: what each word offers",
    r"k_j = x_j W_K",
    "Each word's vector, times the matrix W_K of this head.",
    projected("k"),
)
READY = (
    "In between, {} are made ready: where the model has QK norm, they are divided by their size, all heads together, so that no "
    "score grows without end; where it has RoPE, each pair of their features is turned by an angle that grows with the place."
)
READY_Q = Step(
    "q′",
    "queries, as they meet the keys",
    r"q_i' = R_i\,\mathrm{norm}(q_i)",
    READY.format("queries"),
    ready("q"),
)
READY_K = Step("k′", "keys, as they meet the queries", r"k_j' = R_j\,\mathrm{norm}(k_j)", READY.format("keys"), ready("k"))
V = Step(
    "v",
    "values: what each word hands over",
    r"v_j = x_j W_V",
    "Each word's vector, times the matrix W_V of this head.",
    projected("v"),
)
PRODUCTS = Step(
    "q ⊙ k",
    "one query meets every key, feature by feature",
    r"q_i \odot k_j",
    "Element by element, before anything is summed. A row that is mostly one colour will give a large score; "
    "colours that cancel give a small one.",
    panels.products,
    whole=False,
)
SCORES = Step(
    "q·k",
    "scores: the products of each pair, summed",
    r"S = QK^\top,\quad s_{ij} = q_i\cdot k_j",
    "How well query i meets key j. One number for each pair of words.",
    stage("scores"),
)
SCALED = Step(
    "÷ √d",
    "scores made smaller",
    r"\frac{q_i\cdot k_j}{\sqrt{d_k}}",
    "A sum of d_k products grows with d_k; dividing by √d_k keeps the softmax from being all or nothing.",
    stage("scaled"),
)
CAPPED = Step("cap", "scores kept below a cap", r"c\,\tanh(s/c)", "Large scores are bent towards the cap.", stage("capped"))
BIASED = Step(
    "+ bias",
    "what the positions add",
    r"s_{ij} + b_{ij}",
    "This model tells words apart by where they stand: a number for each pair of places is added to the scores.",
    stage("biased"),
)
MASKED = Step(
    "mask",
    "who may not be seen becomes −∞",
    r"s_{ij} = -\infty \text{ where forbidden}",
    "A decoder may not look ahead, so those cells become −∞ (grey). An encoder forbids nothing.",
    stage("masked"),
)
WEIGHTS = Step(
    "softmax",
    "weights: shares that sum to 1",
    r"\alpha_{ij} = \frac{e^{s_{ij}}}{\sum_m e^{s_{im}}}",
    "Each row on its own becomes shares: all are positive (−∞ becomes 0) and they sum to 1.",
    stage("weights"),
)
WEIGHED = Step(
    "α · v",
    "every value times its share",
    r"\alpha_{ij}\,v_j",
    "The values of all words, each as strong as its weight. What is faint is not taken along.",
    panels.weighed,
    whole=False,
)
CONTEXT = Step(
    "Σ α v",
    "the weighed values, summed",
    r"z_i = \sum_j \alpha_{ij}\,v_j",
    "The rows of the step before, added up: the new vector that this head makes for each word.",
    panels.summed,
)
HEADS = Step(
    "heads",
    "all heads side by side",
    r"z_i^1 \oplus \dots \oplus z_i^h",
    "Each head did the same with its own W_Q, W_K and W_V. Their vectors stand side by side, and are as wide as x again.",
    panels.side_by_side,
    by_head=False,
)
OUTPUT = Step(
    "W_O",
    "mix the heads",
    r"(z^1\oplus\dots\oplus z^h)\,W_O",
    "One matrix lets the heads' findings flow together.",
    panels.mixed,
    by_head=False,
)
UNITS = Step(
    "units",
    "feed-forward: widen and bend",
    r"f(x W_1 + b_1)",
    "For each word on its own: many more features, of which the bend (ReLU, GELU, SwiGLU) lets some through.",
    panels.widened,
    by_head=False,
)
NARROW = Step(
    "feed-forward",
    "feed-forward: back to the width of x",
    r"f(x W_1 + b_1)\,W_2 + b_2",
    "A second matrix brings the hidden units back to the width of x.",
    panels.narrowed,
    by_head=False,
)


def steps_of(trace: Trace) -> tuple[Step, ...]:
    """The steps of a layer, in the order in which this model takes them; those that it never takes are left out."""
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
    orders = {
        "post": (X, *attend, plus, first, UNITS, NARROW, again, second),
        "pre": (X, first, *attend, plus, second, UNITS, NARROW, again),
        "inside": (X, *attend, first, plus, UNITS, NARROW, second, again),
    }
    return orders[trace.blocks[0].place]
