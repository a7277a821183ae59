"""Fine-tuning held to code that we did not write: Hugging Face's classes and `peft` on the exported model, with the same data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from conftest import ALL, LONG, TABLE, long, some
from peft import LoraConfig, get_peft_model
from torch import Tensor, nn

import explorer as ex
from explorer.errors import ChoiceError
from explorer.models.finetuned import LAYER, FinetunedModel, stacked_rows
from explorer.training.finetune.labelled import draw_labelled, flat, gold, task_named
from explorer.training.finetune.metrics import METRICS, matthews, shared_words_f1
from explorer.training.finetune.run import FinetuneRun
from explorer.training.finetune.targets import TargetExample
from explorer.training.schedules import lr_share

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
SMALL: dict[str, Any] = {"examples": 40, "checks": 0, "snapshots": 0, "asked": 40, "device": "cpu", "batch": 8}
EQUAL = "fine-tuning: ours against Hugging Face's classes and peft"
EXPORTED = [
    ("bert", "sentiment", "BertForSequenceClassification"),
    ("bert", "entailment", "BertForSequenceClassification"),
    ("bert", "similarity", "BertForSequenceClassification"),
    ("bert", "entities", "BertForTokenClassification"),
    ("bert", "questions", "BertForQuestionAnswering"),
    ("gpt2", "entailment", "GPT2ForSequenceClassification"),
    ("gpt2", "entities", "GPT2ForTokenClassification"),
    ("gpt", "sentiment", "OpenAIGPTForSequenceClassification"),
    ("llama", "sentiment", "LlamaForSequenceClassification"),
    ("roberta", "entailment", "RobertaForSequenceClassification"),
    ("roberta", "questions", "RobertaForQuestionAnswering"),
    ("distilbert", "sentiment", "DistilBertForSequenceClassification"),
    ("electra", "sentiment", "ElectraForSequenceClassification"),
]


def theirs_of(model: FinetunedModel, folder: Path) -> Any:
    """The exported model, opened by the class that its config.json names; not one weight is missing or left over."""
    ex.export(model, folder)
    name = json.loads((folder / "config.json").read_text("utf-8"))["architectures"][0]
    theirs, report = getattr(transformers, name).from_pretrained(folder, output_loading_info=True)
    assert not any(report.values()), report
    return theirs.eval()


def asked_of(theirs: Any, run: FinetuneRun, part: tuple[TargetExample, ...]) -> tuple[Any, list[Tensor]]:
    """Their outputs and the loss for the same rows and targets."""
    batch = run.model.batch(stacked_rows([example.rows for example in part]))
    given: dict[str, Any] = {"input_ids": batch.ids, "attention_mask": batch.real.long()}
    if run.model.config.segments > 1:
        given["token_type_ids"] = batch.segments
    targets = [example.target for example in part]
    kind = run.model.output.kind
    if kind == "span":
        both = torch.as_tensor(np.stack(targets))
        given |= {"start_positions": both[:, 0], "end_positions": both[:, 1]}
    elif kind == "tags":
        wide = batch.ids.shape[1]
        given["labels"] = torch.as_tensor(
            np.stack([np.pad(example, (0, wide - len(example)), constant_values=-100) for example in targets])
        )
    else:
        given["labels"] = torch.as_tensor(np.stack(targets))
    out = theirs(**given)
    return out, [out.start_logits, out.end_logits] if kind == "span" else [out.logits]


@pytest.mark.parametrize(("model", "task", "name"), some(EXPORTED, *EXPORTED[::2]))
def test_an_exported_model_gives_equal_logits(
    model: str, task: str, name: str, tmp_path: Path, record_property: Callable[[str, str], None]
) -> None:
    run = ex.finetune(model, task=task, steps=6 if ALL else 2, rate=1e-2, **SMALL)
    list(run)
    theirs = theirs_of(run.model, tmp_path / "hub")
    assert type(theirs).__name__ == name
    part = run.batch(1).examples
    with torch.no_grad():
        out, logits = asked_of(theirs, run, part)
        batch = run.model.batch(stacked_rows([example.rows for example in part]))
        ours = run.model.scores(batch)
        mine = [ours[..., 0], ours[..., 1]] if run.model.output.kind == "span" else [ours]
    gaps = []
    for a, b in zip(mine, logits, strict=True):
        there = batch.real[..., None].expand_as(b) if b.dim() == 3 else batch.real if run.model.output.kind == "span" else ...
        gaps.append(float((a[there] - b[there]).abs().max()))
        assert float(a.std()) > 1e-3  # it says something
    record_property(TABLE + EQUAL, f"{name:36} {task:12} logits of the exported model {max(gaps):.0e}")
    assert max(gaps) <= 1e-4
    assert all(label == theirs.config.id2label[n] for n, label in enumerate(run.model.output.labels))


def test_the_exported_tokenizer_makes_the_same_rows(tmp_path: Path) -> None:
    for model in ("bert", "gpt2"):
        run = ex.finetune(model, task="entailment", steps=1, **SMALL)
        ex.export(run.model, tmp_path / model)
        tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / model)
        for example in run.examples[:5]:
            encoded = tokenizer(example.given.asked.text, example.given.asked.pair)
            assert encoded["input_ids"] == example.rows[0].ids.tolist()
            if model == "bert":
                assert encoded["token_type_ids"] == example.rows[0].segments.tolist()


def named_alike(run: FinetuneRun, theirs: Any, inside: str = "") -> list[tuple[str, nn.Parameter, nn.Parameter]]:
    """Some weights on both sides: of the layers, the embeddings and the output layer, under our name."""
    mine, other = dict(run.model.module.named_parameters()), dict(theirs.named_parameters())
    pairs = {
        f"{LAYER}.classify.weight": "classifier.weight",
        f"{LAYER}.classify.bias": "classifier.bias",
        f"{LAYER}.dense.weight": "bert.pooler.dense.weight",
    }
    if inside != "frozen":
        pairs |= {
            "embeddings.tokens.weight": "bert.embeddings.word_embeddings.weight",
            "layers.0.attention.key.weight": "bert.encoder.layer.0.attention.self.key.weight",
            "layers.1.feed_forward.widen.weight": "bert.encoder.layer.1.intermediate.dense.weight",
            "layers.0.after_attention.norm.weight": "bert.encoder.layer.0.attention.output.LayerNorm.weight",
        }
    return [(name, mine[name], other[there]) for name, there in pairs.items()]


def adapted(theirs: Any, run: FinetuneRun) -> tuple[Any, list[tuple[str, nn.Parameter, nn.Parameter]]]:
    """Their model with peft's adapters, which begin as ours do."""
    rank = run.plan.rank
    config = LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        target_modules=["query", "value"],
        modules_to_save=["classifier", "pooler"],
        task_type="SEQ_CLS",
    )
    adapted_model = get_peft_model(theirs, config)
    mine, other, pairs = dict(run.model.module.named_parameters()), dict(adapted_model.named_parameters()), []
    for name, value in other.items():
        if "lora_" in name:
            layer = name.split("encoder.layer.")[1].split(".")[0]
            ours = f"layers.{layer}.attention.{name.split('self.')[1]}"
            value.data.copy_(mine[ours].data)
            pairs.append((ours, mine[ours], value))
    saved = {f"{LAYER}.classify.weight": "classifier.modules_to_save.default.weight"}
    pairs += [(ours, mine[ours], value) for ours, end in saved.items() for name, value in other.items() if name.endswith(end)]
    return adapted_model, pairs


@LONG
@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # peft asks the old name
@pytest.mark.parametrize("how", ["full", *long("frozen"), "lora"])
def test_gradients_and_steps_are_those_of_hugging_face_and_peft(
    how: str, tmp_path: Path, record_property: Callable[[str, str], None]
) -> None:
    """The same model, rows and optimiser on both sides: first gradients, then the losses of twenty steps, then the accuracy."""
    run = ex.finetune("bert", task="sentiment", how=how, steps=20, rate=2e-3, seed=3, **SMALL)
    theirs = theirs_of(run.model, tmp_path / "hub").train()  # before the first step; its dropout is 0
    if how == "lora":
        theirs, pairs = adapted(theirs, run)
    else:
        pairs = named_alike(run, theirs, how)
        if how == "frozen":
            theirs.requires_grad_(False)
            theirs.classifier.requires_grad_(True)
            theirs.bert.pooler.requires_grad_(True)
    part = run.batch(1)
    run._gradients(part, 1)
    asked_of(theirs, run, part.examples)[0].loss.backward()
    gaps = {}
    for name, mine, other in pairs:
        assert mine.grad is not None and other.grad is not None, name
        gaps[name] = float((mine.grad - other.grad).abs().max())
    assert max(gaps.values()) <= 1e-5, gaps
    assert any(float(mine.grad.abs().max()) > 1e-3 for _, mine, _ in pairs if mine.grad is not None)
    theirs.zero_grad()
    far = 0.0
    moving = [weight for weight in theirs.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(moving, lr=2e-3, weight_decay=0.01, betas=(0.9, 0.98))
    for step in run:
        optimiser.param_groups[0]["lr"] = 2e-3 * lr_share("linear", step.step, 20, run.plan.warm)
        loss = asked_of(theirs, run, run.batch(step.step).examples)[0].loss
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(moving, 1.0)
        optimiser.step()
        far = max(far, abs(step.losses["task"] - loss.item()))
        assert step.losses["task"] == pytest.approx(loss.item(), abs=2e-3)
    examples = run.held("validation", 40)
    with torch.no_grad():
        answers = asked_of(theirs.eval(), run, examples)[1][0].argmax(-1)
    accuracy = float(np.mean([int(n) == int(example.target) for n, example in zip(answers, examples, strict=True)]))
    ours, peer = run.score("validation", 40), "peft" if how == "lora" else "Hugging Face"
    line = f"first gradients {max(gaps.values()):.0e}, losses of 20 steps {far:.0e}, accuracy {ours:.3f} and {accuracy:.3f}"
    record_property(TABLE + EQUAL, f"{peer:12} {how:7} {line}")
    assert ours == pytest.approx(accuracy, abs=0.03)


def test_adapters_are_added_in_where_a_model_is_kept(tmp_path: Path) -> None:
    run = ex.finetune("bert", task="sentiment", how="lora", steps=4, **SMALL)
    list(run)
    text = run.examples[0].given.asked.text
    from explorer.models import store

    store.write(run.model, tmp_path / "kept")
    again = ex.load(tmp_path / "kept", device="cpu")
    assert not any("lora" in name for name in again.module.state_dict())
    np.testing.assert_allclose(again.outputs(text)["labels"], run.model.outputs(text)["labels"], atol=1e-5)
    untouched = ex.load("bert", device="cpu").module.layers[0].attention.query.weight
    assert not torch.equal(again.module.layers[0].attention.query.weight, untouched)


@LONG
def test_what_no_class_has_is_not_exported(tmp_path: Path) -> None:
    for model, task in (("elmo", "topic"), ("word2vec", "topic"), ("bag of words", "topic"), ("gpt2", "questions")):
        run = ex.finetune(model, task=task, steps=1, **SMALL)
        with pytest.raises(ChoiceError, match="no.* class"):
            ex.export(run.model, tmp_path / model)
    run = ex.finetune("bart", task="sentiment", steps=1, **SMALL)
    ex.export(run.model, tmp_path / "bart")
    assert "BartForConditionalGeneration" in (tmp_path / "bart" / "config.json").read_text("utf-8")


@pytest.mark.parametrize("seed", range(5))
def test_matthews_is_scikit_learn_s(seed: int) -> None:
    from sklearn.metrics import matthews_corrcoef

    rng = np.random.default_rng(seed)
    answers, gold_ = (rng.choice(["right", "wrong", "other"][: 2 + seed % 2], 50).tolist() for _ in range(2))
    assert matthews(answers, gold_) == pytest.approx(matthews_corrcoef(gold_, answers))
    assert matthews(["a"] * 4, ["a", "b", "a", "b"]) == 0 and METRICS["Matthews"] is matthews


def test_tags_of_many_texts_score_as_seqeval_scores_them() -> None:
    from seqeval.metrics import f1_score

    texts = draw_labelled(task_named("entities"), 30, "train")
    answers = [tuple(np.random.default_rng(n).permutation(example.tags)) for n, example in enumerate(texts)]
    wanted = f1_score([list(example.tags) for example in texts], [list(example) for example in answers])
    assert METRICS["span F1"](flat(answers, tagged=True), gold(texts)) == pytest.approx(wanted)


def test_words_of_answers_are_counted_as_squad_does() -> None:
    assert shared_words_f1(["the red ball.", "Anna", ""], ["A red ball", "Ben", ""]) == pytest.approx((1 + 0 + 1) / 3)
    assert shared_words_f1(["red ball"], ["ball"]) == pytest.approx(2 / 3)


@LONG
def test_the_losses_of_compared_ways_are_those_of_hugging_face_s_class(tmp_path: Path) -> None:
    """The curves that a comparison shows: each way from the same start, beside the loop over the exported model."""
    ways, steps = ("full", "frozen"), 5
    record = ex.training.compare_ways("bert", task="entailment", ways=ways, examples=40, steps=steps, seed=1, device="cpu")
    for number, how in enumerate(ways):
        run = ex.finetune("bert", task="entailment", how=how, steps=steps, seed=1, examples=40, device="cpu")
        theirs = theirs_of(run.model, tmp_path / how).train()
        if how == "frozen":
            theirs.bert.requires_grad_(False)
            theirs.bert.pooler.requires_grad_(True)
        moving, rate = [weight for weight in theirs.parameters() if weight.requires_grad], run.plan.rate
        optimiser = torch.optim.AdamW(moving, lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
        for step in range(1, steps + 1):
            optimiser.param_groups[0]["lr"] = rate * lr_share("linear", step, steps, run.plan.warm)
            loss = asked_of(theirs, run, run.batch(step).examples)[0].loss
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(moving, 1.0)
            optimiser.step()
            assert record.loss[number, step - 1] == pytest.approx(loss.item(), abs=2e-3)
        assert record.weights[number] == sum(weight.numel() for weight in run.model.module.parameters())
    everything = sum(weight.numel() for weight in theirs.classifier.parameters())
    assert (
        0 < record.moved[1] <= everything + sum(weight.numel() for weight in theirs.bert.pooler.parameters()) < record.moved[0]
    )


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_the_positions_that_are_shown_as_read_are_those_that_hugging_face_s_class_reads(model: str, tmp_path: Path) -> None:
    """The row is what the exported tokenizer makes, and the loss of `…ForSequenceClassification` hangs on the last state there alone."""
    run = ex.finetune(model, task="entailment", steps=1, **SMALL)
    shown = ex.training.task_inputs(ex.load(model, device="cpu"), ["entailment"])
    theirs = theirs_of(run.model, tmp_path / model)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / model)
    pairs = [example.asked for example in draw_labelled(task_named("entailment"), 40, "train")]
    rows = [tokenizer(example.text, example.pair)["input_ids"] for example in pairs]
    (ids,) = [row for row in rows if run.model.tokenizer.tokens(row).texts == shown.tokens[0]]
    kept: list[Tensor] = []
    stack = theirs.base_model

    def keep(module: nn.Module, given: Any, out: Any) -> None:
        out.last_hidden_state.retain_grad()
        kept.append(out.last_hidden_state)

    with_hook = stack.encoder if model == "bert" else stack
    with_hook.register_forward_hook(keep)
    theirs(input_ids=torch.tensor([ids]), labels=torch.tensor([0])).loss.backward()
    felt = kept[0].grad[0].abs().sum(-1) > 0  # type: ignore[index]
    assert torch.nonzero(felt)[:, 0].tolist() == shown.reads[0].tolist()
