"""The model that a fine-tuning begins with: a copy with an output layer, and those of its weights that move."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from explorer.errors import ChoiceError, an
from explorer.models.elmo import ElmoModel
from explorer.models.factory import as_model
from explorer.models.finetuned import LAYER, FinetunedModel
from explorer.models.hub.body import HubBody, body_of
from explorer.models.model import TrainableModel
from explorer.models.transformer import TransformerModel
from explorer.models.vectors import StaticModel
from explorer.nn.elmo import ScalarMix  # noqa: F401  for ex.training.ScalarMix
from explorer.nn.factory import initialised
from explorer.nn.output_layers import DEVIATION, OutputConfig, output_layer
from explorer.nn.transformer import Transformer
from explorer.text.marks import marked_tokenizer
from explorer.training.finetune.plan import FinetunePlan, last_layers
from explorer.training.finetune.task import Task

KINDS = {"token": "tags", "graded": "number", "question": "span", "text": "text"}  # of tasks, with the kind of their output
LSTM = 32
CLASSIFIER_ACTIVATIONS = {"distilbert": "relu", "electra": "gelu"}  # of their published classifiers; all others': tanh
COUNTS = "bag of words"
PRE_TRAINING = ("head", "replaced", "generator", "next_sentence", "span_boundary", "near")  # what nothing is asked of any more
EMBEDDED = ("embeddings", "words")


def with_output_layer(model: TrainableModel, task: Task, labels: tuple[str, ...], plan: FinetunePlan) -> FinetunedModel:
    """A copy of the model, with its marks, its output layer and its adapters; what shall not move is frozen."""
    body = _body(model, plan)
    check_task(body, task, plan)
    if isinstance(body, TransformerModel) and body.family == "decoder":
        body = knowing_marks(body, plan.seed)
    output = with_choices(output_of(body, task, labels), plan)
    finetuned = FinetunedModel(body, output, None if output.kind == "text" else output_layer(output, plan.seed))
    finetuned.name = f"{body.name}-{task.name}".replace(" ", "-")
    _take_pooler(finetuned)
    _freeze(finetuned, plan)
    return finetuned


def _body(model: TrainableModel, plan: FinetunePlan) -> TrainableModel:
    """A copy, or the same shape with new weights."""
    source = model.body if isinstance(model, FinetunedModel) else model
    scratch = plan.how == "scratch"
    if isinstance(source, HubBody):
        return body_of(source, plan.seed if scratch else None)
    module = initialised(source.config, plan.seed).to(source.device) if scratch else deepcopy(source.module)
    if hasattr(module, LAYER):
        delattr(module, LAYER)
    body = as_model(source.name, module.eval(), source.tokenizer, source.preset)
    for weight in body.module.parameters():
        weight.requires_grad_(True)
    return body


def output_of(body: TrainableModel, task: Task, labels: tuple[str, ...]) -> OutputConfig:
    """The output layer that this family has for a task."""
    kind = KINDS.get(task.kind, "class")
    shape: dict[str, Any] = {"task": task.name, "kind": kind, "labels": labels, "metric": task.metric, "dim": body.config.dim}
    if body.family == "encoder-decoder":
        return OutputConfig(**shape | {"kind": "text"})
    whole = kind in ("class", "number")
    apart = whole and task.kind in ("pair", "graded")
    if body.preset == COUNTS:
        return OutputConfig(**shape | {"dim": body.config.vocab}, pool="counts", apart=apart)
    if isinstance(body, StaticModel):
        return OutputConfig(**shape, pool="mean", apart=apart)
    if isinstance(body, ElmoModel):
        shape |= {"dim": 2 * body.config.dim, "mixed": body.config.layers + 1, "lstm": LSTM}
        return OutputConfig(**shape, pool="mean", apart=apart)
    if body.family == "decoder":
        return OutputConfig(**shape, pool="last")
    return OutputConfig(**shape, pool="first", activation=CLASSIFIER_ACTIVATIONS.get(body.preset, "tanh") if whole else "")


def with_choices(output: OutputConfig, plan: FinetunePlan) -> OutputConfig:
    """The output layer with what the plan says of it: which state stands for a text, and what answers for words."""
    if plan.head != "linear":
        if output.kind != "tags":
            raise ChoiceError(f"head={plan.head!r} answers tasks about words, such as entities; {output.task!r} is not one.")
        if plan.head == "crf":
            return replace(output, crf=True)
        if not any(label.startswith("B-") for label in output.labels):
            raise ChoiceError(
                f"head={plan.head!r} looks for spans, and no tag of {output.task!r} begins with B-. Choose entities."
            )
        return replace(output, kind="spans", attentive=plan.head != "spans")
    if not plan.pool or plan.pool == output.pool:
        return output
    if output.kind not in ("class", "number") or output.pool == "counts":
        raise ChoiceError(f"pool={plan.pool!r} is for one answer about a whole text, read from states. Leave it out here.")
    if output.pool == "last" and plan.pool == "first":
        raise ChoiceError(
            "pool='first' is for encoders: the first token of a decoder has read nothing of the text. Take last or mean."
        )
    return replace(output, pool=plan.pool)


def check_task(body: TrainableModel, task: Task, plan: FinetunePlan) -> None:
    """Refuse a task or a way to fine-tune that this kind of model has no use for."""
    family, layers = body.family, last_layers(plan.how)
    writes = family == "encoder-decoder"
    if task.kind == "text" and not writes:
        raise ChoiceError(
            f"The task {task.name!r} is answered by a text, which {body.name} cannot write here. Choose bart or t5."
        )
    if task.kind == "token" and writes:
        raise ChoiceError(f"{body.name} answers with one text, not with a tag for each word. Choose bert, gpt2 or elmo.")
    if task.kind == "question" and family in ("bilm", "static"):
        raise ChoiceError(f"{body.name} does not read question and text together. Choose bert, gpt2 or bart.")
    if task.kind in ("pair", "graded", "question") and getattr(body.config, "segments", 0) == 1:
        raise ChoiceError(f"{body.name} was made for one text at a time and cannot read a pair. Choose bert or roberta.")
    if plan.lm_weight and family != "decoder":
        raise ChoiceError(
            f"lm_weight makes training continue to predict the next word, which only a decoder can do; {body.name} is {an(family)}."
        )
    if writes and plan.how == "frozen":
        raise ChoiceError(
            f"{body.name} has no output layer that could learn alone: frozen leaves nothing to move. Take lora or last-1."
        )
    if family in ("bilm", "static") and (layers or plan.how == "lora"):
        raise ChoiceError(
            f"{body.name} has no attention layers: how={plan.how!r} is for Transformers. Take frozen, full or scratch."
        )
    if isinstance(body, HubBody) and plan.lm_weight:
        raise ChoiceError(
            f"lm_weight continues to predict the next word with the output layer of pre-training, which {body.name} has left behind. It is "
            "for decoders of ours, such as gpt2."
        )
    if isinstance(body, (TransformerModel, HubBody)) and layers > body.config.layers:
        raise ChoiceError(f"{body.name} has {body.config.layers} layers, so how={plan.how!r} names too many. Take full.")


def knowing_marks(body: TransformerModel, seed: int) -> TransformerModel:
    """A decoder that knows [START], [DELIM] and [EXTRACT]. Their vectors begin beside that of the end of a text, which it knows."""
    tokenizer = marked_tokenizer(body.tokenizer)
    if tokenizer is body.tokenizer:
        return body
    module = widened(body.module, tokenizer.vocabulary.size, tokenizer.vocabulary.last or 0, seed)
    return TransformerModel(body.name, module.to(body.device), tokenizer, body.preset)


def widened(module: Transformer, vocab: int, near: int, seed: int) -> Transformer:
    """The same network with more tokens; each new one has the vector of the token `near`, and a little chance."""
    old = module.config.vocab
    wider, rng = Transformer(replace(module.config, vocab=vocab)), torch.Generator().manual_seed(seed)
    weights = {name: value.detach().cpu() for name, value in module.state_dict().items()}
    for name, value in wider.state_dict().items():
        if value.shape != weights[name].shape:
            noise = torch.randn((vocab - old, *value.shape[1:]), generator=rng) * DEVIATION
            weights[name] = torch.cat((weights[name], weights[name][near] + noise))
    if module.config.tied:
        weights["head.project.weight"] = weights["embeddings.tokens.weight"]
    wider.load_state_dict(weights)
    return wider.eval()


def _take_pooler(model: FinetunedModel) -> None:
    """Where a BERT has learned a pooler by next-sentence prediction, the output layer begins with it, as Hugging Face's does."""
    hub = model.body if isinstance(model.body, HubBody) else None
    pooler: Any = getattr(getattr(model.module, "next_sentence", None), "pool", None) if hub is None else hub.pooler
    if pooler is None:
        return
    if model.output.kind != "text" and model.layer.dense is not None:
        model.layer.dense.load_state_dict(pooler.state_dict())
    if hub is not None:
        pooler.requires_grad_(False)  # nothing reads it any more


def _freeze(model: FinetunedModel, plan: FinetunePlan) -> None:
    """Freeze what does not move; low-rank adapters come in beside the frozen queries and values."""
    if plan.how == "lora":
        from explorer.training.finetune.adapters import TARGETS, adapt  # late: peft takes a second to load

        hub = model.body if isinstance(model.body, HubBody) else None
        adapt(model.module, plan.rank, plan.seed, TARGETS if hub is None else hub.adapted_parts())
        if hub is not None:
            hub.look_again()
    elif plan.how not in ("full", "scratch"):
        for weight in model.module.parameters():
            weight.requires_grad_(False)
        layers = last_layers(plan.how)
        for part in _last_parts(model, layers) if layers else ():
            part.requires_grad_(True)
    if model.output.kind == "text":
        return
    model.layer.requires_grad_(True)
    if not plan.lm_weight:
        _rest(model.module)


def _last_parts(model: FinetunedModel, layers: int) -> list[nn.Module]:
    """The last layers, and what normalises their states."""
    if isinstance(model.body, HubBody):
        return [*model.body.layers[-layers:], *model.body.last_parts]
    norm = model.transformer.norm
    return [*model.transformer.layers[-layers:], *([] if norm is None else [norm])]


def _rest(module: nn.Module) -> None:
    """Freeze what only pre-training asks: it gets no gradient now. Vectors of tokens that the head shares still move."""
    vectors = [part for name, part in module.named_children() if name in EMBEDDED]
    shared = {id(weight) for part in vectors for weight in part.parameters()}
    for name in PRE_TRAINING:
        part = getattr(module, name, None)
        for weight in () if part is None else part.parameters():
            if id(weight) not in shared:
                weight.requires_grad_(False)


def moved(model: FinetunedModel) -> tuple[int, int]:
    """How many numbers move, and how many there are in all."""
    every = list(model.module.parameters())
    return sum(weight.numel() for weight in every if weight.requires_grad), sum(weight.numel() for weight in every)
