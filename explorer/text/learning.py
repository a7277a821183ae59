"""Making a tokenizer from texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import tokenizers as library
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from explorer.errors import ChoiceError, TextError, unknown
from explorer.text.tokenizers import Seen, Tokenizer, check_text, spans

SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def tokenizer(kind: str, texts: Iterable[str], *, size: int) -> Tokenizer:
    """A tokenizer of this kind with at most `size` pieces, which remembers what it met in `texts`."""
    if not isinstance(kind, str) or kind not in TOKENIZERS:
        raise unknown("tokenizer", kind, TOKENIZERS)
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise TextError("A tokenizer is made from a list of texts. Put the text into a list.")
    if isinstance(size, bool) or not isinstance(size, int):
        raise ChoiceError(f"size={size!r} must be a whole number: how many pieces there may be.")
    held = [check_text(text) for text in texts]
    if not any(text.strip() for text in held):
        raise TextError("There is no text to make a tokenizer from.")
    made = Tokenizer(TOKENIZERS[kind](held, size))
    return Tokenizer(made.core, met(made, held))


def met(tokenizer: Tokenizer, texts: Iterable[str]) -> Seen:
    """The words and pieces that occur in these texts."""
    words: set[str] = set()
    pieces: set[int] = set(tokenizer.vocabulary.special)
    for text in texts:
        tokens = tokenizer.encode(text)
        pieces.update(tokens.ids.tolist())
        found = spans(tokens.words, [text] * len(tokens), tokens.offsets)
        words.update(tokenizer.word_of(word) for number, word in found.items() if number >= 0)
    return Seen(frozenset(words - {""}), frozenset(pieces))


def whole_words(texts: list[str], size: int) -> library.Tokenizer:
    """A WordPiece vocabulary of every letter and the most frequent whole words; rarer words fall into letters.

    It is read by longest match, as BERT's is. Ties go by alphabet, so the same texts give the same vocabulary.
    """
    core = library.Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word, _ in core.pre_tokenizer.pre_tokenize_str(core.normalizer.normalize_str(text)))
    letters = sorted({letter for word in counts for letter in word} | set("abcdefghijklmnopqrstuvwxyz0123456789"))
    pieces = [*SPECIALS, *letters, *(f"##{letter}" for letter in letters)]
    if len(pieces) > size:
        raise ChoiceError(f"size={size} is too small: the letters alone need {len(pieces)} pieces.")
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    pieces += [word for word in ranked if word not in set(letters)][: size - len(pieces)]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    core.model = models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    core.decoder = decoders.WordPiece(prefix="##")
    core.add_special_tokens(list(SPECIALS))
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")],
    )
    return core


def byte_pairs(texts: list[str], size: int) -> library.Tokenizer:
    """Byte-level BPE as in GPT-2: the 256 bytes, then the most frequent pairs, merged."""
    core = library.Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    if size <= len(alphabet):
        raise ChoiceError(f"size={size} is too small: the 256 bytes and <|endoftext|> alone need {len(alphabet) + 1} pieces.")
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False
    )
    core.train_from_iterator(texts, trainer)
    return core


TOKENIZERS: dict[str, Callable[[list[str], int], library.Tokenizer]] = {"wordpiece": whole_words, "byte-bpe": byte_pairs}
