"""What every kind of model has in common: the protocol `Model`, what one forward pass says of texts, and what ours share.

The kinds themselves: `transformer`, `elmo`, `vectors`, `ngram`, and `hub.foreign` for the models of others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ChoiceError, TextError, an, is_many
from explorer.errors.kinds import called
from explorer.nn.elmo import BiLM
from explorer.nn.factory import AnyConfig
from explorer.nn.static import WordVectors
from explorer.nn.transformer import Transformer
from explorer.records import Edit, Tokens
from explorer.records.summary import Summarised, Summary, shortened
from explorer.text.reading import Text, as_tokens, blanks_as_tokens, knows_blanks
from explorer.text.tokenizers import Tokenizer

OurNetwork = Transformer | BiLM | WordVectors
BY_PLACE = (
    "lm",
    "backward",
    "rtd",
    "tags",
    "start",
    "end",
)  # predictions about every place; the others are about the whole text
LETTERS = 8  # for each token that a model reads: with more of them a text is likely too long
NEVER_TRAINED = "this model was never trained: its weights are as random as they began"


@called("a model, for example ex.load('bert')")
class Model(Protocol):
    """What tracing, decoding and the pages need of a model: a Transformer, ELMo, word vectors, n-grams, ours or anyone's."""

    name: str
    family: str
    tokenizer: Tokenizer
    streams: dict[str, tuple[int, int]]

    @property
    def module(self) -> torch.nn.Module:
        """The network itself."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""

    def tokens(self, text: Text) -> Tokens:
        """The tokens that the model would read."""

    def reads(self, target: Text | None) -> Tokens | None:
        """What its decoder would read for this target; None where it has no decoder beside an encoder."""

    def run(self, tokens: Tokens, decoder_tokens: Tokens | None = None) -> dict[str, Tensor]:
        """One forward pass over one text: raw scores by name, with a batch axis of one."""

    def refuses(self, edit: Edit) -> str:
        """Why this model cannot be changed in this way; empty where it can."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its pictures must know, in a few words each: never trained, dropout on, weights only."""

    def outputs(self, text: Text, target: Text | None = None) -> dict[str, np.ndarray]:
        """What the model predicts, by name: raw scores, no softmax."""

    def outputs_many(self, texts: Sequence[Text], targets: Sequence[Text | None] | None = None) -> list[dict[str, np.ndarray]]:
        """The same for several texts."""

    def logits(self, text: Text, target: Text | None = None) -> np.ndarray:
        """The scores over the vocabulary, [position, vocab]."""


_following: ContextVar[bool] = ContextVar("explorer_following", default=False)


@contextmanager
def with_gradients() -> Iterator[None]:
    """While inside, a forward pass of this thread keeps what gradients need."""
    token = _following.set(True)
    try:
        yield
    finally:
        _following.reset(token)


def follows() -> bool:
    """Whether somebody asks for gradients."""
    return _following.get()


class TextModel(Summarised):
    """What every network that reads tokens says of a text, from one padded forward pass: ours or anyone's."""

    name: str
    family: str
    tokenizer: Tokenizer
    most = 0  # the most tokens that it may read where it is a stranger's, so that it takes nobody's memory; 0: as many as it was made for

    if not TYPE_CHECKING:  # a type checker says by itself that this is no function

        def __call__(self, *_: object, **__: object) -> Any:
            """Say what runs it."""
            raise TypeError(
                "A model is not called: ex.trace(model, text) runs it and keeps everything, model.outputs(text) its scores."
            )

    def summary(self) -> Summary:
        """Its family, its layers and heads, how many weights and tokens it has."""
        module, streams = getattr(self, "module"), getattr(self, "streams", {})  # noqa: B009  each kind keeps its own
        rows = [(name, f"{layers} layers × {heads} heads") for name, (layers, heads) in streams.items() if heads]
        rows.append(("weights", f"{sum(p.numel() for p in module.parameters()):,}"))
        rows.append(("vocabulary", f"{self.tokenizer.vocabulary.size:,} tokens"))
        notes = getattr(self, "notes", ())
        return f"Model {self.name!r}, {self.family}", rows + [("note", shortened(note)) for note in notes]

    @property
    def longest(self) -> int:
        """The most tokens that one text may have."""
        raise NotImplementedError

    @property
    def start(self) -> int:
        """The token that a decoder beside an encoder begins with."""
        raise NotImplementedError

    def tokens(self, text: Text) -> Tokens:
        """The tokens that the model would read, of a masked model with its mask at every blank (___); a clear error for a text that it
        cannot.

        >>> ex.load("bert").tokens("A ___ ran.").texts
        ('[CLS]', 'a', '[MASK]', 'ran', '.', '[SEP]')
        """
        text = blanks_as_tokens(text, self.tokenizer) if knows_blanks(self.family, self.tokenizer) else text
        if isinstance(text, str) and len(text) > LETTERS * self.longest:  # counted first: the whole record takes far longer
            self._check_length(self.tokenizer.count(text))
        tokens = as_tokens(text, self.tokenizer)
        self._check_length(len(tokens))
        return tokens

    def _check_length(self, count: int) -> None:
        if count > self.longest:
            raise TextError(f"The text has {count} tokens, but {self.name} reads at most {self.longest}. Shorten the text.")
        if 0 < self.most < count:
            raise TextError(
                f"The text has {count} tokens; with more than {self.most} {self.name} would take too much memory here. Shorten the text."
            )

    def reads(self, target: Text | None) -> Tokens | None:
        """What the decoder of an encoder-decoder reads for this target: the start token, then the target without its last token."""
        if self.family != "encoder-decoder":
            if target is not None:
                raise ChoiceError(f"{self.name} is {an(self.family)} and takes no target. Leave `target` out.")
            return None
        given = [] if target is None else self.tokens(target).ids.tolist()
        return self.tokenizer.tokens([self.start, *given[:-1]])

    def run(self, tokens: Tokens, decoder_tokens: Tokens | None = None) -> dict[str, Tensor]:
        """One forward pass over one text: raw scores by name, with a batch axis of one."""
        return self._run([tokens], None if decoder_tokens is None else [decoder_tokens])

    def _run(self, texts: Sequence[Tokens], decoder_tokens: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        raise NotImplementedError

    def outputs(self, text: Text, target: Text | None = None) -> dict[str, np.ndarray]:
        """What the model predicts: `lm` [position, vocab], and `nsp` [2] where it has that head. Raw scores, no softmax.

        A model that finds what was replaced predicts `rtd` [position] alone: above 0 it says that this token was.

        An encoder-decoder reads `target` shifted right, so row i is about token i of the target; without one there is
        a single row, about the first token.

        >>> sorted(ex.load("bert").outputs("A dog ran."))
        ['lm', 'nsp']
        """
        return self.outputs_many([text], [target])[0]

    def outputs_many(self, texts: Sequence[Text], targets: Sequence[Text | None] | None = None) -> list[dict[str, np.ndarray]]:
        """The same for several texts in one padded batch."""
        if isinstance(texts, (str, Tokens)):
            raise TextError("outputs_many takes a list of texts; this is one. Use outputs, or put it into a list.")
        for name, given in (("texts", texts), ("targets", () if targets is None else targets)):
            if not is_many(given):
                raise TextError(f"outputs_many takes a list of {name}; this is {an(type(given).__name__)}.")
        many = [self.tokens(text) for text in texts]
        if not many:
            return []
        decoder_tokens = [self.reads(target) for target in ([None] * len(many) if targets is None else targets)]
        if len(decoder_tokens) != len(many):
            raise TextError(
                f"outputs_many was given {len(many)} texts and {len(decoder_tokens)} targets. Give one for each text, or none."
            )
        rows = [source if target is None else target for source, target in zip(many, decoder_tokens, strict=True)]
        decoder = [target for target in decoder_tokens if target is not None]
        outputs = {name: scores.float().cpu().numpy() for name, scores in self._run(many, decoder or None).items()}
        return [Outputs(self.name, _of_one(outputs, n, len(tokens))) for n, tokens in enumerate(rows)]

    def logits(self, text: Text, target: Text | None = None) -> np.ndarray:
        """The scores over the vocabulary, [position, vocab]. Row i is about token i + 1 if causal, about token i otherwise.

        >>> ex.load("gpt2").logits("A dog ran.").ndim
        2
        """
        return self.outputs(text, target)["lm"]


class Outputs(dict[str, np.ndarray]):
    """What a model predicts, by name; it says which where another name is asked for."""

    def __init__(self, model: str, given: dict[str, np.ndarray]) -> None:
        super().__init__(given)
        self.model = model

    def __missing__(self, name: str) -> np.ndarray:
        what = "says nothing about the vocabulary" if name == "lm" else f"has no {name!r}"
        raise ChoiceError(
            f"{self.model} {what}: it predicts {', '.join(self)}. Use model.outputs(text), or "
            "model.generator.logits(text) where it has a generator."
        )


@called("a model of ours, for example ex.load('bert')")
class TrainableModel(TextModel):
    """One of our networks with its tokenizer: it can be trained and stored. `preset` names the system that it was built as."""

    def __init__(self, name: str, module: OurNetwork, tokenizer: Tokenizer, preset: str) -> None:
        self.name, self.tokenizer, self.preset = name, tokenizer, preset
        self.module: OurNetwork = module
        self.config: AnyConfig = module.config
        self.family = module.config.family
        self.streams = module.config.streams

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.module.parameters()).device

    @property
    def longest(self) -> int:
        """The most tokens that one text may have."""
        return self.config.length

    @property
    def width(self) -> int:
        """The features of all heads together."""
        return self.config.dim

    @property
    def generator(self) -> TrainableModel | None:
        """The smaller masked model that replaced tokens while this one was trained; None where there is none."""
        return None

    def tokens(self, text: Text) -> Tokens:
        """The tokens that the model would read; a clear error for a text that it cannot."""
        tokens = super().tokens(text)
        if int(tokens.ids.min()) < 0:
            raise ChoiceError("Ids must be 0 or more.")
        if 0 < self.config.segments <= max(tokens.segments):
            raise TextError(
                f"{self.name} was made for {self.config.segments} segment, so it cannot read a pair. Give one text."
            )
        if int(tokens.ids.max()) >= self.config.vocab:
            raise ChoiceError(
                f"There is no token {int(tokens.ids.max())}: {self.name} has the ids 0 to {self.config.vocab - 1}."
            )
        return tokens

    def refuses(self, edit: Edit) -> str:
        """Nothing: every edit finds its place in our own models."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its pictures must know."""
        return (NEVER_TRAINED,) if untrained(self.module) else ()


def trainable(model: Model) -> TrainableModel:
    """The same model, where it is one of ours with weights that can be trained; else an error that says what it is."""
    if not isinstance(model, TrainableModel):
        raise ChoiceError(
            f"{model.name} is a {type(model).__name__}, which cannot be trained here. Take one of our own models."
        )
    return model


def reading_stream(model: Model) -> str:
    """The stack that reads the source: the encoder where there is one."""
    return "decoder" if model.family == "decoder" else "encoder"


def writing_stream(model: Model | AnyConfig) -> str:
    """The stack that predicts: the decoder where there is one."""
    return "encoder" if model.family == "encoder" else "decoder"


def padded_batch(rows: Sequence[Sequence[int] | np.ndarray], fill: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows side by side, padded at the right, and which positions are real."""
    attention_mask = np.arange(max(map(len, rows))) < np.array([len(row) for row in rows])[:, None]
    batch = np.full(attention_mask.shape, fill, np.int64)
    batch[attention_mask] = np.concatenate([np.asarray(row, np.int64) for row in rows])
    return batch, attention_mask


def padded(rows: Sequence[list[int]], device: torch.device, fill: int = 0) -> tuple[Tensor, Tensor | None]:
    """The same as tensors; without a mask where every position is real."""
    batch, attention_mask = padded_batch(rows, fill)
    ids = torch.from_numpy(batch).to(device)
    return ids, None if attention_mask.all() else torch.from_numpy(attention_mask).to(device)


def check_eval_mode(module: torch.nn.Module, name: str) -> None:
    """Refuse a model in training mode: dropout would make every number a different one each time."""
    if module.training:
        raise ChoiceError(
            f"{name} is in training mode, so its numbers would change from call to call. Call model.module.eval() first."
        )


def untrained(module: torch.nn.Module) -> bool:
    """Whether all gains of the norms are still exactly 1 and all shifts 0: after the first step of any training they are not."""
    norms = [part for part in module.modules() if "Norm" in type(part).__name__]
    tables = [
        (name, value.detach()) for part in norms for name, value in part.named_parameters(recurse=False) if value.dim() == 1
    ]
    first = {name: value.flatten()[0] for name, value in tables}  # 1, or 0 where a class counts from there; a shift begins at 0
    return bool(tables) and all(
        bool((value == (0.0 if name == "bias" else first[name])).all()) and float(first[name]) in (0.0, 1.0)
        for name, value in tables
    )


def _of_one(outputs: dict[str, np.ndarray], row: int, length: int) -> dict[str, np.ndarray]:
    return {name: scores[row, :length] if name in BY_PLACE else scores[row] for name, scores in outputs.items()}
