"""Fine-tuning Hugging Face models that are none of ours: the same losses and weights as a plain loop over their own classes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from conftest import LONG, SAMPLED, TABLE, some
from peft import LoraConfig, get_peft_model
from torch import nn

import explorer as ex
from explorer.errors import ChoiceError
from explorer.models.finetuned import LAYER, stacked_rows
from explorer.models.hub import TWINS
from explorer.models.hub.architectures import tiny
from explorer.models.hub.body import HubBody
from explorer.models.hub.foreign import HubModel
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.targets import TargetExample
from explorer.training.schedules import lr_share

transformers.logging.set_verbosity_error()
SMALL: dict[str, Any] = {"examples": 24, "steps": 8, "batch": 8, "checks": 0, "snapshots": 0, "asked": 24, "device": "cpu"}
LONGEST = 128  # tokens of a text
RATE, TASK = 2e-3, "new words: feeling"
# A class without a twin among ours, its own class with an output layer for texts, and the names of our layer's parts there.
CLASSES = {
    "MegatronBertForPreTraining": ("MegatronBert", {"dense": "bert.pooler.dense", "classify": "classifier"}),
    "MPNetForMaskedLM": ("MPNet", {"dense": "classifier.dense", "classify": "classifier.out_proj"}),
    "GPTNeoXForCausalLM": ("GPTNeoX", {"classify": "score"}),
    "OPTForCausalLM": ("OPT", {"classify": "score"}),
}
EACH_WAY = [*product(CLASSES, ("full", "last-1", "frozen", "lora"))]
DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "hidden_dropout", "dropout", "attention_dropout")
LORA = {"MegatronBert": ["query", "value"], "MPNet": ["q", "v"], "GPTNeoX": ["query_key_value"], "OPT": ["q_proj", "v_proj"]}


def opened(architecture: str) -> HubModel:
    """A tiny one with random weights, read with the tokenizer of our bert; texts are short here."""
    tokenizer = ex.load("bert", device="cpu").tokenizer
    module = tiny(architecture, tokenizer.vocabulary.size)
    for dropout in DROPOUTS:  # a copy is built from these, and both sides draw no numbers then
        if hasattr(module.config, dropout):
            setattr(module.config, dropout, 0.0)
    module.config.max_position_embeddings = LONGEST
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = ex.load((type(module)(module.config).eval(), tokenizer))
    assert isinstance(model, HubModel) and model.module.config.model_type not in TWINS
    return model


def theirs_of(run: FinetuneRun, architecture: str) -> Any:
    """Their class for the same task, with the weights that our run begins with; nothing but what is named here is put in."""
    name, parts = CLASSES[architecture]
    body = run.model.body
    assert isinstance(body, HubBody)
    config = type(body.module.config).from_dict(body.module.config.to_dict() | {"num_labels": len(run.model.output.labels)})
    theirs = getattr(transformers, f"{name}ForSequenceClassification")(config)
    state = body.module.state_dict().items()
    weights = {
        key.replace("base_layer.", ""): value for key, value in state if not key.startswith(LAYER) and "lora_" not in key
    }
    report = theirs.base_model.load_state_dict(weights, strict=False)
    assert not report.unexpected_keys and all("pooler" in key for key in report.missing_keys)
    layer = dict(run.model.layer.named_parameters())
    with torch.no_grad():
        for ours, there in parts.items():
            for part, value in theirs.get_submodule(there).named_parameters():
                value.copy_(layer[f"{ours}.{part}"])
    return theirs.train()


def asked(theirs: Any, run: FinetuneRun, part: tuple[TargetExample, ...]) -> Any:
    """What their class says to the same rows, with its own loss."""
    rows = stacked_rows([example.rows for example in part])
    wide, pad = max(map(len, rows)), theirs.config.pad_token_id
    ids = torch.tensor([[*row.ids.tolist(), *[pad] * (wide - len(row))] for row in rows])
    real = torch.tensor([[1] * len(row) + [0] * (wide - len(row)) for row in rows])
    return theirs(input_ids=ids, attention_mask=real, labels=torch.tensor([int(example.target) for example in part]))


def only(theirs: Any, how: str, architecture: str) -> Any:
    """Freeze in their class what does not move; peft's own adapters for "lora"."""
    name, parts = CLASSES[architecture]
    heads = sorted({there.removeprefix("bert.").split(".")[0] for there in parts.values()})
    if how == "lora":
        return get_peft_model(theirs, LoraConfig(r=4, lora_alpha=8, target_modules=LORA[name], modules_to_save=heads))
    if how != "full":
        theirs.requires_grad_(False)
        for there in parts.values():
            theirs.get_submodule(there).requires_grad_(True)
    if how == "last-1":
        stacks = [part for part in theirs.modules() if isinstance(part, nn.ModuleList) and len(part) == 2]
        stacks[0][-1].requires_grad_(True)
        for path, part in theirs.named_modules():
            if path in ("bert.encoder.ln", "gpt_neox.final_layer_norm", "model.decoder.final_layer_norm"):
                part.requires_grad_(True)
    return theirs


def begun_alike(theirs: Any, run: FinetuneRun) -> None:
    """Let peft's first matrices be ours, layer by layer in the order of the network."""
    mine = [value for key, value in run.model.module.named_parameters() if "lora_A" in key]
    other = [value for key, value in theirs.named_parameters() if "lora_A" in key]
    assert len(mine) == len(other) > 0
    with torch.no_grad():
        for a, b in zip(mine, other, strict=True):
            b.copy_(a)


def gradient_gaps(run: FinetuneRun, theirs: Any, parts: dict[str, str]) -> list[float]:
    """How far each gradient of ours is from that of the same weight in their class."""
    every = {key.replace("modules_to_save.default.", ""): value for key, value in theirs.named_parameters()}
    gaps = []
    for name, weight in run.model.module.named_parameters():
        if not weight.requires_grad:
            continue
        ours, _, part = name.removeprefix(f"{LAYER}.").partition(".")
        end = f"{parts[ours]}.{part}" if name.startswith(LAYER) else name
        (peer,) = [value for key, value in every.items() if f".{key}".endswith(f".{end}") and value.requires_grad]
        a, b = (torch.zeros(1) if parameter.grad is None else parameter.grad for parameter in (weight, peer))
        gaps.append(float((a - b).abs().max()))
    return gaps


def loop(theirs: Any, run: FinetuneRun) -> list[float]:
    """A plain training loop of PyTorch's over their class, on the batches of the run."""
    moving = [weight for weight in theirs.parameters() if weight.requires_grad]
    optimiser, losses = torch.optim.AdamW(moving, lr=RATE, weight_decay=0.01, betas=(0.9, 0.98)), []
    for step in range(1, run.plan.steps + 1):
        optimiser.param_groups[0]["lr"] = RATE * lr_share("linear", step, run.plan.steps, run.plan.warm)
        loss = asked(theirs, run, run.batch(step).examples).loss
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(moving, 1.0)
        optimiser.step()
        losses.append(loss.item())
    return losses


@SAMPLED
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize(("architecture", "how"), some(EACH_WAY, *EACH_WAY[::3]))
def test_a_model_without_a_twin_learns_as_in_a_plain_loop(
    architecture: str, how: str, record_property: Callable[[str, str], None]
) -> None:
    given = opened(architecture)
    before = {name: weight.clone() for name, weight in given.module.named_parameters()}
    run = ex.finetune(given, task=TASK, how=how, rate=RATE, rank=4, **SMALL)
    theirs = only(theirs_of(run, architecture), how, architecture)
    if how == "lora":
        begun_alike(theirs, run)
    part = run.batch(1)
    run._gradients(part, 1)
    asked(theirs, run, part.examples).loss.backward()
    gaps = gradient_gaps(run, theirs, CLASSES[architecture][1])
    ours, wanted = [step.losses["task"] for step in run], loop(theirs, run)
    record_property(
        TABLE + "fine-tuning Hugging Face classes: ours against a plain loop (peft for lora)",
        f"{architecture:28} {how:7} first gradients {max(gaps):.0e}, losses {np.abs(np.subtract(ours, wanted)).max():.0e}",
    )
    assert max(gaps) <= 1e-5 and np.abs(np.subtract(ours, wanted)).max() <= 1e-3
    assert len(gaps) == sum(weight.requires_grad for weight in run.model.module.parameters()), (
        "every weight that moves has its peer"
    )
    assert all(torch.equal(weight, before[name]) for name, weight in given.module.named_parameters()), (
        "the opened one is as it was"
    )
    outputs = asked(theirs.eval(), run, run.held("validation", 24)).logits.argmax(-1).tolist()
    right = [int(example.target) for example in run.held("validation", 24)]
    assert run.score("validation", 24) == pytest.approx(
        np.mean([a == b for a, b in zip(outputs, right, strict=True)]), abs=0.05
    )


@LONG
def test_texts_pairs_words_and_spans_are_read_as_their_own_tokenizer_reads_them() -> None:
    """Every kind of task that an encoder or a decoder answers; a pair is one row with the marks that the tokenizer sets."""
    for architecture in ("MegatronBertForPreTraining", "GPTNeoXForCausalLM"):
        given = opened(architecture)
        for task in ("new words: entailment", "new words: entities", "questions", "similarity"):
            run = ex.finetune(given, task=task, steps=1, **{k: v for k, v in SMALL.items() if k != "steps"}, too_long="cut")
            assert len(list(run)) == 1 and np.isfinite(run.score("validation", 8))
            example = run.examples[0]
            wanted = given.tokenizer.encode(example.given.asked.text, example.given.asked.pair).ids.tolist()
            assert example.rows[0].ids.tolist()[:8] == wanted[:8]


@LONG
def test_a_copy_learns_again_and_from_scratch_and_is_compared() -> None:
    given = opened("GPTNeoXForCausalLM")
    run = ex.finetune(given, task=TASK, steps=4, **{k: v for k, v in SMALL.items() if k != "steps"})
    list(run)
    change = ex.training.before_after(given, run, "Anna was happy.")
    assert change.moved("decoder").shape[0] == 3 and change.moved("decoder").max() > 0
    again = ex.finetune(run.model, task=TASK, steps=1, **{k: v for k, v in SMALL.items() if k != "steps"})
    assert torch.equal(again.model.module.embed_in.weight, run.model.module.embed_in.weight)
    new = ex.finetune(given, task=TASK, how="scratch", **SMALL)
    assert not torch.equal(new.model.module.embed_in.weight, given.module.gpt_neox.embed_in.weight)
    record = ex.training.compare_ways(given, task=TASK, ways=["frozen", "lora", "full"], examples=16, steps=2, device="cpu")
    assert record.moved[0] < record.moved[1] < record.moved[2]
    inputs = ex.training.task_inputs(given, [TASK])
    assert inputs.reads[0].tolist() == [len(inputs.tokens[0]) - 1]


@LONG
@pytest.mark.parametrize(
    ("architecture", "how"),
    [("MegatronBertForPreTraining", "lora"), ("MPNetForMaskedLM", "full"), ("GPTNeoXForCausalLM", "lora")],
)
def test_what_was_learned_is_written_as_their_own_class(architecture: str, how: str, tmp_path: Path) -> None:
    run = ex.finetune(opened(architecture), task=TASK, how=how, rate=1e-2, **SMALL)
    list(run)
    ex.export(run.model, tmp_path)
    written, report = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path, output_loading_info=True)
    assert type(written).__name__ == f"{CLASSES[architecture][0]}ForSequenceClassification" and not any(report.values()), report
    example = run.examples[0]
    with torch.no_grad():
        theirs = written.eval()(input_ids=torch.tensor([example.rows[0].ids.tolist()])).logits[0]
        ours = run.model.scores(run.model.batch(example.rows))[0]
    assert float((ours - theirs).abs().max()) <= 1e-5 and float(ours.std()) > 1e-3
    assert written.config.id2label == dict(enumerate(run.model.output.labels))


@LONG
def test_what_cannot_be_done_with_them_is_said() -> None:
    given = opened("GPTNeoXForCausalLM")
    for options, message in (
        ({"lm_weight": 0.5}, "decoders of ours"),
        ({"folder": "there"}, "Leave folder out"),
        ({"how": "last-7"}, "2 layers"),
    ):
        with pytest.raises(ChoiceError, match=message):
            ex.finetune(given, task=TASK, **SMALL, **options)
    tokenizer = ex.load("bert", device="cpu").tokenizer
    both = ex.load((tiny("BlenderbotSmallForConditionalGeneration", tokenizer.vocabulary.size), tokenizer))
    with pytest.raises(ChoiceError, match="Fine-tune bart or t5"):
        ex.finetune(both, task=TASK, **SMALL)
