"""What the board says at each of its stations: written once, and sent along with the numbers to every place that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from explorer.records import Attention, Block


@dataclass(frozen=True)
class Station:
    """One stop of the walk: its button, a title for the last row, its formula, up to three lines of NumPy, what happens, what it shows.

    `ms` is how long its motion takes. `says` may hold {d}, the size of a head; `concludes` says what may not be concluded as well.
    """

    id: str
    name: str
    title: str
    formula: str
    numpy: str
    says: str
    concludes: str
    ms: int


NUMBERS = (
    "You may conclude that these are the numbers of this pass, up to the rounding printed below. You may not conclude what a single "
    "dimension means."
)
NORMS = (
    "You may conclude that all tokens had the same spread before γ stretched each dimension by its own factor. You may not conclude "
    "that they still have it, nor that a dimension stretched by γ is important."
)


def spread(result: str, of: str) -> str:
    """A norm in NumPy: `made` from `of`. A norm that subtracts no mean (RMSNorm) has 0 there."""
    return (
        f"mean = {of}.mean(1, keepdims=True)  # RMSNorm: 0\n"
        f"squares = (({of} - mean) ** 2).mean(1, keepdims=True)\n"
        f"{result} = ({of} - mean) / np.sqrt(squares + epsilon) * gain + shift"
    )


STATIONS = {
    station.id: station
    for station in (
        Station(
            "x",
            "x",
            "Each token enters as a vector",
            "x = token (+ position + segment)",
            "x = token  # + position, + segment: where the model adds them",
            "One row for each token. In layer 0 it is the sum of its embeddings; higher up it is what the layer below made of it.",
            NUMBERS,
            400,
        ),
        Station(
            "norm1",
            "norm",
            "Each token is normalised first",
            "(x − μ) / σ · γ + β",
            spread("x", "x"),
            "This model normalises before attention: each token separately, over its dimensions.",
            NORMS,
            500,
        ),
        Station(
            "qkv",
            "q, k, v",
            "Each token gets a query, a key and a value",
            "q = x W_Q + b_Q,  k = x W_K + b_K,  v = x W_V + b_V",
            "q = x @ Wq + bq\nk = x @ Wk + bk\nv = x @ Wv + bv",
            "Matrices (in some models with biases) make a query, a key and a value of {d} numbers from every x. Keys are columns.",
            NUMBERS,
            1400,
        ),
        Station(
            "crossed",
            "q, k, v",
            "Keys and values come from the encoder",
            "q = x W_Q + b_Q,  k = m W_K + b_K,  v = m W_V + b_V",
            "q = x @ Wq + bq\nk = memory @ Wk + bk\nv = memory @ Wv + bv",
            "A query of {d} numbers is computed from the decoder's x; keys and values from m, the last states of the encoder. "
            "From the row of a token the decoder predicts the next one.",
            NUMBERS,
            1400,
        ),
        Station(
            "turn",
            "turn",
            "Positions enter queries and keys",
            "q′ = R·norm(q),  k′ = R·norm(k)",
            "q, k = rotate(norm(q)), rotate(norm(k))",
            "A norm, or a rotation that grows with the position, changes q and k before their product: so q·k depends on the distance.",
            NUMBERS,
            500,
        ),
        Station(
            "qk",
            "q·k",
            "Every query times every key",
            "s_ij = q_i · k_j",
            "scores = q @ k.T",
            "Each cell multiplies the query of its row by the key of its column, component by component: {d} products, summed.",
            "You may conclude which key fits which query best so far. You may not conclude where the model looks: softmax comes later.",
            1400,
        ),
        Station(
            "scale",
            "÷ √dₖ",
            "The scores are scaled down",
            "s_ij / √dₖ",
            "scores = scores * scale",
            "The standard deviation of a dot product of {d} terms grows as √{d}; most models divide by it. The colours are rescaled.",
            "You may conclude how much smaller the differences become. You may not conclude that the order changes: it stays the same.",
            1400,
        ),
        Station(
            "cap",
            "cap",
            "Large scores are bent towards a cap",
            "c · tanh(s / c)",
            "scores = cap * np.tanh(scores / cap)",
            "No score can leave the range from −c to c.",
            "You may conclude that no score passes the cap. You may not conclude that the order changes.",
            600,
        ),
        Station(
            "bias",
            "+ bias",
            "Distance adds to the scores",
            "s_ij + b_ij",
            "scores = scores + bias",
            "In this model the position enters as a number that is added to each score.",
            "You may conclude what the position adds. You may not conclude that near tokens get most weight: the words count as well.",
            600,
        ),
        Station(
            "mask",
            "mask",
            "Masked cells become −∞",
            "s_ij = −∞ where forbidden",
            "scores[~allowed] = -np.inf",
            "A decoder may not look ahead: those cells are removed before the weights are computed. An encoder forbids nothing.",
            "You may conclude which tokens are visible to which. You may not conclude that they are used.",
            600,
        ),
        Station(
            "unmasked",
            "mask",
            "Nothing is forbidden here",
            "s_ij stays s_ij",
            "allowed.all()  # True",
            "Every token of this text may attend to every other, so no score changes. In a decoder, later tokens become −∞ here.",
            "You may conclude which tokens are visible to which. You may not conclude that they are used.",
            600,
        ),
        Station(
            "softmax",
            "softmax",
            "Each row becomes weights with sum 1",
            "α_ij = e^s_ij / Σ_m e^s_im",
            "top = scores.max(1, keepdims=True)\nparts = np.exp(scores - top)\nweights = parts / parts.sum(1)[:, None]",
            "Each row separately: e to the power of a score is positive, and divided by the sum of its row it becomes a weight.",
            "You may conclude how much of each value is taken. You may not conclude that the output depends on it to that degree.",
            900,
        ),
        Station(
            "mix",
            "Σ α v",
            "Values flow along the weights",
            "z_i = Σ_j α_ij v_j",
            "z = weights @ v",
            "The values of all tokens are multiplied by their weights and added up. Drag a weight, or move its slider: the sum follows.",
            "You may conclude what this head carries to a token. You may not conclude that later layers use it.",
            1400,
        ),
        Station(
            "concat",
            "heads",
            "All heads are concatenated",
            "z = z¹ | z² | …",
            "z = np.concatenate(every_head, axis=1)",
            "Each head did the same with its own matrices. Their outputs are put side by side.",
            NUMBERS,
            700,
        ),
        Station(
            "wo",
            "W_O",
            "One matrix mixes the heads",
            "o = (z¹ | z² | …) W_O + b_O",
            "o = z @ Wo + bo",
            "One matrix (in some models with a bias) mixes the outputs of all heads; the result is as wide as x again.",
            NUMBERS,
            500,
        ),
        Station(
            "inner1",
            "norm",
            "The output of attention is normalised",
            "(o − μ) / σ · γ + β",
            spread("o", "o"),
            "This model normalises the output of the sub-layer before it is added.",
            NORMS,
            500,
        ),
        Station(
            "add1",
            "+ x",
            "The input is added again",
            "x + o",
            "total = x + o",
            "A copy of x is added: nothing is overwritten; each token keeps its vector, and something is added to it.",
            NUMBERS,
            500,
        ),
        Station(
            "post1",
            "norm",
            "The sum is normalised",
            "(x − μ) / σ · γ + β",
            spread("x", "total"),
            "Each token separately: the mean of its dimensions becomes 0 and their spread 1, then γ and β stretch and shift.",
            NORMS,
            500,
        ),
        Station(
            "norm2",
            "norm",
            "Each token is normalised again",
            "(x − μ) / σ · γ + β",
            spread("h", "x"),
            "Before the feed-forward layer, each token separately.",
            NORMS,
            500,
        ),
        Station(
            "beside2",
            "norm",
            "The feed-forward layer reads what attention read",
            "(x − μ) / σ · γ + β",
            spread("h", "x"),
            "Attention and feed-forward are parallel: each reads the x that entered the layer, and both results are added to it.",
            NORMS,
            500,
        ),
        Station(
            "units",
            "FFN",
            "Each token activates hidden units",
            "u = f(x W₁ + b₁)",
            "u = activation(x @ W1 + b1)",
            "Each token separately: many more dimensions; the activation lets some through. Gated layers (SwiGLU) multiply by x V, too.",
            "You may conclude which units are active here. You may not conclude that one unit represents one idea.",
            700,
        ),
        Station(
            "narrow",
            "FFN out",
            "Back to the width of x",
            "u W₂ + b₂",
            "h = u @ W2 + b2",
            "A second matrix brings the hidden units back to the width of x.",
            NUMBERS,
            500,
        ),
        Station(
            "inner2",
            "norm",
            "The output of the feed-forward layer is normalised",
            "(h − μ) / σ · γ + β",
            spread("h", "h"),
            "This model normalises the output of the sub-layer before it is added.",
            NORMS,
            500,
        ),
        Station(
            "add2",
            "+ x",
            "The input is added again",
            "x + h",
            "total = x + h",
            "A copy of what entered the feed-forward layer is added to its output.",
            NUMBERS,
            500,
        ),
        Station(
            "post2",
            "norm",
            "The sum is normalised",
            "(x − μ) / σ · γ + β",
            spread("x", "total"),
            "Each token separately, as before.",
            NORMS,
            500,
        ),
        Station(
            "up",
            "next",
            "The output is the next input",
            "x′ → x",
            "x = total",
            "The vectors slide to the left: they are the x of the next sub-layer.",
            "You may conclude that nothing else is handed on. You may not conclude that a row still means its token alone.",
            600,
        ),
        Station(
            "next",
            "prediction",
            "The last vectors become probabilities",
            "P = softmax(x′ W)",
            "scores = x @ vocabulary.T\nparts = np.exp(scores - scores.max(1, keepdims=True))\np = parts / parts.sum(1, keepdims=True)",
            "A bar for each of the most probable tokens at the held row. Some models normalise or transform x′ first.",
            "You may conclude what this model expects here. You may not conclude that it is right, nor that it expects it elsewhere.",
            600,
        ),
        Station(
            "replaced",
            "replaced?",
            "Was each token replaced?",
            "P = σ(x′ w + b)",
            "p = 1 / (1 + np.exp(-(x @ w + b)))",
            "One number for each token: how probable it is that another model put it there. Some models transform x′ first.",
            "You may conclude which tokens look wrong to this model. You may not conclude what it would put there instead.",
            600,
        ),
    )
}

SCORES = ("qk", "scale", "cap", "bias", "mask")
FIRST = {
    "post": ("add1", "post1"),
    "inside": ("inner1", "add1"),
    "both": ("inner1", "add1"),
}  # after W_O; elsewhere only the sum
SECOND = {
    "post": ("units", "narrow", "add2", "post2"),
    "pre": ("norm2", "units", "narrow", "add2"),
    "inside": ("units", "narrow", "inner2", "add2"),
    "both": ("norm2", "units", "narrow", "inner2", "add2"),
    "beside": ("beside2", "units", "narrow", "add2"),
    "bare": ("units", "narrow", "add2"),
}


def stations_of(attention: Attention, blocks: Sequence[Block], *, last: bool, speaks: bool) -> list[str]:
    """The stations of one attention and of what surrounds it, in the order in which this model takes them."""
    if attention.q is None:
        looks = ["softmax"]
    else:
        absent = {"turn": attention.projected_q is None and attention.projected_k is None,
                  "cap": attention.softcap is None, "bias": attention.bias is None}  # fmt: skip
        looks = [name for name in ("qkv", "turn", *SCORES, "softmax", "mix") if not absent.get(name)]
    around = _around(blocks) if blocks else (["wo"] if attention.output is not None else [])
    first = ["x", "norm1"] if blocks and blocks[0].place in ("pre", "both") else ["x"]
    heads = ["concat"] if "wo" in around and attention.q is not None else []
    return [*first, *looks, *heads, *around, *([] if last else ["up"]), *(["next"] if speaks else [])]


def _around(blocks: Sequence[Block]) -> list[str]:
    """The stations after attention."""
    parts = {block.part: block for block in blocks}
    feed = parts.get("feed-forward")
    first = ("wo", *FIRST.get(blocks[0].place, ("add1",)))
    second = () if feed is None else SECOND[feed.place]
    return [*first, *(name for name in second if name != "units" or (feed is not None and feed.units is not None))]


def prose(ids: Sequence[str], *, detects: bool = False) -> dict[str, dict[str, object]]:
    """What is said at these stations, ready to be written as JSON. A model that `detects` replaced tokens ends in another way."""
    stations = {**STATIONS, "next": STATIONS["replaced" if detects else "next"]}
    wanted = {*ids, *({"unmasked"} if "mask" in ids else ())}
    return {name: asdict(station) for name, station in stations.items() if name in wanted}
