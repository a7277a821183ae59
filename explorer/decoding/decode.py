"""`ex.decode`: a text after a prompt, or the blanks of a text, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

import numpy as np

from explorer.decoding import STRATEGIES, huggingface
from explorer.decoding.fill import filled
from explorer.decoding.filling import ORDERS
from explorer.decoding.native import NativeStepper, UncachedStepper, without_cache
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import Stepper
from explorer.decoding.steps import DecodingSteps
from explorer.decoding.strategy import DecodingStrategy
from explorer.errors import ChoiceError, TextError, repeated, unknown
from explorer.errors.elsewhere import SAMPLING
from explorer.errors.kinds import check_kind, checked, named_model
from explorer.errors.waiting import steps_with_progress
from explorer.models.finetuned import FinetunedModel
from explorer.models.hub.foreign import HubModel
from explorer.models.model import Model
from explorer.models.transformer import TransformerModel
from explorer.records import DecodingStep, Tokens
from explorer.text.begin_token import missing_begin
from explorer.text.reading import BLANK, Text, as_tokens, blanks_as_tokens
from explorer.text.tokenizers import Tokenizer

OPTIONS = tuple(field.name for field in fields(Settings) if field.name != "extra")
FILLING = ("order", "rounds", "candidates")


@dataclass(frozen=True)
class PreparedDecoding:
    """A model that is ready to write: its name, how it reads texts, the stepper, and the prompt that the stepper begins with."""

    name: str
    tokenizer: Tokenizer
    stepper: Stepper
    prompt: tuple[int, ...]
    source: Tokens | None = None


@checked
def decode(  # noqa: PLR0913  the public contract fixes these names
    model: Any,
    text: Text,
    strategy: str = "greedy",
    *,
    prefix: Text | None = None,
    cross: bool = True,
    cache: bool = True,
    **options: Any,
) -> DecodingSteps[Any]:
    """Let `model` write after `text`, one step at a time; the last step (a `DecodingStep`) holds the answer. `.text` of what this
    gives is what was written, `.to_frame()` a table with a row for each step.

    `model` is one that `ex.load` opens, or a live pair (module, tokenizer) of the transformers library. A string begins with the token that
    begins every text of training, where there is one. For an encoder-decoder `text` is the source, in which `___` becomes its mask or
    sentinel token, and `prefix` starts the target; `cross=False` does not record where it looks in the source. A masked model takes the
    strategy "fill" and writes into the blanks of the text (`___`), by `order`; its steps are `FillingStep`s. `options` are those of
    `explorer.decoding.Settings`: temperature, top_k, top_p, beams, max_tokens, seed, force, stop and more; one that the strategy would
    not use is refused. `cache=False` computes the whole text again at every step.

    >>> *_, last = ex.decode(ex.load("gpt2"), "A dog", "beam", beams=2, max_tokens=3)
    >>> len(last.ids), ex.decode(ex.load("gpt2"), "A dog", "beam", beams=2, max_tokens=3).text == last.text
    (3, True)
    """
    model = named_model(model)
    if strategy == "fill":
        _check_options(strategy, FILLING, options)
        blanks = filled(model, text, **options)
        tokenizer = huggingface.as_our_tokenizer(model[1]) if isinstance(model, tuple) else model.tokenizer
        return DecodingSteps(steps_with_progress(blanks, "Filling the blanks"), lambda step: tokenizer.decode(step.tokens.ids))
    entry = _strategy(strategy)
    _check_options(strategy, (*_shared(), *entry.reads, *entry.options), options)
    extra = {name: options.pop(name, usual) for name, usual in entry.options.items()}
    prepared = writer(model, text, prefix=prefix, cross=cross or entry.cross, cache=cache, hidden=entry.hidden)
    settings = replace(decoding_settings(prepared, options), extra=extra)
    steps = entry.apply(prepared.stepper, prepared.prompt, settings)
    with_line = steps_with_progress(steps, f"Writing with {prepared.name}", settings.max_tokens)
    return DecodingSteps(with_line, attrgetter("text"))


def _strategy(name: str) -> DecodingStrategy:
    """The strategy of this name."""
    if name in SAMPLING:
        raise ChoiceError(f"{name} is no strategy: top_p, top_k and temperature are options of 'sample'.")
    if name not in STRATEGIES:
        raise unknown("decoding strategy", name, (*STRATEGIES, "fill"))
    return STRATEGIES[name]


def _shared() -> tuple[str, ...]:
    """The options that every strategy reads, and a seed, which those that draw nothing may be given too."""
    special = {name for entry in STRATEGIES.values() for name in entry.reads} - {"seed"}
    return tuple(name for name in OPTIONS if name not in special)


def _check_options(strategy: str, known: Sequence[str], options: Iterable[str]) -> None:
    """Refuse an option that this strategy would ignore: say which reads it, if one does."""
    ways = {**{name: (*entry.reads, *entry.options) for name, entry in STRATEGIES.items()}, "fill": FILLING}
    every = dict.fromkeys((*OPTIONS, *known, "prefix", "cross", "cache", "order"))
    for name in options:
        readers = [repr(way) for way, read in ways.items() if name in read]
        if name not in known and readers:
            raise ChoiceError(
                f"{strategy!r} does not use {name}, which is an option of {', '.join(readers)}. "
                f"Write ex.decode(model, text, {readers[0]}, {name}=…), or leave it out."
            )
        if name not in known:
            raise unknown("option of 'fill'", name, known) if strategy == "fill" else unknown("option of decode", name, every)


def writer(  # noqa: PLR0913  as decode
    model: Any, text: Text, *, prefix: Text | None = None, cross: bool = False, cache: bool = True, hidden: bool = False
) -> PreparedDecoding:
    """Bring a model and a text to the point where the first token is about to be written."""
    if isinstance(model, tuple) and len(model) == 2:
        live = huggingface.live(*model)
        return _of_live(live, as_tokens(text, live.tokenizer), prefix, cross, hidden)
    if isinstance(model, HubModel):
        huggingface.check_generates(model.module, model.name)
        return _of_live(huggingface.live_of(model), model.tokens(text), prefix, cross, hidden)
    if isinstance(model, FinetunedModel):
        return writer(_writing_body(model), text, prefix=prefix, cross=cross, cache=cache, hidden=hidden)
    family = getattr(model, "family", None)
    if family == "ngram":
        prompt = _prompt(as_tokens(text, model.tokenizer), model.tokenizer)
        return PreparedDecoding(
            model.name, model.tokenizer, UncachedStepper(model), (*prompt, *_prefix_ids(prefix, model.tokenizer))
        )
    if not isinstance(model, TransformerModel):
        raise ChoiceError(_refusal(model))
    if family == "encoder":
        raise ChoiceError(
            f"{model.name} is an encoder: it reads a whole text at once and cannot generate. Let it fill blanks (strategy 'fill'), "
            "or take a decoder such as ex.load('gpt')."
        )
    tokens, begin = model.tokens(_with_blanks(text, model)), _prefix_ids(prefix, model.tokenizer)
    source = tokens if family == "encoder-decoder" else None
    first = _opening(model, text, tokens)
    prompt = (model.config.start, *begin) if source is not None else (*first, *_prompt(tokens, model.tokenizer), *begin)
    stepper: Stepper = without_cache(model, source) if not cache else NativeStepper(model, source, cross=cross, hidden=hidden)
    return PreparedDecoding(model.name, model.tokenizer, stepper, tuple(prompt), source)


def _refusal(model: Any) -> str:
    """Why this cannot write, in a sentence, and what can."""
    if hasattr(model, "family") and hasattr(model, "tokenizer"):
        return f"{model.name} predicts no next token ({type(model).__name__}), so it cannot write. Take a decoder such as ex.load('gpt')."
    return f"decode takes a model (ex.load('gpt')) or a live pair (module, tokenizer); this is {type(model).__name__}."


def _writing_body(model: FinetunedModel) -> Model:
    """What writes in a fine-tuned model: all of it where its answers are texts."""
    if model.output.kind != "text":
        raise ChoiceError(
            f"{model.name} was fine-tuned to answer with a {model.output.kind} ({model.output.task}), not with a text: ask it with "
            "model.classify([text]). The decoder below its output layer is model.body."
        )
    return model.body


def _of_live(live: huggingface.LiveModel, tokens: Tokens, prefix: Text | None, cross: bool, hidden: bool) -> PreparedDecoding:
    """A model of the transformers library, opened here or somebody's live pair."""
    module, ours, begin = live.module, live.tokenizer, _prefix_ids(prefix, live.tokenizer)
    if live.longest is not None and len(tokens) > live.longest:
        raise TextError(f"The text has {len(tokens)} tokens, but {live.name} reads at most {live.longest}. Shorten the text.")
    if not module.config.is_encoder_decoder:
        stepper = huggingface.HuggingFaceStepper(module, ours, hidden=hidden)
        return PreparedDecoding(live.name, ours, stepper, (*_prompt(tokens, ours), *begin))
    first = huggingface.setting(module, "decoder_start_token_id")
    first = huggingface.setting(module, "bos_token_id") if first is None else first
    if first is None:
        raise ChoiceError(f"{live.name} does not say with which token a target begins (decoder_start_token_id).")
    stepper = huggingface.HuggingFaceStepper(module, ours, tokens.ids.tolist(), cross=cross, hidden=hidden)
    return PreparedDecoding(live.name, ours, stepper, (int(first), *begin), tokens)


def decoding_settings(prepared: PreparedDecoding, options: Mapping[str, Any]) -> Settings:
    """The settings, with words turned into tokens."""
    given = dict(options)
    if "stop" in given:
        given["stop"] = (given["stop"],) if isinstance(given["stop"], str) else given["stop"]
        check_kind("stop", given["stop"], Sequence[str])
        given["stop"] = tuple(given["stop"])
    if "among" in given:
        check_kind("among", given["among"], Sequence[int | str])
        given["among"] = tuple(token for word in given["among"] for token in tokens_of(prepared.tokenizer, word))
    if "force" in given:
        given["force"] = _forced(prepared.tokenizer, given["force"])
    return Settings(**given)


def _forced(tokenizer: Tokenizer, given: Any) -> dict[int, int]:
    """{step: id or text} as {step: id}; a text of several tokens takes as many steps."""
    if not isinstance(given, Mapping):
        raise ChoiceError(
            f"force must be a mapping such as {{0: 'The'}}: which token at which step; this is {repeated(given)}."
        )
    forced: dict[int, int] = {}
    for step, token in given.items():
        if isinstance(step, bool) or not hasattr(step, "__index__") or step < 0:
            raise ChoiceError(f"force names steps by whole numbers from 0; {step!r} is not one.")
        forced |= {int(step) + n: number for n, number in enumerate(tokens_of(tokenizer, token))}
    return forced


def tokens_of(tokenizer: Tokenizer, given: Any) -> list[int]:
    """The tokens meant by an id, by a token as it is shown (`·tired`), or by a text as it is written inside a sentence (`tired`)."""
    if hasattr(given, "__index__") and not isinstance(given, bool):
        return [int(given.__index__())]
    if not isinstance(given, str) or not given:
        raise ChoiceError(f"A token is given by its id or its text; this is {repeated(given)}.")
    if "·" in given or given.startswith("##") or tokenizer.core.token_to_id(given) is not None:
        shown = next((i for i in range(tokenizer.vocabulary.size) if tokenizer.text_of(i) == given), None)
        if shown is not None:
            return [shown]
    inside = " " + given if given[0].isalnum() and tokenizer.style in ("bytes", "spaces") else given
    tokens = tokenizer.encode(inside, special=False)
    if not len(tokens) or tokenizer.vocabulary.unknown in tokens.ids:
        raise ChoiceError(f"There is no token {repeated(given)} in this vocabulary.")
    return [int(token) for token in tokens.ids]


def _prompt(tokens: Tokens, tokenizer: Tokenizer) -> tuple[int, ...]:
    """A text that is to go on: without the token that would end it."""
    ids = tokens.ids.tolist()
    return tuple(ids[:-1] if len(ids) > 1 and ids[-1] == tokenizer.vocabulary.last else ids)


def _with_blanks(text: Text, model: TransformerModel) -> Text:
    """A text with blanks as an encoder-decoder reads it; a decoder does not read what comes after one."""
    if model.family == "encoder-decoder":
        return blanks_as_tokens(text, model.tokenizer)
    if isinstance(text, str) and BLANK in text:
        raise TextError(
            f"{model.name} writes after a text and fills no blank ({BLANK}). End the text where the blank is, or take a masked "
            "model: ex.decode('bert', text, 'fill')."
        )
    return text


def _opening(model: TransformerModel, text: Text, tokens: Tokens) -> tuple[int, ...]:
    """The token with which every text of training began, where a string has none; ids and Tokens are taken as they are."""
    room = len(tokens) < model.longest
    return missing_begin(tokens.ids.tolist(), model.tokenizer) if isinstance(text, str) and room else ()


def _prefix_ids(prefix: Text | None, tokenizer: Tokenizer) -> tuple[int, ...]:
    """What a target (or the answer) has to begin with."""
    if prefix is None:
        return ()
    tokens = tokenizer.encode(prefix, special=False) if isinstance(prefix, str) else as_tokens(prefix, tokenizer)
    return tuple(int(token) for token in np.asarray(tokens.ids))


def last(steps: Iterator[DecodingStep]) -> DecodingStep:
    """The last step, which holds the answer."""
    *_, final = steps
    return final


def orders() -> Sequence[str]:
    """The orders in which blanks are filled."""
    return tuple(ORDERS)
