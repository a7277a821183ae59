"""Text as a model reads it: tokens and vocabularies, how tokenizers learn them, and how several of them compare."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from explorer.errors import ChoiceError, repeated, whole
from explorer.errors.kinds import called
from explorer.records.record import Record
from explorer.records.softmax import softmax
from explorer.records.summary import Summary, listed


@dataclass(frozen=True, eq=False)
class Vocabulary(Record):
    """The size of a vocabulary and the ids of its special tokens (None where it has none)."""

    size: int
    mask: int | None = None
    pad: int | None = None
    cls: int | None = None
    sep: int | None = None
    begin: int | None = None
    end: int | None = None
    unknown: int | None = None
    sentinels: tuple[int, ...] = ()

    @property
    def last(self) -> int | None:
        """The token with which a text ends: the end token, or the separator of a vocabulary that has none."""
        return self.sep if self.end is None else self.end

    @property
    def special(self) -> tuple[int, ...]:
        """The ids that are no text: never hidden, never replaced, never drawn at random."""
        named = (self.mask, self.pad, self.cls, self.sep, self.begin, self.end, self.unknown)
        return tuple(sorted({i for i in named if i is not None} | set(self.sentinels)))


@called("Tokens")
@dataclass(frozen=True, eq=False)
class Tokens(Record):
    """One text (or pair of texts) as tokens.

    `texts` are readable in every script; `words` numbers the words (−1 for special tokens);
    `segments` is 0 for sentence A and 1 for B; `offsets` are (start, end) in the text given;
    `unseen` marks tokens that are not in the training texts, None where that is not known.
    """

    shapes = dict.fromkeys(("ids", "texts", "words", "sentences", "segments", "offsets", "special", "unseen"), ("position",))
    ids: np.ndarray
    texts: tuple[str, ...]
    words: tuple[int, ...]
    sentences: tuple[int, ...]
    segments: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    special: tuple[bool, ...]
    unseen: tuple[bool, ...] | None = None
    characters: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: int) -> str:
        """The text of one token; `ids` has its number in the vocabulary."""
        at = whole(number)
        if at is None or not -len(self) <= at < len(self):
            raise IndexError(
                f"There is no token {repeated(number)}: choose from 0 to {len(self) - 1}; .place_of(word) finds a word."
            )
        return self.texts[at]

    def summary(self) -> Summary:
        """How many there are, and what they say."""
        rows = [("texts", listed(self.texts)), ("ids", listed(map(str, self.ids.tolist())))]
        if self.unseen is not None:
            rows.append(
                ("not in the training texts", listed(self.texts[n] for n, new in enumerate(self.unseen) if new) or "none")
            )
        return f"Tokens: {len(self)}", rows

    def place_of(self, word: str) -> int:
        """The position of the first token of a word.

        >>> ex.load("bert").tokens("The dog ran.").place_of("dog")
        2
        """
        word_of = self.words.__getitem__
        for number, group in groupby(sorted(range(len(self)), key=word_of), word_of):
            places = list(group)
            whole = "".join(self.texts[n].removeprefix("##").strip("·▁") for n in places)
            if number >= 0 and whole.lower() == word.lower():
                return places[0]
        raise ChoiceError(f"There is no word {word!r} in: {listed(self.texts)}")

    @property
    def unseen_share(self) -> float:
        """The share of the tokens that are text and are not in the training texts."""
        if self.unseen is None:
            return float("nan")
        return sum(self.unseen) / max(1, len(self) - sum(self.special))

    @property
    def unseen_spans(self) -> tuple[tuple[int, int], ...]:
        """Where the words with such tokens begin and end in the text."""
        spans: dict[int, tuple[int, int]] = {}
        for word, strange, (start, end) in zip(self.words, self.unseen or (), self.offsets, strict=False):
            if strange:
                first, last = spans.get(word, (start, end))
                spans[word] = min(first, start), max(last, end)
        return tuple(spans.values())


@dataclass(frozen=True, eq=False)
class SideBySide(Record):
    """The same text as each of several tokenizers cuts it. `unknown` is the number of each one's unknown token, −1 for none."""

    text: str
    names: tuple[str, ...]
    tokens: tuple[Tokens, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Fertility(Record):
    """The same sentence in several languages: its `words` by hand, and per tokenizer its tokens and unknown ones [tokenizer, language]."""

    names: tuple[str, ...]
    languages: tuple[str, ...]
    sentences: tuple[str, ...]
    words: np.ndarray
    pieces: np.ndarray
    unknown: np.ndarray


@dataclass(frozen=True, eq=False)
class WordLabels(Record):
    """A label for each word, recovered from the labels of its tokens.

    `shares` [token, label] is what a tagger that sees one token at a time gives each token, `right` the share of words on
    new texts that each way of putting tokens together gets right, over `tried` words.
    """

    tokens: Tokens
    words: tuple[str, ...]
    gold: tuple[str, ...]
    labels: tuple[str, ...]
    shares: np.ndarray
    right: dict[str, float]
    tried: int

    def together(self, way: str) -> np.ndarray:
        """The label shares of each word [word, label], put together from those of its tokens."""
        words = np.array(self.tokens.words)
        order = np.argsort(words, kind="stable")
        starts = np.searchsorted(words[order], np.arange(len(self.words) + 1))
        return np.array([WAYS[way](self.shares[order[i:j]]) for i, j in pairwise(starts)])


def first_piece(pieces: np.ndarray) -> np.ndarray:
    """The shares of the first piece of a word; the others are not asked."""
    return np.asarray(pieces[0])


def mean_of_pieces(pieces: np.ndarray) -> np.ndarray:
    """The mean of the shares of all pieces of a word."""
    return np.asarray(pieces.mean(axis=0))


def product_of_pieces(pieces: np.ndarray) -> np.ndarray:
    """The product of the shares of all pieces of a word, made to sum to one."""
    return softmax(np.log(pieces).sum(axis=0))


WAYS = {"first token": first_piece, "mean of all tokens": mean_of_pieces, "product of all tokens": product_of_pieces}


@dataclass(frozen=True, eq=False)
class Merge(Record):
    """Two neighbouring tokens become one token, everywhere in the texts.

    `score` is what the pair was chosen by, `count` how many times it was joined, `parts` how often its two tokens stood
    in the texts before. `size` is the vocabulary and `fertility` the tokens per word after it. `before` and `after` are
    the tokens of the sample `words` on both sides of this step.
    """

    step: int
    pair: tuple[str, str]
    piece: str
    by: str
    score: float
    count: int
    parts: tuple[int, int]
    size: int
    fertility: float
    words: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Match(Record):
    """One try of the longest match: is `candidate`, which begins at letter `place` of the word, in the vocabulary?

    `rest` is what is still to be cut, `pieces` are the tokens so far. Where even one letter is unknown the whole word
    becomes the unknown token.
    """

    word: str
    place: int
    candidate: str
    found: bool
    rest: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Join(Record):
    """One step of cutting a word by BPE: of all learned merges that fit, the one learned first is done.

    `rank` is its place in the list of merges, `pieces` is the word after it. The first record of a word has rank −1 and
    holds its letters.
    """

    word: str
    rank: int
    pair: tuple[str, str]
    pieces: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Prepared(Record):
    """How far the preparation of a corpus is: bytes of the source (total 0 where nobody knows), documents and tokens."""

    done_bytes: int
    total_bytes: int
    tokens: int
    documents: int

    @property
    def share(self) -> float:
        """The share of the source that is done; not a number where its size is unknown."""
        return self.done_bytes / self.total_bytes if self.total_bytes else float("nan")
