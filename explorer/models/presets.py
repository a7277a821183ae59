"""Every named system, and the sizes it comes in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.errors import unknown


@dataclass(frozen=True)
class Preset:
    """A system by name: its architecture, the tokenizer and the objective that belong to it."""

    name: str
    architecture: dict[str, Any]
    sizes: Mapping[str, Mapping[str, Any]]
    tokenizer: str
    objective: str
    specials: tuple[str, ...] | None = None  # the special tokens of its tokenizer, where they are not those of its kind
    pieces: int = 0  # the vocabulary size of its tokenizer at the smallest size, where it is not the usual one
    start: str = "pad"  # what an encoder-decoder begins every target with
    corpus: str = "microworld"
    teacher: str = ""  # the shipped model that teaches it, where there is one
    plan: dict[str, Any] = field(default_factory=dict)  # its schedule and other settings of its training
    tiny: dict[str, Any] = field(
        default_factory=dict
    )  # settings with which its smallest size learns most in five minutes on two cores


def shape(dim: int, layers: int, heads: int, length: int) -> dict[str, int]:
    """The dimensions of a size; the feed-forward layer has four times as many."""
    return {"dim": dim, "layers": layers, "heads": heads, "hidden": 4 * dim, "length": length}


BERT = Preset(
    "bert",
    {"family": "encoder", "positions": "learned", "norm_place": "post", "segments": 2, "head_transform": True,
     "head_bias": True, "next_sentence": True},
    {"tiny": shape(64, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 6, 8, 256), "base": shape(768, 12, 12, 512)},
    tokenizer="wordpiece",
    objective="mlm+nsp",
    plan={"schedule": "linear"},
    tiny={"steps": 9000, "batch": 16, "mask_rate_first": 0.5, "mask_rate": 0.15},
)  # fmt: skip

DEBERTA = Preset(
    "deberta",
    {"family": "encoder", "positions": "disentangled", "norm_place": "post", "norm_epsilon": 1e-7, "head_transform": True,
     "head_bias": True},
    {"tiny": shape(64, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 6, 8, 256), "base": shape(768, 12, 12, 512)},
    tokenizer="wordpiece",
    objective="mlm",
    plan={"schedule": "linear"},
    tiny={"steps": 4500, "batch": 16, "mask_rate_first": 0.5, "mask_rate": 0.15},
)  # fmt: skip

SPANBERT = Preset(
    "spanbert",
    {"family": "encoder", "positions": "learned", "norm_place": "post", "segments": 1, "head_transform": True,
     "head_bias": True, "span_boundary": True},
    {"tiny": shape(64, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 6, 8, 256), "base": shape(768, 12, 12, 512)},
    tokenizer="wordpiece",
    objective="mlm+sbo",
    plan={"schedule": "linear"},
    tiny={"steps": 5000, "batch": 16, "mask_rate_first": 0.5, "mask_rate": 0.15},
)  # fmt: skip

DISTILBERT = Preset(
    "distilbert",
    {"family": "encoder", "positions": "learned", "norm_place": "post", "head_transform": True, "head_bias": True},
    {"tiny": shape(64, 1, 4, 128), "mini": shape(128, 2, 4, 128), "small": shape(256, 3, 8, 256), "base": shape(768, 6, 12, 512)},
    tokenizer="wordpiece",
    objective="distillation",
    teacher="bert-tiny",
    plan={"schedule": "linear"},
    tiny={"steps": 2500, "batch": 16, "mask_rate_first": 0.5, "mask_rate": 0.2},
)  # fmt: skip

GPT2 = Preset(
    "gpt2",
    {"family": "decoder", "positions": "learned", "norm_place": "pre", "norm_epsilon": 1e-5, "embedding_norm": False,
     "final_norm": True, "activation": "gelu-tanh"},
    {"tiny": shape(128, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 6, 8, 256), "base": shape(768, 12, 12, 1024)},
    tokenizer="byte-bpe",
    objective="causal",
    tiny={"steps": 4000, "batch": 16},
)  # fmt: skip

GPT = Preset(
    "gpt",
    {"family": "decoder", "positions": "learned", "norm_place": "post", "norm_epsilon": 1e-5, "embedding_norm": False,
     "activation": "gelu-tanh"},
    {"tiny": shape(128, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 6, 8, 256), "base": shape(768, 12, 12, 512)},
    tokenizer="bpe",
    objective="causal",
    tiny={"steps": 4000, "batch": 16},
)  # fmt: skip

# As many keys and values as queries, as in LLaMA 1; grouped from Llama 2 (70B) on: kv_heads=2, in every size.
LLAMA = Preset(
    "llama",
    {"family": "decoder", "positions": "rope", "norm": "rms", "norm_place": "pre", "norm_epsilon": 1e-6, "embedding_norm": False,
     "final_norm": True, "activation": "swiglu", "bias": False, "tied": False},
    {"tiny": shape(128, 2, 4, 128) | {"hidden": 344}, "mini": shape(128, 4, 4, 128) | {"hidden": 344},
     "small": shape(256, 6, 8, 256) | {"hidden": 688},
     "base": shape(4096, 32, 32, 2048) | {"hidden": 11008}},
    tokenizer="byte-bpe",
    objective="causal",
    tiny={"steps": 2500, "batch": 16},
)  # fmt: skip

TRANSFORMER = Preset(
    "transformer",
    {"family": "encoder-decoder", "positions": "sinusoidal", "norm_place": "post", "norm_epsilon": 1e-5,
     "embedding_norm": False, "embedding_scale": True, "activation": "relu", "head_bias": True},
    {"tiny": shape(128, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 4, 8, 256), "base": shape(512, 6, 8, 512)},
    tokenizer="bpe",
    objective="translation",
    specials=("<pad>", "</s>", "<unk>"),
    corpus="english-french-2.2",
    plan={"schedule": "noam", "smoothing": 0.1},
    tiny={"steps": 5000, "batch": 32, "warm": 0.03},
)  # fmt: skip

BART = Preset(
    "bart",
    {"family": "encoder-decoder", "positions": "learned", "norm_place": "post", "norm_epsilon": 1e-5, "head_bias": True,
     "tables": "random"},
    {"tiny": shape(128, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 4, 8, 256), "base": shape(768, 6, 12, 1024)},
    tokenizer="byte-bpe",
    objective="denoising",
    specials=("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
    start="end",
    tiny={"steps": 2600, "batch": 16},
)  # fmt: skip

T5 = Preset(
    "t5",
    {"family": "encoder-decoder", "positions": "t5", "norm": "rms", "norm_place": "pre", "norm_epsilon": 1e-6, "embedding_norm": False,
     "final_norm": True, "activation": "relu", "bias": False, "scaled": False, "scaled_head": True},
    {"tiny": shape(128, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 4, 8, 256), "base": shape(768, 12, 12, 512)},
    tokenizer="unigram",
    objective="span-to-text",
    tiny={"steps": 2400, "batch": 16, "mask_rate_first": 0.5, "mask_rate": 0.15},
)  # fmt: skip

# Full sentences in every row, no next sentence, no segments; another mask whenever a text comes again.
ROBERTA = Preset(
    "roberta",
    {"family": "encoder", "positions": "learned", "norm_place": "post", "norm_epsilon": 1e-5, "head_transform": True,
     "head_bias": True},
    {"tiny": shape(64, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 6, 8, 256), "base": shape(768, 12, 12, 512)},
    tokenizer="byte-bpe",
    objective="mlm",
    specials=("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
    plan={"schedule": "linear", "packed": True},
    tiny={"steps": 5000, "batch": 16, "mask_rate_first": 0.5, "mask_rate": 0.15},
)  # fmt: skip

OLMO = Preset(
    "olmo",
    {"family": "decoder", "positions": "rope", "norm": "bare", "norm_place": "pre", "norm_epsilon": 1e-5, "embedding_norm": False,
     "final_norm": True, "activation": "swiglu", "bias": False},
    {"tiny": shape(128, 2, 4, 128) | {"hidden": 344}, "mini": shape(128, 4, 4, 128) | {"hidden": 344},
     "small": shape(256, 6, 8, 256) | {"hidden": 688},
     "base": shape(2048, 16, 16, 2048)},
    tokenizer="byte-bpe",
    objective="causal",
    tiny={"steps": 2500, "batch": 16},
)  # fmt: skip

OLMO2 = Preset(
    "olmo2",
    {**OLMO.architecture, "norm": "rms", "norm_place": "inside", "norm_epsilon": 1e-6, "qk_norm": True, "rope_base": 500_000.0,
     "tied": False},
    {**OLMO.sizes, "base": shape(2048, 16, 16, 4096)},
    tokenizer="byte-bpe",
    objective="causal",
    tiny={"steps": 2500, "batch": 16},
)  # fmt: skip

PEGASUS = Preset(
    "pegasus",
    {"family": "encoder-decoder", "positions": "sinusoidal-halves", "norm_place": "pre", "norm_epsilon": 1e-5,
     "embedding_norm": False, "final_norm": True, "embedding_scale": True, "activation": "relu", "head_bias": True},
    {"tiny": shape(128, 2, 4, 128), "mini": shape(128, 4, 4, 128), "small": shape(256, 4, 8, 256), "base": shape(768, 12, 12, 512)},
    tokenizer="unigram",
    objective="gap-sentence",
    specials=("<pad>", "</s>", "<unk>", "<mask>"),
    tiny={"steps": 2500, "batch": 16},
)  # fmt: skip

ELECTRA = Preset(
    "electra",
    {"family": "encoder", "positions": "learned", "norm_place": "post", "segments": 2, "replaced": True},
    {"tiny": shape(64, 2, 4, 128) | {"generator": 16}, "mini": shape(128, 4, 4, 128) | {"generator": 32},
     "small": shape(256, 6, 8, 256) | {"embedding": 128, "generator": 64},
     "base": shape(768, 12, 12, 512) | {"generator": 256}},
    tokenizer="wordpiece",
    objective="replaced",
    plan={"schedule": "linear"},
    tiny={"steps": 9000, "batch": 16, "random_until": 0.3},
)  # fmt: skip

PUBLISHED = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))  # ELMo's filters: (letters wide, how many)
ELMO = Preset(
    "elmo",
    {"family": "bilm"},
    {"tiny": {"dim": 96, "hidden": 192, "layers": 2, "length": 128},
     "mini": {"dim": 128, "hidden": 256, "layers": 2, "length": 128},
     "small": {"dim": 256, "hidden": 512, "layers": 2, "length": 256, "filters": PUBLISHED[:5]},
     "base": {"dim": 128, "hidden": 1024, "layers": 2, "length": 512, "filters": PUBLISHED}},
    tokenizer="characters",
    objective="bilm",
    pieces=4000,
    tiny={"steps": 500, "batch": 32},
)  # fmt: skip

VECTORS = {"tiny": {"dim": 64}, "mini": {"dim": 96}, "small": {"dim": 128}, "base": {"dim": 300}}
EVENLY = {"optimiser": "adamw", "schedule": "linear"}
WORD2VEC = Preset(
    "word2vec", {"family": "static"}, VECTORS, tokenizer="words", objective="skip-gram", pieces=4000, plan=EVENLY,
    tiny={"steps": 750, "batch": 64, "rate": 2.4e-2},
)  # fmt: skip
GLOVE = Preset(
    "glove", {"family": "static", "counts": True}, VECTORS, tokenizer="words", objective="co-occurrence", pieces=4000, plan=EVENLY,
    tiny={"steps": 3000, "batch": 4096, "rate": 1e-2},
)  # fmt: skip

NGRAM = Preset("ngram", {"family": "ngram"}, {}, tokenizer="byte-bpe", objective="counting")

ALL = (
    NGRAM,
    WORD2VEC,
    GLOVE,
    ELMO,
    TRANSFORMER,
    BERT,
    ROBERTA,
    DISTILBERT,
    SPANBERT,
    ELECTRA,
    DEBERTA,
    GPT,
    GPT2,
    LLAMA,
    OLMO,
    OLMO2,
    BART,
    PEGASUS,
    T5,
)
PRESETS = {preset.name: preset for preset in ALL}


def preset(name: str) -> Preset:
    """The preset of that name."""
    if not isinstance(name, str) or name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return PRESETS[name]


def size_of(name: str, shape: Mapping[str, Any]) -> str:
    """The name of the size that a model of this preset has, or its dimension and depth."""
    sizes = PRESETS[name].sizes if name in PRESETS else {}
    known = (size for size, numbers in sizes.items() if all(shape.get(part) == number for part, number in numbers.items()))
    return next(known, f"{shape['dim']} × {shape['layers']}" if {"dim", "layers"} <= set(shape) else "")


def presets() -> dict[str, Preset]:
    """Every named system with its sizes.

    >>> "bert" in ex.presets()
    True
    """
    return dict(PRESETS)
