"""What is hidden, where the loss falls, that training learns, and that a run survives being killed."""

from __future__ import annotations

import itertools
import json
import math
import multiprocessing
import os
import time
from dataclasses import replace
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SAMPLED, long, sample
from torch.nn import functional

import explorer as ex
from explorer.corruption.collate import Batch, BatchContext, add_special, collate_causal, collate_mlm_coref, collate_mlm_nsp
from explorer.corruption.strangers import Subjects, subject
from explorer.microworld.grammar.pairing import pairs
from explorer.models.transformer import TransformerModel
from explorer.nn.losses import mlm_coref_loss
from explorer.records import Vocabulary
from explorer.text.examples import CorefExample, Example, Translation, batches_by_length, examples_of_step, prepared, tokens_in
from explorer.text.toy import toy_stories as stories
from explorer.training import kept_run, resume
from explorer.training.device import tensors
from explorer.training.objectives import OBJECTIVES
from explorer.training.run import Run
from explorer.training.schedules import SCHEDULES, lr_share
from explorer.training.steps import steps_of

SMALL = {"dim": 32, "heads": 2, "hidden": 64}
TEXTS = list(stories(300, 4))


def kitchen(model: TransformerModel, texts: list[list[str]], strategy: str = "mlm") -> BatchContext:
    examples = prepared(texts, model.tokenizer)
    return BatchContext(examples, model.tokenizer.vocabulary, model.longest, strategy, np.random.default_rng(0))


def test_the_causal_loss_is_the_mean_surprise_of_the_next_piece(gpt2: TransformerModel) -> None:
    context = kitchen(gpt2, TEXTS[:3])
    loss = OBJECTIVES["causal"].loss(gpt2.module, tensors(collate_causal(context.every, context), gpt2.device), 0.0)["lm"]
    surprise = []
    for story in TEXTS[:3]:
        ids = [0, *gpt2.tokenizer.encode(" ".join(story), special=False).ids.tolist(), 0]
        scores = gpt2.logits(ids).astype(np.float64)
        logp = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        surprise += [-logp[i, ids[i + 1]] for i in range(len(ids) - 1)]
    assert float(loss.detach()) == pytest.approx(np.mean(surprise), abs=1e-4)


def test_stories_in_pieces_are_what_the_tokenizer_makes_of_the_whole(shipped: TransformerModel) -> None:
    for text, story in zip(TEXTS[:50], prepared(TEXTS[:50], shipped.tokenizer), strict=True):
        whole = shipped.tokenizer.encode(" ".join(text), special=False)
        assert story.ids.tolist() == whole.ids.tolist()
        assert len(set(story.words.tolist())) == len(set(whole.words)) and (np.diff(story.words) >= 0).all()
        assert story.sentences[-1] == len(text) - 1


@pytest.mark.parametrize("kind", ["bpe", "byte-bpe", "unigram", "wordpiece"])
def test_stories_are_the_same_pieces_under_every_tokenizer(kind: str) -> None:
    pieces = ex.tokenizer(kind, (" ".join(story) for story in TEXTS), size=400)
    for text, story in zip(TEXTS[:30], prepared(TEXTS[:30], pieces), strict=True):
        assert story.ids.tolist() == pieces.encode(" ".join(text), special=False).ids.tolist()
    whole = prepared([" ".join(text) for text in TEXTS[:30]], pieces)
    for first, other in zip(prepared(TEXTS[:30], pieces), whole, strict=True):
        assert first.ids.tolist() == other.ids.tolist() and first.words.tolist() == other.words.tolist()


@LONG
def test_the_transformer_reads_english_and_is_taught_french() -> None:
    texts = [Translation(pair.english, pair.french) for pair in pairs(400, 3)]
    run = ex.fit("transformer", corpus=texts, pieces=300, steps=120 if ALL else 50, batch=16, device="cpu", seed=1, **SMALL)
    pieces, batch, numbers = run.model.tokenizer, run.batch(1), examples_of_step(1, 392, 16, 1)
    for row, number in enumerate(numbers):
        source = batch.source[row][batch.attention_mask[row]].tolist()
        target = batch.labels[row][batch.loss_mask[row]].tolist()
        assert pieces.decode(source) == texts[number].source and source[-1] == pieces.vocabulary.end
        assert pieces.decode(target) == texts[number].target and target[-1] == pieces.vocabulary.end
    assert run.plan.schedule == "noam" and run.plan.smoothing == 0.1 and run.model.config.start == pieces.vocabulary.pad
    losses = [step.losses["lm"] for step in run]
    assert np.mean(losses[-5:]) < 0.9 * losses[0]
    with pytest.raises(ex.ExplorerError, match="do not go together"):
        ex.fit("gpt2", corpus=texts, device="cpu", **SMALL)
    with pytest.raises(ex.ExplorerError, match="do not go together"):
        ex.fit("transformer", corpus=TEXTS, device="cpu", **SMALL)


@LONG  # the test above trains an encoder-decoder, and test_pretended.py every system
def test_bart_and_t5_learn_with_their_own_tokenizers() -> None:
    for name, begins in (("bart", "end"), ("t5", "pad")):
        run = ex.fit(name, corpus=TEXTS, pieces=450, steps=80, batch=16, device="cpu", seed=1, **SMALL)
        vocabulary = run.model.tokenizer.vocabulary
        assert run.model.config.start == getattr(vocabulary, begins) and vocabulary.pad is not None
        losses = [step.losses["lm"] for step in run]
        assert np.mean(losses[-5:]) < 0.9 * losses[0]


def test_pairs_follow_or_come_from_another_story(bert: TransformerModel) -> None:
    context = kitchen(bert, TEXTS)
    batch = collate_mlm_nsp(context.every, context)
    label = batch.extras["nsp"]
    assert 0.4 < label.mean() < 0.6
    for n, story in enumerate(context.every):
        ids, segments = batch.labels[n][batch.attention_mask[n]], batch.segments[n][batch.attention_mask[n]]
        assert ids[0] == 2 and ids[-1] == 3 and (ids == 3).sum() == 2
        first = int(np.argmax(ids == 3))
        assert (segments == (np.arange(len(ids)) > first)).all(), "segment B begins after the first [SEP]"
        inner = ids[~np.isin(ids, (2, 3))]
        assert np.array_equal(inner, story.ids) == (label[n] == 0)
        assert inner[: first - 1].tolist() == story.ids[: first - 1].tolist()


def test_neither_sentence_of_a_pair_takes_the_other_s_place(bert: TransformerModel) -> None:
    """Two sentences of which each alone would fill the model: both are cut to half of it, as far as there is room."""
    ids = np.arange(10, 10 + 2 * bert.longest)
    example = Example(ids, np.arange(len(ids)), (ids >= 10 + bert.longest).astype(np.int64))
    context = replace(kitchen(bert, TEXTS[:2]), every=[example, replace(example, ids=ids[::-1].copy())])
    room = bert.longest - 3
    for _ in range(4):
        batch = collate_mlm_nsp([example], context)
        first, second = np.argmax(batch.labels[0] == bert.tokenizer.vocabulary.sep) - 1, (batch.segments[0] == 1).sum() - 1
        assert (first, second) == (room - room // 2, room // 2)


def test_the_supervised_head_is_taught_what_every_visible_pronoun_means(bert: TransformerModel) -> None:
    context, links = kitchen(bert, TEXTS[:20]), ((4, 1), (2, 0), (3, 0), (200, 3))
    stories = [CorefExample(story.ids, story.words, story.sentences, links) for story in context.every]
    batch = collate_mlm_coref(stories, context)
    surprises = []
    for row, story in enumerate(stories):
        inside = batch.attention_mask[row]
        seen = (batch.source == batch.labels)[row]
        told = {(query + 1, key + 1) for query, key in links if query < len(story.ids) and seen[query + 1]}  # after [CLS]
        assert set(map(tuple, np.argwhere(batch.extras["antecedent"][row]))) == told
        weights = ex.trace(bert, batch.source[row][inside].tolist()).attention[-1].weights[0]
        surprises += [-np.log(weights[place]) for place in told]
    assert 0 < len(surprises) < 60, "some pronouns are hidden"
    taught = mlm_coref_loss(bert.module, tensors(batch, bert.device), 0.0)["antecedent"]
    assert float(taught.detach()) == pytest.approx(np.mean(surprises), abs=1e-3)


def test_long_stories_are_cut_to_what_the_model_reads(bert: TransformerModel) -> None:
    context = kitchen(bert, [[sentence for text in TEXTS[n : n + 9] for sentence in text] for n in (0, 20, 40)])
    for name, entry in OBJECTIVES.items():
        strategy = {"denoising": "bart", "causal": "causal", "gap-sentence": "pegasus"}.get(name, "mlm")
        if name not in ("span-to-text", "translation", "bilm", "skip-gram", "co-occurrence"):
            batch = entry.collate(
                context.every, BatchContext(context.every, context.vocabulary, 64, strategy, np.random.default_rng(0))
            )
            assert batch.source.shape[1] <= 64 and batch.labels.shape[1] <= 64


def test_an_encoder_decoder_is_taught_with_the_right_pieces_shifted(bert: TransformerModel) -> None:
    model = ex.build("bart", tokenizer=bert.tokenizer, seed=0, device="cpu", **SMALL)
    context = kitchen(model, TEXTS[:2], "bart")
    batch = tensors(OBJECTIVES["denoising"].collate(context.every, context), model.device)
    loss = float(OBJECTIVES["denoising"].loss(model.module, batch, 0.0)["lm"].detach())
    each = []
    for row in range(2):
        source, target = (
            batch[n][row][batch[m][row]].tolist() for n, m in (("source", "attention_mask"), ("labels", "loss_mask"))
        )
        scores = model.outputs(source, target)["lm"].astype(np.float64)
        each += [-(scores[i] - np.log(np.exp(scores[i]).sum()))[piece] for i, piece in enumerate(target)]
    assert loss == pytest.approx(np.mean(each), abs=1e-4)


def test_every_story_comes_once_in_a_round_and_a_step_is_always_the_same() -> None:
    first = np.concatenate([examples_of_step(step, 100, 10, 3) for step in range(1, 11)])
    assert sorted(first.tolist()) == list(range(100))
    second = np.concatenate([examples_of_step(step, 100, 10, 3) for step in range(11, 21)])
    assert sorted(second.tolist()) == list(range(100)) and not np.array_equal(first, second)
    np.testing.assert_array_equal(examples_of_step(7, 100, 10, 3), first[60:70])
    with pytest.raises(ex.ExplorerError, match="batch"):
        examples_of_step(1, 5, 10, 0)


@LONG
@pytest.mark.parametrize("system", ["bert", "transformer"])
def test_stories_of_like_length_share_a_batch_and_each_still_comes_once(system: str) -> None:
    texts = [Translation(pair.english, pair.french) for pair in pairs(400, 3)] if system == "transformer" else TEXTS[:400]
    given = {"corpus": texts, "pieces": 300, "steps": 6, "batch": 8, "device": "cpu", "checks": 0, **SMALL}
    mixed, sorted_ = ex.fit(system, **given), ex.fit(system, by_length=True, **given)
    count = len(mixed.examples)
    plain = [examples_of_step(step, count, 8, 0) for step in range(1, 33)]
    batches = batches_by_length(0, mixed.examples, 8, 0)
    assert sorted(np.concatenate(plain).tolist()) == sorted(batches.reshape(-1).tolist())
    lengths = np.array([[tokens_in(mixed.examples[number]) for number in batch] for batch in batches.tolist()])
    bounds = sorted((row.min(), row.max()) for row in lengths)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(bounds))  # no two batches overlap in their lengths
    filled = [np.mean([run.batch(step).attention_mask.mean() for step in range(1, 33)]) for run in (mixed, sorted_)]
    assert filled[1] > filled[0]
    other = ex.fit(system, by_length=True, **given)  # asked for no other step before
    assert other.batch(5).source.tolist() == sorted_.batch(5).source.tolist()


def test_short_texts_are_read_whole_and_their_next_sentence_is_not_asked(bert: TransformerModel, tmp_path: Path) -> None:
    texts = [story[:2] for story in TEXTS[:6]] + [story for story in TEXTS if len(story) >= 4][:6]
    context = replace(kitchen(bert, texts), pairs_from=4)
    batch = collate_mlm_nsp(context.every, context)
    short = np.arange(12) < 6
    assert (batch.extras["nsp"][short] == -100).all() and set(batch.extras["nsp"][~short].tolist()) <= {0, 1}
    for n, text in enumerate(texts[:6]):
        whole = bert.tokenizer.encode(" ".join(text)).ids
        assert batch.labels[n, batch.attention_mask[n]].tolist() == whole.tolist() and not batch.segments[n].any()
    assert (batch.segments[~short].max(axis=1) == 1).all()
    from transformers import BertForPreTraining  # seconds, which a process that imports this file need not wait

    twin = BertForPreTraining.from_pretrained(ex.export(bert, tmp_path)).eval()
    for rows in (np.arange(12), np.arange(6)):  # Hugging Face leaves out the rows with −100, too
        batch_ = Batch(
            batch.source[rows], batch.attention_mask[rows], batch.segments[rows], batch.labels[rows], batch.loss_mask[rows],
            {"nsp": batch.extras["nsp"][rows]},
        )  # fmt: skip
        given = tensors(batch_, bert.device)
        mine = OBJECTIVES["mlm+nsp"].loss(bert.module, given, 0.0)
        assert OBJECTIVES["mlm+nsp"].weigh(batch_)["nsp"] == int((~short[rows]).sum())
        if not (~short[rows]).any():
            assert float(mine["nsp"].detach()) == 0.0
            continue
        with torch.no_grad():
            theirs = twin(given["source"], given["attention_mask"].long(), given["segments"]).seq_relationship_logits
        wanted = functional.cross_entropy(theirs, given["nsp"])
        assert float(mine["nsp"].detach()) == pytest.approx(float(wanted), abs=1e-5)


def test_a_folder_of_a_version_without_a_choice_goes_on_as_that_did(bert: TransformerModel, tmp_path: Path) -> None:
    begun(tmp_path, bert.tokenizer)
    described = json.loads((tmp_path / "run.json").read_text("utf-8"))
    for name in ("pairs_from", "strangers", "schedule"):
        del described["plan"][name]
    (tmp_path / "run.json").write_text(json.dumps(described), "utf-8")
    assert begun(tmp_path, bert.tokenizer, schedule="cosine").step == 0
    for other in ({"pairs_from": 4}, {"strangers": "alike"}, {"schedule": "linear"}):
        with pytest.raises(ex.ExplorerError, match=f"{next(iter(other))}=None there"):
            begun(tmp_path, bert.tokenizer, **{"schedule": "cosine"} | other)


def test_pairs_that_cannot_be_made_are_refused() -> None:
    given = {"corpus": [story[:3] for story in TEXTS[:40]], "pieces": 300, "steps": 2, "batch": 4, "checks": 0, **SMALL}
    with pytest.raises(ex.ExplorerError, match="No text has 4 sentences"):
        ex.fit("bert", pairs_from=4, **given)
    for wrong in ({"pairs_from": 4}, {"pairs_after": 0.5}):
        with pytest.raises(ex.ExplorerError, match="objectives that read pairs"):
            ex.fit("roberta", **wrong, **given)


def test_texts_are_read_whole_until_pairs_begin(bert: TransformerModel) -> None:
    run = begun(None, bert.tokenizer, steps=6, pairs_after=0.5, checks=0)
    for step in range(1, 7):
        batch = run.batch(step)
        is_pair, second = batch.extras["nsp"] != -100, batch.segments.max(axis=1) == 1
        assert (is_pair == second).all() and is_pair.all() == (step > 3) and is_pair.any() == (step > 3)
    assert [step.losses["nsp"] > 0 for step in run] == [False] * 3 + [True] * 3


@LONG
def test_a_second_half_that_does_not_follow_can_come_from_a_text_about_the_same(bert: TransformerModel) -> None:
    """The subject is the token of largest tf–idf, as scikit-learn weighs it (its idf is larger by one)."""
    texts = prepared(TEXTS, bert.tokenizer)
    size = bert.tokenizer.vocabulary.size
    counts = np.stack([np.bincount(story.ids, minlength=size) for story in texts])
    met = np.flatnonzero(counts.any(axis=0))
    from sklearn.feature_extraction.text import TfidfTransformer

    weighed = TfidfTransformer(norm=None, smooth_idf=False).fit_transform(counts[:, met]).toarray() - counts[:, met]
    about = met[weighed.argmax(axis=1)]
    subjects = Subjects.of(texts, size)
    assert {token: numbers.tolist() for token, numbers in subjects.groups.items()} == {
        int(token): np.flatnonzero(about == token).tolist() for token in np.unique(about)
    }
    run = begun(None, bert.tokenizer, steps=1, batch=64, checks=0, strangers="alike")
    any_run = begun(None, bert.tokenizer, steps=1, batch=64, checks=0)
    shared = []
    for each in (run, any_run):
        batch = each.batch(1)
        rows = [(batch.labels[n], batch.segments[n]) for n in np.flatnonzero(batch.extras["nsp"] == 1)]
        shared.append(
            np.mean(
                [subject(ids[(second == 0) & np.isin(ids, met)], subjects.weights) in ids[second == 1] for ids, second in rows]
            )
        )
    assert len(rows) > 15 and shared[0] > 2 * shared[1]
    with pytest.raises(ex.ExplorerError, match="any, alike"):
        begun(None, bert.tokenizer, strangers="kin")


def test_the_schedules_are_their_formulas() -> None:
    steps, warm = 1000, 100
    assert lr_share("cosine", 550, steps, 0.1) == pytest.approx(0.5 * (1 + math.cos(math.pi * 0.5)))
    assert lr_share("linear", 550, steps, 0.1) == pytest.approx(0.5)
    for step in (1, 50, 100, 400):  # "Attention is all you need", equation 3, in shares of its peak
        peak = warm**-0.5
        assert lr_share("noam", step, steps, 0.1) == pytest.approx(min(step**-0.5, step * warm**-1.5) / peak)
    for name in SCHEDULES:
        rates = [lr_share(name, step, steps, 0.1) for step in range(1, steps + 1)]
        assert max(rates) == pytest.approx(1.0) and rates[:100] == sorted(rates[:100]) and min(rates) >= 0
    with pytest.raises(ex.ExplorerError, match="schedule"):
        lr_share("cosin", 1, 10, 0.1)


@LONG
@pytest.mark.parametrize("preset", ["bert", *long("gpt2", "bart")])
def test_training_learns_and_repeats_itself(preset: str, bert: TransformerModel, gpt2: TransformerModel) -> None:
    tokenizer = (gpt2 if preset == "gpt2" else bert).tokenizer
    runs = []
    for _ in range(2):
        run = ex.fit(
            preset, corpus=TEXTS, tokenizer=tokenizer, steps=60 if ALL else 40, batch=16, seed=2, device="cpu", **SMALL
        )
        runs.append([sum(step.losses.values()) for step in run])
        assert not run.model.module.training
    assert runs[0] == runs[1], "the same seed gives the same losses"
    assert np.mean(runs[0][-5:]) < 0.9 * np.mean(runs[0][:3])


def test_the_reader_may_stop_at_any_step(gpt2: TransformerModel) -> None:
    run = ex.fit("gpt2", corpus=TEXTS, tokenizer=gpt2.tokenizer, steps=1000, batch=8, **SMALL)
    for step in run:
        assert run.model.module.training
        if step.step == 3:
            run.stop()
    assert run.step == 3 and not run.model.module.training
    assert next(iter(run)).step == 4, "and goes on where it was"


def begun(folder: Path | None, tokenizer: object, **changes: object) -> Run:
    settings = {"steps": 12, "batch": 8, "seed": 5, "device": "cpu", "dropout": 0.1, **SMALL, **changes}
    return ex.fit("bert", corpus=TEXTS, tokenizer=tokenizer, folder=folder, **settings)  # type: ignore[arg-type]


def weights(model: TransformerModel) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.module.state_dict().items()}


@cache
def uninterrupted() -> tuple[list[dict[str, float]], dict[str, torch.Tensor]]:
    """The losses of a run that nothing interrupts, and the weights that it ends with."""
    run = begun(None, ex.load("bert", device="cpu").tokenizer)
    return [dict(step.losses) for step in run], weights(run.model)


def test_a_stopped_run_goes_on_to_the_same_bits(bert: TransformerModel, tmp_path: Path) -> None:
    losses, straight = uninterrupted()
    first = begun(tmp_path / "run", bert.tokenizer)
    for step in first:
        if step.step == 5:
            first.stop()
    torch.manual_seed(99)  # whatever happens in between
    second = begun(tmp_path / "run", bert.tokenizer)
    assert second.step == 5
    rest = [dict(step.losses) for step in second]
    assert rest == losses[5:]
    for name, value in straight.items():
        assert torch.equal(value, weights(second.model)[name]), name
    assert [step.step for step in steps_of(tmp_path / "run")] == list(range(1, 13))
    assert [dict(step.losses) for step in steps_of(tmp_path / "run")] == losses
    opened = ex.load(tmp_path / "run", device="cpu")
    np.testing.assert_allclose(opened.logits("A dog."), second.model.logits("A dog."), atol=1e-6)
    early = ex.load(tmp_path / "run", step=1, device="cpu")
    assert not np.allclose(early.logits("A dog."), opened.logits("A dog."))
    with pytest.raises(ex.ExplorerError, match="no snapshot"):
        ex.load(tmp_path / "run", step=5, device="cpu")


def goes_on(folder: Path, tells: Connection) -> None:
    """What a process does that is killed: go on with the run, a resume point at every step, and tell each."""
    torch.set_num_threads(1)
    kept_run.EVERY_SECONDS = 0.0
    for step in begun(folder, ex.load("bert", device="cpu").tokenizer):
        tells.send(step.step)


@LONG
@pytest.mark.parametrize("moment", sample(20, 1))
def test_a_killed_run_goes_on_to_the_same_bits(bert: TransformerModel, tmp_path: Path, moment: int) -> None:
    losses, straight = uninterrupted()
    assert len(losses) == 12
    server, rng = multiprocessing.get_context("forkserver"), np.random.default_rng(moment)
    server.set_forkserver_preload(["torch", "explorer"])  # read once for all that are killed
    for _ in range(40 if ALL else 1):  # or it goes on to its end here
        hears, tells = server.Pipe(duplex=False)
        process = server.Process(target=goes_on, args=(tmp_path / "run", tells))
        process.start()
        tells.close()
        try:
            hears.recv()
        except EOFError:  # it was finished already
            process.join()
            assert process.exitcode == 0, "it ended by a mistake of its own"
            break
        time.sleep(float(rng.uniform(0, 0.12)))
        process.kill()
        process.join()
        if (tmp_path / "run" / "model.safetensors").is_file():
            break
    last = begun(tmp_path / "run", bert.tokenizer)
    list(last)
    assert last.step == 12
    for name, value in straight.items():
        assert torch.equal(value, weights(last.model)[name]), name
    assert [step.step for step in steps_of(tmp_path / "run")] == list(range(1, 13))


def write_point(folder: Path, step: int, run: Run[TransformerModel]) -> None:
    """A resume point of this step, on the disk when this returns."""
    writer = resume.PointWriter()
    writer.begin(folder, step, run.model.module, run.optimiser)
    writer.finish()


@LONG
def test_damage_and_mistakes_are_met_with_a_word(bert: TransformerModel, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = begun(folder, bert.tokenizer)
    next(iter(run))
    run.stop()
    write_point(folder, 1, run)
    with pytest.raises(ex.ExplorerError, match="seed=5 there, 6 here"):
        begun(folder, bert.tokenizer, seed=6)
    content = bytearray((folder / resume.POINT).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / resume.POINT).write_bytes(bytes(content))
    with pytest.raises(ex.ExplorerError, match="damaged"):
        begun(folder, bert.tokenizer)
    (folder / resume.POINT).write_bytes(bytes(content[: len(content) // 2]))
    with pytest.raises(ex.ExplorerError, match="damaged"):
        begun(folder, bert.tokenizer)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(ex.ExplorerError, match="other things"):
        begun(tmp_path / "other", bert.tokenizer)
    assert (tmp_path / "other" / "letter.txt").read_text() == "dear"


@SAMPLED
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"steps": 0}, "at least 1"),
        ({"batch": 0}, "at least 1"),
        ({"schedule": "flat"}, "no schedule"),
        ({"batch": 500}, "294"),
        ({"colour": 1}, "no field"),
        ({"corpus": "wikipedia"}, "no corpus"),
        ({"corpus": []}, "no stor"),
        ({"rate": 1e9, "optimiser": "adamw"}, "not a number"),
    ],
)
def test_wrong_settings_are_refused(bert: TransformerModel, wrong: dict[str, object], message: str) -> None:
    settings = {"corpus": TEXTS, "tokenizer": bert.tokenizer, "steps": 30, "batch": 8, "device": "cpu", **SMALL, **wrong}
    with pytest.raises(ex.ExplorerError, match=message):
        list(ex.fit("bert", **settings))  # type: ignore[arg-type]


def test_a_loss_that_is_no_number_leaves_the_last_good_point(bert: TransformerModel, tmp_path: Path) -> None:
    run = begun(tmp_path / "run", bert.tokenizer, rate=1e9, optimiser="adamw")
    with pytest.raises(ex.ExplorerError, match="not a number"):
        list(run)
    kept = begun(tmp_path / "run", bert.tokenizer, rate=1e9, optimiser="adamw")
    assert kept.step == len(steps_of(tmp_path / "run")) >= 1
    assert all(torch.isfinite(value).all() for value in weights(kept.model).values())


@LONG
def test_a_finished_run_is_written_once(bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    real = resume.put

    def counted(folder: Path, step: int, *rest: object) -> None:
        written.append(step)
        real(folder, step, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(resume, "put", counted)
    list(begun(tmp_path / "run", bert.tokenizer))
    assert written == [12]


def test_a_full_disk_leaves_the_point_before_intact(
    bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(tmp_path / "run", bert.tokenizer)
    steps = iter(run)
    next(steps)
    write_point(tmp_path / "run", 1, run)
    before = (tmp_path / "run" / resume.POINT).read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ex.ExplorerError, match="No space left"):
        write_point(tmp_path / "run", 2, run)
    monkeypatch.undo()
    assert (tmp_path / "run" / resume.POINT).read_bytes() == before
    assert not list((tmp_path / "run").glob("*.new"))
    steps.close()


def test_rows_are_framed_by_their_ends(bert: TransformerModel) -> None:
    examples = prepared(TEXTS[:4], bert.tokenizer)
    rows = add_special(examples, Vocabulary(50, pad=0), 40, ends=(2, None))
    for n, story in enumerate(examples):
        ids = rows.ids[n][rows.attention_mask[n]].tolist()
        assert ids == [2, *story.ids[:39].tolist()] and (rows.ids[n][~rows.attention_mask[n]] == 0).all()
        assert (rows.words[n] >= 0).sum() == len(ids) - 1


def test_a_run_s_plan_is_on_the_disk(bert: TransformerModel, tmp_path: Path) -> None:
    begun(tmp_path / "run", bert.tokenizer)
    described = json.loads((tmp_path / "run" / "run.json").read_text())
    assert described["plan"]["seed"] == 5 and described["preset"]["name"] == "bert" and described["architecture"]["dim"] == 32
