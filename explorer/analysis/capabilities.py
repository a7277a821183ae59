"""What each kind of model can do, tried out: fill a blank, continue a text, restore or translate a text, classify."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from explorer.analysis.evaluation.generating import continued, rewritten
from explorer.analysis.predictions import guess
from explorer.corruption.choosing import hide
from explorer.corruption.strategies import corrupt
from explorer.errors import ExplorerError, TextError
from explorer.errors.kinds import checked
from explorer.models.presets import preset
from explorer.models.transformer import TransformerModel
from explorer.records import Ability, Tokens, softmax

TEXT = "Anna lent Tom the umbrella. Q: Who had the umbrella in the end? A: Tom."
SOURCE = "The white dog sees the small house."
LONGEST = 24


@checked
def abilities(model: TransformerModel, text: str = TEXT, *, objective: str | None = None) -> tuple[Ability, ...]:
    """All four, one after the other; where a model cannot do it, the result is the reason.

    `objective` is what this model was trained for, where it is another than its preset's.

    >>> [made.able for made in ex.analysis.abilities(ex.load("bert"))].count(True) > 0
    True
    """
    entries, learned = [], objective or preset(model.preset).objective
    for verb, ask in ASKED.items():
        try:
            reads, says = ask(model, text, learned)
            entries.append(Ability(verb, reads, says))
        except ExplorerError as error:
            entries.append(Ability(verb, "", str(error), able=False))
    return tuple(entries)


def mask_last_word(model: TransformerModel, text: str, objective: str) -> tuple[str, str]:
    """The last word of the text masked: its three most probable tokens."""
    if model.family != "encoder":
        raise ExplorerError(NO_MASK[model.family])
    words = [word for word in model.tokenizer.encode(text, special=False).words if word >= 0]
    if len(words) < 2:
        raise TextError("There is no word to mask. Write a sentence.")
    hidden = hide(text, [max(words) - 1], tokenizer=model.tokenizer)
    guessed = guess(model, hidden, top=3)
    place = int(np.flatnonzero(hidden.scored)[0])
    best = zip(guessed.texts[place], guessed.shares[place], strict=True)
    return " ".join(hidden.source.texts), ", ".join(f"{piece} {share:.0%}" for piece, share in best)


def go_on(model: TransformerModel, text: str, objective: str) -> tuple[str, str]:
    """The most probable next token, repeatedly (greedy), after a text of which the last sentence is left out."""
    if model.family != "decoder":
        raise ExplorerError("not trained to continue a text")
    tokens = model.tokenizer.encode(text, special=False)
    if last := max(tokens.sentences, default=0):
        text, _ = _parted(text, tokens, last)
    ids = model.tokenizer.encode(text, special=False).ids.tolist()
    end = model.tokenizer.vocabulary.end
    start = ([] if end is None else [end]) + ids
    model.tokens(start)  # raises a clear error where it cannot read them
    written = continued(model, np.array([start]), LONGEST)[0]
    return text, model.tokenizer.decode(written)


def written_again(model: TransformerModel, text: str, objective: str) -> tuple[str, str]:
    """A corrupted text restored, or a sentence translated."""
    if model.family != "encoder-decoder":
        raise ExplorerError("it has no decoder")
    if objective == "translation":
        last = model.tokenizer.vocabulary.last
        ids = [*model.tokenizer.encode(SOURCE, special=False).ids.tolist(), *([] if last is None else [last])]
        reads = SOURCE
    else:
        damaged = corrupt(text, CORRUPTION_OF.get(objective, "t5"), tokenizer=model.tokenizer).source
        ids, reads = damaged.ids.tolist(), " ".join(damaged.texts)
    model.tokens(ids)  # raises a clear error where it cannot read them
    written = rewritten(model, [ids], LONGEST)[0]
    return reads, model.tokenizer.decode(written)


@checked
def text_follows(model: TransformerModel, first: str, second: str) -> float:
    """The probability that the second text follows the first, by the output layer for pairs.

    >>> ex.analysis.text_follows(ex.load("bert"), "The dog was thirsty.", "He drank some water.") > 0.5
    True
    """
    if not model.config.next_sentence:
        raise ExplorerError(f"{model.name} has no output layer for pairs: it was trained on one text at a time.")
    return float(softmax(model.outputs((first, second))["nsp"])[0])


def classify(model: TransformerModel, text: str, objective: str) -> tuple[str, str]:
    """Does the second half follow the first?"""
    if model.family != "encoder" or not model.config.next_sentence:
        raise ExplorerError("not before fine-tuning: it has no output layer for classes")
    if not objective.startswith("mlm+nsp"):
        raise ExplorerError("its output layer for pairs was never trained: it was trained on one text at a time")
    tokens = model.tokenizer.encode(text, special=False)
    half = (max(tokens.sentences, default=0) + 1) // 2
    if not half:
        raise ExplorerError("write two sentences: it predicts whether the second follows the first")
    pair = _parted(text, tokens, half)
    return f"{pair[0]} | {pair[1]}", f"the second follows the first: {text_follows(model, *pair):.0%}"


def _parted(text: str, tokens: Tokens, sentence: int) -> tuple[str, str]:
    """A text before the sentence of this number, and from there on."""
    cut = tokens.offsets[tokens.sentences.index(sentence)][0]
    return text[:cut].strip(), text[cut:].strip()


NO_MASK = {
    "decoder": "it has no [MASK]: it reads from left to right",
    "encoder-decoder": "its answers come from the decoder, which writes a whole text: see *rewrite*",
}
CORRUPTION_OF = {"denoising": "bart-infill", "span-to-text": "t5", "gap-sentence": "pegasus"}
ASKED: dict[str, Callable[[TransformerModel, str, str], tuple[str, str]]] = {
    "fill in": mask_last_word,
    "continue": go_on,
    "rewrite": written_again,
    "classify": classify,
}
