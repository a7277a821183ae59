"""The recipes of the models that are to be shipped: a size between tiny and small, trained for longer than a class can wait.

They are the recipes of `recipes.py` with another size, more stories and more steps. `python -m studies.making` carries them out.
Which recipe made a model that is shipped now is found by the size of that model: `recipe_of`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from explorer.models import store
from studies.recipes import RECIPES, Recipe

WORLD = "microworld-1.1:120000"  # three times the stories of a tiny model
MASKED = (
    "agreement", "a name said before", "a noun said before", "he or she", "minimal pairs, reason: both of a pair",
    "minimal pairs, reason, in stories: both of a pair",
)  # fmt: skip
LONG, SHORT, VECTORS = 90.0, 30.0, 5.0  # minutes of two cores
HIDING = {"mask_rate_first": 0.5, "mask_rate": 0.3}  # more hidden tokens teach names sooner than 15 % do, also at 15 %
SPANS = {"mask_rate_first": 0.5, "mask_rate": 0.15}


def longer(name: str, minutes: float, steps: int, judged: tuple[str, ...] = (), **options: Any) -> Recipe:
    """The recipe of a model at the size that is shipped: one seed, so many steps of texts of like length."""
    first = RECIPES[name]
    given = {"corpus": WORLD, "steps": steps, "batch": 32, "by_length": True, **options}
    return replace(first, size="mini", minutes=minutes, seeds=(0,), judged=judged, options=given, keep=min(first.keep, 4))


# The figures in bits do not depend on how words are cut, so that models with other tokenizers are compared by them.
BITS = ("bits per character",)
LONGER = {
    "bert": longer("bert", LONG, 45_000, MASKED, pairs_from=4, pairs_after=0.4, strangers="alike", **HIDING),
    "gpt2": longer("gpt2", LONG, 22_000, BITS),
    "transformer": longer(
        "transformer", LONG, 22_000, ("exact match", "bleu"), corpus="english-french-1.1:120000", schedule="cosine"
    ),
    "gpt": replace(longer("gpt", LONG, 22_000, BITS), keep=3),
    "bart": longer("bart", LONG, 16_000, ("bleu", "exact match")),
    "t5": longer("t5", LONG, 16_000, ("spans exactly right",), **SPANS),
    "elmo": longer("elmo", SHORT, 9000, ("forward perplexity", "backward perplexity"), rate=1e-3),
    "bert-deep": longer("bert-deep", SHORT, 6000, MASKED, objective="mlm", layers=6, packed=True, by_length=False, **HIDING),
    "deberta": longer("deberta", SHORT, 10_000, MASKED, packed=True, by_length=False, **HIDING),
    "roberta": longer("roberta", SHORT, 9000, MASKED, **HIDING),
    "spanbert": longer(
        "spanbert", SHORT, 8000, (*MASKED, "masked spans exactly right"), packed=True, by_length=False, **HIDING
    ),
    "electra": longer("electra", SHORT, 15_000, ("replaced f1",), random_until=0.2),
    "llama": longer("llama", SHORT, 14_000, BITS, kv_heads=2),
    "olmo": longer("olmo", SHORT, 14_000, BITS),
    "olmo2": longer("olmo2", SHORT, 14_000, BITS),
    "pegasus": longer("pegasus", SHORT, 9000, ("gap sentence F1",)),
    "word2vec": longer("word2vec", VECTORS, 10_000, batch=64, rate=2.4e-2, by_length=False),
    "glove": longer("glove", VECTORS, 6000, batch=4096, rate=1e-2, by_length=False),
    "distilbert": longer("distilbert", SHORT, 6000, MASKED, teacher="bert-deep", **HIDING),
    "distilbert-alone": longer("distilbert-alone", SHORT, 6000, MASKED, teacher=None, layers=3, **HIDING),
}
AFTER = {"distilbert": "bert-deep"}  # who is trained by whom: the teacher must be shipped at this size first


def recipe_of(name: str) -> Recipe:
    """The recipe by which the shipped model of that name was made."""
    return LONGER[name] if name in LONGER and shipped_at_size(name) else RECIPES[name]


def shipped_at_size(name: str) -> bool:
    """Whether the model that is shipped under this name is one of these: its card says so."""
    card = store.data_folder() / "models" / name / store.CARD
    return card.is_file() and "size `mini`" in " ".join(card.read_text("utf-8").split())
