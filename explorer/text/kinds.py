"""How each kind of tokenizer cuts a text into words (pre-tokenization), and its special tokens, before training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tokenizers as library
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from explorer.errors import ChoiceError

SPACE = "▁"
# Letters with their marks, digits, and everything else: each with the space before it, which is written ▁.
RUNS = Regex(r"▁?[\p{L}\p{M}]+|▁?\p{N}+|▁?[^\s\p{L}\p{M}\p{N}▁]+|▁")
UNKNOWN = ("[UNK]", "<unk>", "<UNK>")
MASKS = ("[MASK]", "<mask>")
# Templates for one text and for a pair: the first line is taken for which the tokenizer has all special tokens.
FRAMES = (
    (("[CLS]", "[SEP]"), "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"),  # BERT
    (("<s>", "</s>"), "<s> $A </s>", "<s> $A </s> </s> $B </s>"),  # RoBERTa, BART
    (("<S>", "</S>"), "<S> $A </S>", "<S> $A </S> <S> $B </S>"),  # ELMo
    (("</s>",), "$A </s>", "$A </s> $B </s>"),  # T5, the Transformer's source
)


def lower() -> library.Tokenizer:
    """BERT's words: lower case, no accents, cut at spaces and around every punctuation mark."""
    core = library.Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.decoder = decoders.WordPiece(prefix="##")
    return core


def spaced_words() -> library.Tokenizer:
    """Words with the space before them as a letter, ▁; letters, digits and signs are kept apart."""
    core = library.Tokenizer(models.BPE())
    core.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " ")])
    marked = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="first", split=False)
    core.pre_tokenizer = pre_tokenizers.Sequence([marked, pre_tokenizers.Split(RUNS, "isolated")])
    core.decoder = decoders.Metaspace(replacement=SPACE, prepend_scheme="first")
    return core


def byte_level() -> library.Tokenizer:
    """GPT-2's words, the space before each included, written as bytes: nothing is unknown and nothing is lost."""
    core = library.Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    return core


def whole() -> library.Tokenizer:
    """Words as they are written, capitals and accents kept, cut at spaces and around every punctuation mark."""
    core = library.Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    core.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.decoder = decoders.WordPiece(prefix="##")
    return core


def words_of(core: library.Tokenizer, text: str) -> list[str]:
    """The words that this kind of tokenizer cuts a text into, before any word is cut into tokens."""
    plain = core.normalizer.normalize_str(text) if core.normalizer else text
    return [word for word, _ in core.pre_tokenizer.pre_tokenize_str(plain)]


def unknown_of(specials: Sequence[str]) -> str | None:
    """The special token for what is unknown."""
    return next((name for name in specials if name in UNKNOWN), None)


def sentinels(count: int) -> list[str]:
    """T5's marks for hidden spans. As in T5 the first mark, <extra_id_0>, has the highest id."""
    return [f"<extra_id_{number}>" for number in reversed(range(count))]


def framed(core: library.Tokenizer, specials: Sequence[str]) -> library.Tokenizer:
    """The tokenizer with its special tokens, and with the template that adds them to a text."""
    glued = isinstance(core.pre_tokenizer, pre_tokenizers.BertPreTokenizer)  # there a space is never part of a token
    core.add_special_tokens([AddedToken(name, special=True, lstrip=name in MASKS and not glued) for name in specials])
    for names, single, pair in FRAMES:
        if set(names) <= set(specials):
            ids = [(name, core.token_to_id(name)) for name in names]
            core.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)
            break
    return core


def check_specials(specials: object, default: Sequence[str], needs_unknown: bool) -> tuple[str, ...]:
    """The names of the special tokens in the order of their ids."""
    if specials is None:
        return tuple(default)
    if isinstance(specials, str) or not isinstance(specials, Sequence) or not all(s and isinstance(s, str) for s in specials):
        raise ChoiceError(f"specials={specials!r} must be a list of names, for example {list(default)}.")
    if len(set(specials)) < len(specials):
        raise ChoiceError(f"specials={list(specials)} names a token twice. Give each name once.")
    if needs_unknown and unknown_of(specials) is None:
        raise ChoiceError(f"specials={list(specials)} has no token for what is unknown. Add one of: {', '.join(UNKNOWN)}.")
    return tuple(specials)


CUTS: dict[str, Callable[[], library.Tokenizer]] = {
    "wordpiece": lower,
    "bpe": spaced_words,
    "byte-bpe": byte_level,
    "unigram": spaced_words,
    "words": whole,
    "characters": whole,
}
SPECIALS: dict[str, tuple[str, ...]] = {
    "wordpiece": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "bpe": ("<|endoftext|>", "<unk>"),
    "byte-bpe": ("<|endoftext|>",),
    "unigram": ("<pad>", "</s>", "<unk>"),
    "words": ("<pad>", "<unk>", "<s>", "</s>"),
    "characters": ("<PAD>", "<UNK>", "<S>", "</S>"),
}
