"""Making a tokenizer from texts: `learn` shows every step, `tokenizer` gives the result."""

from __future__ import annotations

import json
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import tokenizers as library
from tokenizers import models, pre_tokenizers, trainers

from explorer.errors import ChoiceError, TextError, check_whole, is_many, unknown
from explorer.errors.kinds import checked
from explorer.errors.waiting import during
from explorer.records import Merge
from explorer.text.kinds import CUTS, SPECIALS, UNKNOWN, check_specials, framed, sentinels, unknown_of, words_of
from explorer.text.learner import INSIDE, SHOWN, Learner, plain_letters, word_letters
from explorer.text.opening import AnyTokenizer, TheirTokenizer, as_tokenizer
from explorer.text.pairs import WAYS
from explorer.text.tokenizers import Seen, Tokenizer, check_text

LIBRARY_SIZE, LIBRARY_LETTERS = 10_000, 50_000_000  # beyond these the library does the same work, out of sight but faster
SAMPLES = 8
AHEAD = 0.001  # nats by which Unigram prefers a frequent word to the tokens that it could be cut into
MARK = "\1"  # a letter that no text has
LARGEST = 1_000_000  # tokens: the library takes memory for all of them at once, and the process ends where there is too little


@dataclass(frozen=True)
class Order:
    """The settings of a training: the texts and their words, the size, how pairs are chosen, the special tokens."""

    kind: str
    texts: list[str]
    words: Counter[str]
    size: int
    by: str
    specials: tuple[str, ...]
    marks: int
    whole: int = 0  # a word that occurs so often becomes one token; 0: only if it comes about
    letters: str = ""  # these are tokens from the beginning, also where no text has them

    def often(self) -> list[str]:
        """The words that must become one token, short ones first."""
        frequent = [word for word, count in self.words.items() if count >= self.whole] if self.whole else []
        return sorted(frequent, key=lambda word: (len(word), word))


@checked
def learn(
    kind: str,
    texts: Iterable[str],
    *,
    size: int,
    by: str = "count",
    specials: Sequence[str] | None = None,
    watch: Sequence[str] = (),
) -> Iterator[Merge]:
    """Every merge that makes this vocabulary, one record a step, with the tokens of the words to `watch`.

    `kind` is "wordpiece", "bpe" or "byte-bpe". `by="count"` joins the most frequent pair of neighbours, as the `tokenizers` library
    does for all three; `by="score"` is the lecture's WordPiece: freq(ab) / (freq(a) · freq(b)). The vocabulary is the same every
    time: among equals the pair whose tokens are older goes first. (The library's own WordPiece trainer numbers its letters at random,
    so its ties are broken differently from run to run.)

    >>> first = next(iter(ex.learn("bpe", ["a dog and a dot"] * 3, size=40)))
    >>> first.step, first.pair
    (1, ('·', 'a'))
    """
    order = ordered(kind, texts, size, by, specials, 0)
    if kind not in SHOWN:
        raise ChoiceError(f"A {kind} tokenizer is not learned by merges. These are: {', '.join(SHOWN)}.")
    core = CUTS[kind]()
    watched = [word for text in watch for word in words_of(core, f" {check_text(text)}")]
    return learner(order).run(size, watched or frequent(order.words), SHOWN[kind])


@checked
def tokenizer(  # noqa: PLR0913  each is a choice of its own
    kind: str | Path | Tokenizer | TheirTokenizer,
    texts: Iterable[str] | None = None,
    *,
    size: int | None = None,
    by: str = "count",
    specials: Sequence[str] | None = None,
    sentinels: int | None = None,
    whole: int = 0,
    letters: str = "",
) -> Tokenizer:
    """A tokenizer of this kind with at most `size` tokens, which remembers the words and tokens of `texts`.

    Without texts, the tokenizer in a file (`ex.tokenizer("bpe.json")`), or a copy of one of the `tokenizers` or `transformers` library.

    A learned one is the result of the last step of `learn`. Above 10,000 tokens or 50 million letters the `tokenizers` library does the
    same merges, faster. `specials` names the special tokens in the order of their ids, for example ("<s>", "<pad>", "</s>", "<unk>",
    "<mask>") for a byte-bpe like BART's; `sentinels` is how many marks for hidden spans there are (100 for unigram, as in T5,
    otherwise none). Every word that occurs at least `whole` times in the texts becomes one token (0: only if it comes about). The
    characters of `letters` are tokens, also where no text has them.

    >>> ex.tokenizer("bpe", ["a dog and a dot"] * 3, size=40).encode("a dog").texts[0]
    '·a'
    """
    if texts is None or size is None:
        return _opened(kind, texts, size)
    marks = (100 if kind == "unigram" else 0) if sentinels is None else sentinels
    check_whole("whole", whole, 0)  # how often a word occurs that becomes one token; 0: none must
    order = replace(ordered(cast(str, kind), texts, size, by, specials, marks), whole=whole, letters=check_text(letters))
    with during("Learning the tokenizer"):
        learned = Tokenizer(TOKENIZERS[order.kind](order))
        check_whole_words(learned.core, order)
        return Tokenizer(learned.core, met(learned, order.words))


def _opened(given: AnyTokenizer, texts: Iterable[str] | None, size: int | None) -> Tokenizer:
    """The tokenizer that somebody brought along, where there are no texts to learn one from."""
    if texts is None and size is None and not (isinstance(given, str) and given in TOKENIZERS):
        return as_tokenizer(given)
    raise ChoiceError(
        f"A tokenizer is learned from texts, to a size: ex.tokenizer('bpe', texts, size=2000). "
        f"{'The texts are' if texts is None else 'size=… is'} missing."
    )


def check_whole_words(core: library.Tokenizer, order: Order) -> None:
    """Refuse a tokenizer that still cuts words which should be one token."""
    often = order.often()
    cut = sum(is_cut(core, word) for word in often)
    if cut:
        raise ChoiceError(
            f"size={order.size} is too small: {cut:,} of the {len(often):,} words that occur {order.whole} times or more are still cut. "
            "Give a larger size, or a larger whole=…."
        )


def cut_words(tokenizer: Tokenizer, words: Counter[str]) -> Counter[str]:
    """Those of the words (from `word_counts`) that this tokenizer cuts into several tokens, with how often each occurs.

    >>> made = tokenizer("bpe", ["a dog and a dot"] * 3, size=40, whole=3)
    >>> cut_words(made, word_counts("bpe", ["a dog and a cat"]))
    Counter({'▁cat': 1})
    """
    return Counter({word: count for word, count in words.items() if is_cut(tokenizer.core, word)})


def is_cut(core: library.Tokenizer, word: str) -> bool:
    """Whether a word, as this tokenizer finds it in a text, becomes several tokens or none of its own."""
    tokens = core.model.tokenize(word)
    return len(tokens) != 1 or tokens[0].value in UNKNOWN


def ordered(kind: str, texts: Iterable[str], size: int, by: str, specials: Sequence[str] | None, marks: int) -> Order:
    """The settings, checked."""
    if not isinstance(kind, str) or kind not in TOKENIZERS:
        raise unknown("tokenizer", kind, TOKENIZERS)
    if isinstance(texts, str) or not is_many(texts):
        raise TextError("A tokenizer is made from a list of texts. Put the text into a list.")
    for name, number in (("size", size), ("sentinels", marks)):
        check_whole(name, number, 0, LARGEST)
    if by not in WAYS:
        raise unknown("way to choose a pair", by, WAYS)
    names = check_specials(specials, SPECIALS[kind], kind != "byte-bpe")
    checked_texts = [check_text(text) for text in texts]
    words = count_words(CUTS[kind](), checked_texts)
    if not words or not any(text.strip() for text in checked_texts):
        raise TextError("There is no text to make a tokenizer from.")
    return Order(kind, checked_texts, words, size, by, names, marks)


@checked
def word_counts(kind: str, texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs in texts, cut into words as this kind of tokenizer does before it cuts words into tokens.

    >>> word_counts("wordpiece", ["A dog, a cat."])["a"]
    2
    """
    if kind not in CUTS:
        raise unknown("tokenizer", kind, CUTS)
    return count_words(CUTS[kind](), texts)


def count_words(core: library.Tokenizer, texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs, in the order in which the words first occur."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(words_of(core, text))
    return counts


def frequent(words: Counter[str]) -> list[str]:
    """Some words worth watching: the most frequent ones of four letters and more."""
    long = sorted((word for word in words if sum(c.isalpha() for c in word) >= 4), key=lambda word: (-words[word], word))
    return long[:SAMPLES]


def met(tokenizer: Tokenizer, words: Iterable[str]) -> Seen:
    """The words of the texts, as a reader writes them, and their tokens."""
    tokens: set[int] = set(tokenizer.vocabulary.special)
    written: set[str] = set()
    for word in words:
        tokens.update(piece.id for piece in tokenizer.core.model.tokenize(word))
        written.add(tokenizer.word_of(tokenizer.written(word)))
    return Seen(frozenset(written - {""}), frozenset(tokens))


def alphabet(order: Order) -> list[str]:
    """What the vocabulary begins with: the special tokens, then the letters in the order of their code."""
    if order.kind == "byte-bpe":
        letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    else:
        letters = sorted({*order.letters, *(letter for word in order.words for letter in word)})
    if order.kind == "wordpiece":
        letters = sorted({*letters, *string.ascii_lowercase, *string.digits})
        letters += [INSIDE + letter for letter in letters]
    start = list(dict.fromkeys([*order.specials, *letters]))
    if len(start) > order.size - order.marks:
        raise ChoiceError(
            f"size={order.size} is too small: the letters and special tokens alone need {len(start) + order.marks} tokens."
        )
    return start


def learner(order: Order) -> Learner:
    """A learner before its first merge."""
    split = word_letters if order.kind == "wordpiece" else plain_letters
    return Learner(weighted(order), alphabet(order), split, order.by, unknown_of(order.specials))


def weighted(order: Order) -> Counter[str]:
    """How much each word counts: one that must become a single token more than all the others together, so that it is joined first."""
    often = set(order.often())
    rest = 1 + sum(count for word, count in order.words.items() if word not in often)
    return (
        Counter({word: count * rest if word in often else count for word, count in order.words.items()})
        if often
        else order.words
    )


def learned_merges(order: Order) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The vocabulary and its merges, by our own steps or, for large corpora, by the library's."""
    size = order.size - order.marks
    big = order.size > LIBRARY_SIZE or sum(map(len, order.texts)) > LIBRARY_LETTERS
    if big and order.by == "count" and not order.whole:
        return merged_by_library(order, size)
    steps = learner(order)
    for _ in steps.run(size, (), str):
        pass
    return steps.vocabulary, steps.merges


def merged_by_library(order: Order, size: int) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The same, by the library; its letters are numbered beforehand, so that WordPiece's ties are broken as ours are."""
    core = CUTS[order.kind]()
    inside: dict[str, Any] = {"continuing_subword_prefix": INSIDE} if order.kind == "wordpiece" else {}
    core.model = models.BPE(**inside)
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=alphabet(order), show_progress=False, **inside)
    core.train_from_iterator(order.texts, trainer)
    model: dict[str, Any] = json.loads(core.to_str())["model"]
    return model["vocab"], [(first, second) for first, second in model["merges"]]


def with_marks(vocabulary: dict[str, int], order: Order) -> dict[str, int]:
    """The vocabulary with the marks for hidden spans at its end."""
    return vocabulary | {name: len(vocabulary) + n for n, name in enumerate(sentinels(order.marks))}


def dressed(core: library.Tokenizer, order: Order) -> library.Tokenizer:
    """The tokenizer with all its special tokens."""
    return framed(core, (*order.specials, *sentinels(order.marks)))


def wordpiece(order: Order) -> library.Tokenizer:
    """BERT's kind: joined letter by letter, then read by longest match."""
    core = CUTS[order.kind]()
    vocabulary = with_marks(learned_merges(order)[0], order)
    core.model = models.WordPiece(vocabulary, unk_token=unknown_of(order.specials), max_input_chars_per_word=100)
    return dressed(core, order)


def byte_pairs(order: Order) -> library.Tokenizer:
    """Byte-pair encoding, over letters (GPT, the Transformer) or over bytes (GPT-2 and after): merges, replayed in order."""
    core = CUTS[order.kind]()
    vocabulary, merges = learned_merges(order)
    core.model = models.BPE(with_marks(vocabulary, order), merges, unk_token=unknown_of(order.specials))
    return dressed(core, order)


def unigram(order: Order) -> library.Tokenizer:
    """T5's kind, trained by the library: it begins with far too many tokens and drops those that cost the least likelihood.

    The library begins with what occurs in at least two *different* words, however frequent a word is. With few different words most
    of them would never become a token, so each is given in two forms: as it is, and with a mark that is removed again.
    """
    alphabet(order)
    core, drill = CUTS[order.kind](), library.Tokenizer(models.Unigram())
    drill.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    name = unknown_of(order.specials)
    trainer = trainers.UnigramTrainer(
        vocab_size=1 + order.size - order.marks,
        special_tokens=list(order.specials),
        unk_token=name,
        show_progress=False,
        n_sub_iterations=4,
        initial_alphabet=sorted(set(order.letters)),
    )
    drill.train_from_iterator((f"{word} " * n for word, n in twice(order.words)), trainer)
    model: dict[str, Any] = json.loads(drill.to_str())["model"]
    plain = [(piece, score) for piece, score in model["vocab"] if MARK not in piece]
    plain = with_words(plain, order.often(), model["unk_id"])
    core.model = models.Unigram(settled(plain, len(order.specials)), model["unk_id"])
    return dressed(core, order)


def with_words(tokens: list[tuple[str, float]], often: Sequence[str], unknown: int) -> list[tuple[str, float]]:
    """Unigram's tokens with these words among them, each a little likelier than the tokens that it would be cut into.

    Short words come first: the tokens of a longer word are all shorter than the word itself.
    """
    scores = dict(tokens)
    worst = min(scores.values())
    for _, words in groupby(often, key=len):
        core = models.Unigram(list(scores.items()), unknown)
        for word in words:
            parts = [piece.value for piece in core.tokenize(word)]
            if parts != [word]:
                scores[word] = sum(scores.get(part, worst) for part in parts) + AHEAD
    return list(scores.items())


def twice(words: Counter[str]) -> Iterator[tuple[str, int]]:
    """Every word as it is and with a mark after it, each half as often (at least once)."""
    for word, count in words.items():
        yield word, (count + 1) // 2
        yield f"{word}{MARK}", max(1, count // 2)


def settled(tokens: Sequence[tuple[str, float]], specials: int) -> list[tuple[str, float]]:
    """Unigram's tokens in an order that is the same every time.

    The library adds up in a random order, so the last digits of its scores differ from run to run; and letters that it dropped and
    must take back get scores 0.0001 apart at the very end, in random order.
    """
    first, body = [(name, 0.0) for name, _ in tokens[:specials]], [(name, round(score, 6)) for name, score in tokens[specials:]]
    body.sort(key=lambda piece: (-piece[1], piece[0]))
    cut = len(body)
    while cut and len(body[cut - 1][0]) == 1 and (cut == len(body) or body[cut - 1][1] - body[cut][1] < 0.00015):
        cut -= 1
    letters = sorted(name for name, _ in body[cut:])
    return first + body[:cut] + [(name, score) for name, (_, score) in zip(letters, body[cut:], strict=True)]


def whole_words(order: Order) -> library.Tokenizer:
    """One token for each of the most frequent words (ties by alphabet); every other word is unknown."""
    core = CUTS[order.kind]()
    room = order.size - order.marks - len(order.specials)
    if room < 1:
        raise ChoiceError(f"size={order.size} is too small: the special tokens alone need {order.size - room} tokens.")
    ranked = sorted(order.words, key=lambda word: (-order.words[word], word))
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys([*order.specials, *ranked[:room]]))}
    core.model = models.WordLevel(with_marks(vocabulary, order), unk_token=unknown_of(order.specials))
    return dressed(core, order)


TOKENIZERS = {
    "wordpiece": wordpiece,
    "bpe": byte_pairs,
    "byte-bpe": byte_pairs,
    "unigram": unigram,
    "words": whole_words,
    "characters": whole_words,
}
