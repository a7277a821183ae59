"""What is asked of a forward pass: lens, gradients, head statistics, positions, and two passes compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from explorer.records.edits import Edit
from explorer.records.record import Record
from explorer.records.softmax import log_softmax
from explorer.records.tokens import Tokens
from explorer.records.trace import Trace

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Lens(Record):
    """What a model would say if it ended after each layer: `texts` and `chances` [layer, position] of its best guess.

    Row 0 is what enters the first layer; `places` names the rows where some of them lie inside a layer. `best` and `shares`
    [layer, position, 3] are its three best guesses and their chances. `final` holds the chances that each layer gives to what the last
    one says; `gap` is the largest difference between the last row and the model's own scores.
    """

    shapes = {**dict.fromkeys(("texts", "chances"), ("layer", "position")), "shares": ("layer", "position", "rank")}
    model: str
    tokens: Tokens
    texts: tuple[tuple[str, ...], ...]
    chances: np.ndarray
    final: np.ndarray
    gap: float
    best: tuple[tuple[tuple[str, ...], ...], ...]
    shares: np.ndarray
    places: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """What each row is called."""
        return self.places or ("input", *(f"layer {n}" for n in range(len(self.texts) - 1)))

    @property
    def settled(self) -> np.ndarray:
        """The first row from which on the best guess is that of the last row, for each position."""
        same = np.array([[text == last for text, last in zip(row, self.texts[-1], strict=True)] for row in self.texts])
        return np.asarray(len(same) - same[::-1].cumprod(0).sum(0))


@dataclass(frozen=True, eq=False)
class Gradient(Record):
    """How the log-probability of one token at one row moves with each word: gradient × input [position], beside attention.

    `attention` [layer, position] is what that row looks at, as the mean of the heads of each layer. `integrated` [position] are
    integrated gradients, where they were asked for: they add up to `logp` − `nothing`, its value where every position
    holds the mean vector of the text.
    """

    shapes = {"values": ("position",), "integrated": ("position",), "attention": ("layer", "position")}
    model: str
    tokens: Tokens
    row: int
    piece: str
    logp: float
    values: np.ndarray
    attention: np.ndarray
    integrated: np.ndarray | None = None
    nothing: float = float("nan")


@dataclass(frozen=True, eq=False)
class Visibility(Record):
    """How strongly each output moves with each input: the length of the gradient [output, input], exactly 0 where none can be seen."""

    shapes = {"moved": ("output", "input")}
    legend = {"output": "rows", "input": "columns"}
    model: str
    rows: Tokens
    columns: Tokens
    moved: np.ndarray


@dataclass(frozen=True, eq=False)
class HeadStatistics(Record):
    """What each head of one stream does on average over some texts: by measure, [layer, head].

    `even` says by measure what a head would reach that looks at everything that it may see alike: the chance to compare with.
    `pronouns` counts those whose meaning was known.
    """

    shapes = {"measures": ("layer", "head")}
    model: str
    stream: str
    texts: int
    measures: dict[str, np.ndarray]
    even: dict[str, float] = field(default_factory=dict)
    pronouns: int = 0


@dataclass(frozen=True, eq=False)
class Places(Record):
    """One position scheme over the first positions of a text.

    `vectors` [position, dimension] are added to the embeddings, or None; `angles` [position, pair] say how far each pair of
    dimensions has turned, or None; `scores` [head, query, key] are what the positions alone contribute to the scores, which
    `meaning` puts into words. `trained` is False where the numbers are the random ones of a new model.
    """

    shapes = {"scores": ("head", "query", "key"), "vectors": ("position", "dim"), "angles": ("position", "pair")}
    scheme: str
    model: str
    slot: str
    meaning: str
    vectors: np.ndarray | None
    angles: np.ndarray | None
    scores: np.ndarray
    causal: bool
    trained: bool = True

    @property
    def label(self) -> str:
        """The scheme, whose it is, and whether it was trained."""
        whose = f" of {self.model}" if self.model else ""
        return f"{self.scheme}{whose}" + ("" if self.trained else ", not trained")


@dataclass(frozen=True, eq=False)
class Shuffle(Record):
    """One text read twice, the second time with its words in another `order` (position i then holds word order[i]).

    Everything is sorted back by word before it is compared. `moved` {"with", "without"} [layer + 1, word] is how far each
    state moved, in shares of its length, with positions and without; NaN where a word of a decoder no longer sees the same
    words. `weights` {"with", "without"} [2, layer, head, query, key] are both runs' attention.
    """

    shapes = {"moved": ("layer", "word"), "order": ("position",)}
    legend = {"word": "tokens"}
    model: str
    family: str
    tokens: Tokens
    order: np.ndarray
    moved: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Comparison(Record):
    """Before and after, position by position.

    `weights` holds for each stream the largest change of a weight [layer, head]; `hidden` how far each state moved, as a
    share of its length before [layer + 1, position]; `surprise` is −log p of the token at the position that a row predicts,
    before and after [2, row], NaN where no such token is known; `loss` their means; `answers` the likeliest token of each
    row before and after.
    """

    shapes = {"surprise": ("run", "row")}
    tokens: Tokens
    weights: Mapping[str, np.ndarray]
    hidden: Mapping[str, np.ndarray]
    surprise: np.ndarray
    loss: tuple[float, float]
    answers: tuple[tuple[str, str], ...]

    @property
    def changed(self) -> tuple[int, ...]:
        """The rows whose likeliest token is another one now."""
        return tuple(row for row, (before, after) in enumerate(self.answers) if before != after)


@dataclass(frozen=True, eq=False)
class Change(Record):
    """A trace `before` and one `after` some edits, of the same text."""

    before: Trace
    after: Trace

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What was changed."""
        return self.after.edits

    @property
    def divergence(self) -> np.ndarray:
        """How far the predictions moved at each row: KL(before ‖ after) in bits."""
        return divergence(self.before.outputs["lm"], self.after.outputs["lm"])

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """A row for each token: how far its prediction moved, in bits, and the likeliest token before and after.

        >>> change = ex.change("bert", "A dog ran.", edits=[ex.SilenceHead("encoder", layer=1, head=0)])
        >>> list(change.to_frame())
        ['position', 'token', 'divergence', 'before', 'after']
        """
        from explorer.records.tables import rows_where, table_of

        tops = {"before": self.before.top, "after": self.after.top}
        likeliest = {name: [row[0] for row in top.texts] for name, top in tops.items() if top is not None}
        if what or len(likeliest) < len(tops):
            return super().to_frame(what, **where)
        read = (self.before.source if self.before.target is None else self.before.target).texts
        return rows_where(
            table_of({"position": range(len(read)), "token": read, "divergence": self.divergence} | likeliest), where
        )

    def downstream(self, stream: str) -> np.ndarray:
        """The largest change of a weight in each head of a stream [layer, head]."""
        pairs = [(a, b) for a, b in zip(self.before.attention, self.after.attention, strict=True) if a.stream == stream]
        return np.stack([np.abs(a.weights - b.weights).max(axis=(1, 2)) for a, b in pairs])


@dataclass(frozen=True, eq=False)
class Damage(Record):
    """What silencing each part alone does to the predictions for a text: mean KL in bits.

    `heads` [layer, head], `parts` [layer, part] with their `names`, and `whole` [layer] for all heads of a layer at once.
    """

    shapes = {"heads": ("layer", "head"), "parts": ("layer", "part"), "whole": ("layer",)}
    legend = {"part": "names"}
    model: str
    stream: str
    heads: np.ndarray
    parts: np.ndarray
    names: tuple[str, ...]
    whole: np.ndarray


def divergence(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """KL(before ‖ after) of each row of raw scores, in bits."""
    first, second = (log_softmax(scores.astype(np.float64)) for scores in (before, after))
    moved = (np.exp(first) * (first - second)).sum(-1) / np.log(2)
    return np.asarray(np.maximum(moved, 0.0))


@dataclass(frozen=True, eq=False)
class MinimalScores(Record):
    """What a model prefers in minimal pairs: `logp` [pair, text, choice]; in text n the choice n is right.

    `texts` [pair, text] are complete and right, `choices` [pair, choice] what was compared, `kinds` [pair] what each pair is about.
    `rule` [pair, text] is the choice of the trivial rule that `rule_name` names.
    """

    shapes = {"logp": ("pair", "text", "choice"), "rule": ("pair", "text"), "texts": ("pair", "text"), "kinds": ("pair",)}
    model: str
    phenomenon: str
    inside: bool  # whether sentences of a story come first
    texts: tuple[tuple[str, str], ...]
    choices: tuple[tuple[str, str], ...]
    kinds: tuple[str, ...]
    lecture: tuple[bool, ...]
    logp: np.ndarray
    rule: np.ndarray
    rule_name: str

    @property
    def right(self) -> np.ndarray:
        """Whether the right choice is the more probable one [pair, text]; a tie is no right answer."""
        return np.stack([self.logp[:, n, n] > self.logp[:, n, 1 - n] for n in (0, 1)], axis=1)

    @property
    def accuracy(self) -> float:
        """The share of texts in which the right choice is preferred: 0.5 by chance."""
        return float(self.right.mean())

    @property
    def both(self) -> float:
        """The share of pairs in which it is preferred in both texts: 0.25 by chance, 0 for whoever ignores the word that differs."""
        return float(self.right.all(axis=1).mean())

    @property
    def rule_both(self) -> float:
        """The share of pairs in which the trivial rule is right in both texts."""
        return float((self.rule == np.arange(2)).all(axis=1).mean())


@dataclass(frozen=True, eq=False)
class HeadSearch(Record):
    """The heads of a model that find a hidden word elsewhere in its text, chosen on one half of the questions, judged on the other.

    For each phenomenon `heads` [phenomenon, chosen, (layer, head)] are the best on the first half, where every head is right in the
    share `every` [phenomenon, layer, head]. `kept` [phenomenon, chosen] is their share on the other half of `questions`, and `rules`
    what rules that need no model reach there. `intact` is how often the model itself is right there, `silenced` the same without the
    chosen heads, and `others` [phenomenon, draw] without as many other ones.
    """

    model: str
    phenomena: tuple[str, ...]
    heads: np.ndarray
    every: np.ndarray
    kept: np.ndarray
    rules: dict[str, np.ndarray]
    intact: np.ndarray
    silenced: np.ndarray
    others: np.ndarray
    questions: np.ndarray

    @property
    def best_rule(self) -> np.ndarray:
        """The best that any rule reaches, for each phenomenon."""
        return np.asarray(np.max(list(self.rules.values()), axis=0))

    @property
    def lowest(self) -> np.ndarray:
        """The lower end of the 95% interval (Wilson) of the best head's share on the other half."""
        n, z = self.questions, 1.959963984540054
        share, square = self.kept.max(axis=1), z * z / self.questions
        wide = np.sqrt(share * (1 - share) / n + square / (4 * n)) * z
        return np.asarray((share + square / 2 - wide) / (1 + square))

    @property
    def finds(self) -> np.ndarray:
        """Whether a chosen head is clearly better than every rule."""
        return np.asarray(self.lowest > self.best_rule)

    @property
    def needed(self) -> np.ndarray:
        """Whether the model loses more without the chosen heads than without any of the other sets of as many."""
        return np.asarray(self.silenced < np.nanmin(self.others, axis=1))
