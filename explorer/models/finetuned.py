"""A model with the output layer of one task: it reads a text or two and answers with a class, a number, tags, a stretch or a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import called
from explorer.models.hub.body import OUTPUT_LAYER, HubBody
from explorer.models.model import TrainableModel, check_eval_mode, follows
from explorer.models.task_rows import AskedText, TaskRow, task_row, words_in
from explorer.nn.elmo import BiLM, BiLMStates
from explorer.nn.losses import shifted_right
from explorer.nn.output_layers import NONE, WIDEST, OutputConfig, OutputLayer, legal, output_layer
from explorer.nn.static import WordVectors
from explorer.nn.threads import one_thread
from explorer.nn.transformer import Transformer
from explorer.records import Tokens
from explorer.text.letters import WIDTH
from explorer.text.reading import Text

LAYER = OUTPUT_LAYER  # the name of the output layer among the parts of a network
FINETUNED = "fine-tuned for"  # as a note says it
ROWS, LONGEST_ANSWER, LONGEST_TEXT = 64, 12, 60
TAGGED = ("tags", "spans")  # kinds of output that say something of every word
GivenText = str | tuple[str, str]
Answer = str | float | list[tuple[str, str]]  # a label, a stretch or a text; a number; every word with its tag
NAMES = {
    "class": "labels",
    "number": "labels",
    "tags": "tags",
    "spans": "spans",
}  # what outputs are called, as those of Hugging Face models here


@dataclass(frozen=True)
class TaskBatch:
    """Rows of tokens side by side, filled up at the right: ids, segments and which are text [row, position]; letters for an ELMo."""

    ids: Tensor
    segments: Tensor
    real: Tensor
    letters: Tensor | None = None


@called("a fine-tuned model, for example the .model of an ex.finetune(…)")
class FinetunedModel(TrainableModel):
    """`body` is the model as every lesson knows it (`ex.trace(model.body, …)`), `output` the shape of what was put on top of it.

    The output layer is one more part of the body's network, so that it is trained, kept and read with it.
    """

    def __init__(self, body: TrainableModel, output: OutputConfig, layer: OutputLayer | None = None) -> None:
        self.name, self.tokenizer, self.preset = body.name, body.tokenizer, body.preset
        self.module, self.config, self.family, self.streams = body.module, body.config, body.family, body.streams
        self.body, self.output = body, output
        if output.kind != "text" and not hasattr(body.module, LAYER):
            placed = (output_layer(output) if layer is None else layer).to(body.device)
            body.module.add_module(LAYER, placed.train(body.module.training))

    @property
    def layer(self) -> OutputLayer:
        """The output layer."""
        return cast(OutputLayer, self.module.get_submodule(LAYER))

    @property
    def transformer(self) -> Transformer:
        """The network of a body that is a Transformer."""
        return cast(Transformer, self.module)

    @property
    def start(self) -> int:
        """The token that a decoder beside an encoder begins with."""
        return self.body.start

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its pictures must know."""
        return (*self.body.notes, f"{FINETUNED} {self.output.task}")

    def tokens(self, text: Text) -> Tokens:
        """The tokens that the body would read."""
        return self.body.tokens(text)

    def reads(self, target: Text | None) -> Tokens | None:
        """What the decoder beside an encoder would read."""
        return self.body.reads(target)

    def _run(self, texts: Sequence[Tokens], decoder_tokens: Sequence[Tokens] | None = None) -> dict[str, Tensor]:
        """Scores under their names; an encoder-decoder's over the vocabulary. A text that is read apart is compared with itself."""
        if self.output.kind == "text":
            return self.body._run(texts, decoder_tokens)
        check_eval_mode(self.module, self.name)
        with torch.set_grad_enabled(follows()):
            rows = [_row(tokens) for tokens in texts]
            return scores_by_name(self.scores(self.batch([*rows, *rows] if self.output.apart else rows)), self.output)

    def rows(self, texts: Sequence[AskedText]) -> list[list[TaskRow]]:
        """Each text as the row that is read, or as two rows where they are read apart."""
        if self.output.apart:
            return [[task_row(self.tokenizer, text) for text in (item.text, item.pair or "")] for item in texts]
        return [[task_row(self.tokenizer, item.text, item.pair)] for item in texts]

    def batch(self, rows: Sequence[TaskRow]) -> TaskBatch:
        """Rows as tensors on the model's device."""
        wide = max(map(len, rows))
        padding = self.tokenizer.vocabulary.pad if isinstance(self.body, HubBody) else None  # some tell positions by it
        ids, segments = np.full((len(rows), wide), padding or 0), np.zeros((len(rows), wide), np.int64)
        letters = np.zeros((len(rows), wide, WIDTH), np.int64) if rows[0].letters is not None else None
        for n, row in enumerate(rows):
            ids[n, : len(row)], segments[n, : len(row)] = row.ids, row.segments
            if letters is not None and row.letters is not None:
                letters[n, : len(row)] = row.letters
        real = np.arange(wide) < np.array([len(row) for row in rows])[:, None]
        tensors = [torch.as_tensor(array, device=self.device) for array in (ids, segments, real)]
        return TaskBatch(
            tensors[0], tensors[1], tensors[2], None if letters is None else torch.as_tensor(letters, device=self.device)
        )

    def states(self, batch: TaskBatch) -> Tensor:
        """What the output layer reads: the last states [batch, position, dim], of an ELMo all layers [layer, batch, position, dim]."""
        if self.output.pool == "counts":
            return batch.ids[..., None]
        if isinstance(self.module, WordVectors):
            return cast(Tensor, self.module(batch.ids))
        if isinstance(self.module, BiLM):
            assert batch.letters is not None
            return cast(BiLMStates, self.module(batch.letters, batch.real)).layers
        if isinstance(self.body, HubBody):
            return self.body.states(batch.ids, batch.segments, batch.real)
        real = None if bool(batch.real.all()) else batch.real
        return cast(Tensor, self.transformer(batch.ids, batch.segments if self.config.segments else None, real))

    def scores(self, batch: TaskBatch) -> Tensor:
        """The raw scores [batch, class], or [batch, position, class]; of texts read apart the first ones stand first."""
        if not isinstance(batch, TaskBatch):
            raise ChoiceError(
                "scores takes a batch that model.batch made of rows. Of texts: model.outputs(text), model.classify(texts)."
            )
        return cast(Tensor, self.layer(self.states(batch), batch.real))

    def classify(self, texts: GivenText | Sequence[GivenText]) -> list[Answer]:
        """The answer to every text or pair (a tuple): a label, a number, a list of (word, tag), a stretch of the text, or a text.

        >>> run = ex.finetune("bert", task="sentiment", examples=16, how="frozen", steps=2, checks=0, device="cpu")
        >>> list(run)[-1].step
        2
        >>> len(run.model.classify(["Anna smiled.", "Tom cried."]))
        2
        """
        queries = asked_texts(texts, tagged=self.output.kind in TAGGED)
        answers = self.answers(queries)
        if self.output.kind in TAGGED:
            return [
                [(query.text[a:b], tag) for (a, b), tag in zip(query.words, tags, strict=True)]
                for query, tags in zip(queries, answers, strict=True)
            ]
        return [float(query[0]) if self.output.kind == "number" else query[0] for query in answers]

    def probabilities(self, texts: GivenText | Sequence[GivenText]) -> np.ndarray:
        """The probability of every class for every text [text, class], in the order of `model.output.labels`."""
        if self.output.kind not in ("class", "text") or not self.output.labels:
            raise ChoiceError(f"{self.name} gives no classes to whole texts: its output is {self.output.kind!r}. Use classify.")
        queries = asked_texts(texts, tagged=False)
        rows = self.checked_rows(queries)
        with one_thread(self.module):
            scores = [self._label_scores(part) for part in _parts(rows)]
        return torch.cat(scores).softmax(-1).cpu().numpy()

    def checked_rows(self, texts: Sequence[AskedText]) -> list[list[TaskRow]]:
        """The rows, if the model can read all of them."""
        rows = self.rows(texts)
        long = [n for n, parts in enumerate(rows) if max(map(len, parts)) > self.longest]
        if long:
            most = max(len(row) for parts in rows for row in parts)
            raise TextError(
                f"{len(long)} of {len(rows)} texts have more than the {self.longest} tokens that {self.name} reads (the longest "
                f"{most}); the first is text {long[0]}. Shorten them."
            )
        return rows

    def answers(self, texts: Sequence[AskedText], rows: Sequence[list[TaskRow]] | None = None) -> list[tuple[str, ...]]:
        """For every text what is said, as a metric takes it: one answer, or a tag for each word."""
        checked = self.checked_rows(texts) if rows is None else rows
        results: list[tuple[str, ...]] = []
        with one_thread(self.module):
            for first in range(0, len(checked), ROWS):
                results += self._said(texts[first : first + ROWS], checked[first : first + ROWS])
        return results

    @torch.no_grad()
    def _said(self, texts: Sequence[AskedText], rows: Sequence[list[TaskRow]]) -> list[tuple[str, ...]]:
        kind, labels = self.output.kind, self.output.labels
        if kind in ("class", "text") and labels:
            return [(labels[n],) for n in self._label_scores(rows).argmax(-1).tolist()]
        if kind == "text":
            return [(text,) for text in self._written(rows)]
        scores = self.scores(self.batch(stacked_rows(rows)))
        if kind == "number":
            return [(str(value),) for value in scores[:, 0].tolist()]
        return [SAY[kind](self, item, row[0], part) for item, row, part in zip(texts, rows, scores, strict=True)]

    @torch.no_grad()
    def _label_scores(self, rows: Sequence[list[TaskRow]]) -> Tensor:
        """The score of every label: an encoder-decoder's is log P of its text."""
        batch = self.batch(stacked_rows(rows))
        if self.output.kind != "text":
            return self.scores(batch)
        memory = self.transformer.encode(batch.ids, batch.real)
        targets = [self.tokenizer.encode(label).ids.copy() for label in self.output.labels]
        return torch.stack([self._log_p(memory, batch.real, target) for target in targets], dim=-1)

    def _log_p(self, memory: Tensor, real: Tensor, target: np.ndarray) -> Tensor:
        ids = torch.as_tensor(target, device=self.device).expand(len(memory), -1)
        hidden = self.transformer.decode(memory, self.shifted(ids), real)
        logp = functional.log_softmax(self.transformer.outputs(hidden)["lm"], dim=-1)
        return logp.gather(-1, ids[..., None])[..., 0].sum(-1)

    def shifted(self, ids: Tensor) -> Tensor:
        """What the decoder reads for these targets: the start token, then all but the last."""
        return shifted_right(ids, self.body.start)

    def _written(self, rows: Sequence[list[TaskRow]]) -> list[str]:
        """What an encoder-decoder writes, greedily."""
        batch, end = self.batch(stacked_rows(rows)), self.tokenizer.vocabulary.last
        memory = self.transformer.encode(batch.ids, batch.real)
        ids = torch.full((len(rows), 1), self.body.start, device=self.device)
        ended = torch.zeros(len(rows), dtype=torch.bool, device=self.device)
        for _ in range(min(LONGEST_TEXT, self.longest - 1)):
            hidden = self.transformer.decode(memory, ids, batch.real)
            best = self.transformer.outputs(hidden[:, -1:])["lm"][:, 0].argmax(-1)
            ids = torch.cat((ids, best[:, None]), dim=1)
            ended |= best == end
            if bool(ended.all()):
                break
        return [self.tokenizer.decode(_until(row, end)).strip() for row in ids[:, 1:].tolist()]


def below(model: object) -> str:
    """What of a fine-tuned model still predicts tokens, for the error where it is asked to; empty for every other model."""
    if not isinstance(model, FinetunedModel) or isinstance(model.body, HubBody):
        return ""
    return (
        f" It was fine-tuned for {model.output.task} and answers with .classify(texts); its .body is the model below the output layer, "
        "which still predicts tokens."
    )


def _row(tokens: Tokens) -> TaskRow:
    """Tokens as a row whose places in a text nobody asks for."""
    places = np.zeros((len(tokens), 2), np.int64)
    return TaskRow(tokens.ids, np.array(tokens.segments), places[:, 0], places, tokens.characters)


def _until(ids: list[int], end: int | None) -> list[int]:
    return ids[: ids.index(end)] if end in ids else ids


def _tags(model: FinetunedModel, text: AskedText, row: TaskRow, scores: Tensor) -> tuple[str, ...]:
    """The best tag at the first token of every word, or the best row of tags; a word that was cut off has none, which is O."""
    labels, places = model.output.labels, row.first(text.words).tolist()
    there = [n for n in places if n >= 0]
    chain = model.layer.chain
    best = iter(chain.best(scores[there]) if chain is not None and there else scores[there].argmax(-1).tolist())
    none = NONE if NONE in labels else labels[0]
    return tuple(labels[next(best)] if n >= 0 else none for n in places)


def _spans(model: FinetunedModel, text: AskedText, row: TaskRow, scores: Tensor) -> tuple[str, ...]:
    """Tags of words from classes of spans: of those that are no O the likeliest first, and none that overlaps one before it."""
    classes, logp = model.output.span_classes, functional.log_softmax(scores[: len(row)], dim=-1)
    inside = torch.as_tensor(row.part >= 0, device=scores.device)[None]
    likely = (logp.argmax(-1) > 0) & legal(inside, WIDEST)[0]
    order = sorted(likely.nonzero().tolist(), key=lambda span: -float(logp[*span].max()))
    kinds, first = ["" for _ in range(len(row))], np.zeros(len(row), bool)
    for begin, more in order:
        if not any(kinds[begin : begin + more + 1]):
            kinds[begin : begin + more + 1] = [classes[int(logp[begin, more].argmax())]] * (more + 1)
            first[begin] = True
    places = row.first(text.words).tolist()
    return tuple(NONE if n < 0 or not kinds[n] else f"{'B' if first[n] else 'I'}-{kinds[n]}" for n in places)


def _stretch(model: FinetunedModel, text: AskedText, row: TaskRow, scores: Tensor) -> tuple[str, ...]:
    """The stretch i … j of the second text, at most so many tokens long, with the highest s_i + e_j."""
    there = np.flatnonzero(row.part == 1)
    if not len(there):
        return ("",)
    start, end = (scores[there, n].cpu().numpy() for n in (0, 1))
    sums = start[:, None] + end[None, :]
    far = np.arange(len(there))
    apart = far[None, :] - far[:, None]
    sums[(apart < 0) | (apart >= LONGEST_ANSWER)] = -np.inf
    i, j = np.unravel_index(sums.argmax(), sums.shape)
    return ((text.pair or "")[row.offsets[there[i], 0] : row.offsets[there[j], 1]].strip(),)


SAY = {"tags": _tags, "spans": _spans, "span": _stretch}


def scores_by_name(scores: Tensor, output: OutputConfig) -> dict[str, Tensor]:
    """Scores under their names."""
    if output.kind == "span":
        return {"start": scores[..., 0], "end": scores[..., 1]}
    return {NAMES[output.kind]: scores}


def stacked_rows(rows: Sequence[list[TaskRow]]) -> list[TaskRow]:
    """All first rows, then (where texts are read apart) all second ones."""
    return [parts[n] for n in range(len(rows[0])) for parts in rows]


def asked_texts(texts: GivenText | Sequence[GivenText], *, tagged: bool) -> list[AskedText]:
    """A text, a pair or a list of them as what is asked; for tags with the words of each text."""
    texts = texts.tolist() if hasattr(texts, "tolist") else texts  # a column of pandas, an array
    if not isinstance(texts, (str, Sequence)):
        raise TextError(f"Give a text, a pair of texts in a tuple, or a list of them; this is {type(texts).__name__}.")
    many = [texts] if isinstance(texts, (str, tuple)) else list(texts)
    queries = []
    for given in many:
        parts = (given,) if isinstance(given, str) else given
        if not isinstance(parts, tuple) or len(parts) > 2 or not all(isinstance(part, str) and part.strip() for part in parts):
            raise TextError("A text is empty or no string. Give a text, a pair of texts in a tuple, or a list of them.")
        query = AskedText(parts[0], parts[1] if len(parts) == 2 else None)
        queries.append(query._replace(words=words_in(query.text)) if tagged else query)
    return queries


def _parts(rows: list[list[TaskRow]]) -> Iterator[list[list[TaskRow]]]:
    for first in range(0, len(rows), ROWS):
        yield rows[first : first + ROWS]
