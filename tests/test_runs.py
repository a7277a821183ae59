"""The folder of a run: what opens while it goes on and afterwards, what travels with a shipped model, and what says no."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SAMPLED
from safetensors.torch import load_file
from test_training import TEXTS, begun, weights

import explorer as ex
from explorer.models import run_folder, store
from explorer.models.transformer import TransformerModel
from explorer.training.run import Run
from explorer.training.steps import line_of, steps_of


@pytest.fixture(scope="module")
def finished(
    bert: TransformerModel, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[int, dict[str, torch.Tensor]]]:
    """A run of twelve steps, and the weights that it had after each."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    run = begun(folder, bert.tokenizer)
    return folder, {step.step: weights(run.model) for step in run}


def test_a_snapshot_is_the_weights_of_its_step(finished: tuple[Path, dict[int, dict[str, torch.Tensor]]]) -> None:
    folder, then = finished
    kept = store.snapshots_of(folder)
    assert kept == tuple(step.snapshot for step in steps_of(folder) if step.snapshot is not None) and kept[-1] == 12
    for step in kept:
        assert [path.name for path in (folder / "snapshots" / f"{step:06d}").iterdir()] == ["model.safetensors"]
        opened = ex.load(folder, step=step, device="cpu")
        for name, value in weights(opened).items():
            assert torch.equal(value, then[step][name].half().float()), name
    assert all(v.dtype == torch.float16 for v in load_file(folder / "snapshots" / "000012" / "model.safetensors").values())


def test_a_model_that_reads_other_texts_knows_the_words_of_both(bert: TransformerModel, tmp_path: Path) -> None:
    """Words that it reads when it is trained further are no longer marked as unseen; those that it read before stay known."""
    marked = [token for token, new in zip(*unseen_of(bert, "Anna met a wombat."), strict=True) if new]
    model, texts = ex.load("bert", device="cpu"), ["A wombat sleeps.", "Two wombats eat grass."] * 8
    list(ex.fit(model, corpus=texts, held=texts[:2], steps=1, batch=2, checks=0, device="cpu", folder=tmp_path / "run"))
    opened = ex.load(tmp_path / "run", device="cpu")
    assert marked and not any(unseen_of(opened, "Anna met a wombat.")[1]) and any(unseen_of(opened, "A zeppelin met Anna.")[1])
    assert bert.tokenizer.seen is not None and "wombat" not in bert.tokenizer.seen.words


def unseen_of(model: TransformerModel, text: str) -> tuple[list[str], tuple[bool, ...]]:
    tokens = model.tokenizer.encode(text)
    return [str(i) for i in tokens.ids], tokens.unseen


def test_a_run_that_goes_on_opens_at_its_snapshots_and_is_no_model_yet(
    bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    run = begun(tmp_path / "models" / "mine", bert.tokenizer)
    for step in run:
        assert "mine" not in ex.models()
        opened = ex.load(tmp_path / "models" / "mine", step=1, device="cpu")
        assert opened.config == run.model.config and opened.tokenizer.seen == bert.tokenizer.seen
        if step.step == 3:
            break
    with pytest.raises(ex.ExplorerError, match=r"not finished.*there are: 1, 2, 3"):
        ex.load(tmp_path / "models" / "mine")
    list(run)
    assert ex.models()["mine"].about() == {
        "preset": "bert",
        "size": "32 × 2",
        "steps": 12,
        "snapshots": store.snapshots_of("mine"),
    }
    by_name, by_path = ex.load("mine", step=1, device="cpu"), ex.load(str(tmp_path / "models" / "mine"), step=1, device="cpu")
    assert (by_name.logits("A dog.") == by_path.logits("A dog.")).all() and by_name.name == "mine"
    assert (ex.load("mine", device="cpu").logits("A dog.") == run.model.logits("A dog.")).all()


def test_a_shipped_run_holds_what_a_lesson_needs_and_no_path(
    finished: tuple[Path, dict[int, dict[str, torch.Tensor]]], tmp_path: Path
) -> None:
    folder, _ = finished
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "texts.txt").write_text("\n\n".join(" ".join(story) for story in TEXTS[:40]))
    run = ex.fit(
        "gpt2", corpus=tmp_path / "own", pieces=300, steps=8, batch=4, dim=32, heads=2, folder=tmp_path / "run", device="cpu"
    )
    list(run)
    target = store.ship(tmp_path / "run", tmp_path / "models" / "told", keep=(1, 8), card="# told")
    files = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert files == {
        "CARD.md", "config.json", "model.safetensors", "seen.json", "tokenizer.json", "run.json", "steps.jsonl",
        "snapshots/000001/model.safetensors",
    }  # fmt: skip
    # the snapshot of the last step is the model itself
    for path in target.rglob("*.json*"):
        assert str(tmp_path) not in path.read_text("utf-8")
    assert store.snapshots_of(target) == (1, 8) == tuple(s.snapshot for s in steps_of(target) if s.snapshot)
    assert all(value.dtype == torch.float16 for value in load_file(target / "model.safetensors").values())
    for step in (1, 8):
        here, there = (ex.load(place, step=step, device="cpu").logits("A dog.") for place in (target, tmp_path / "run"))
        assert (here == there).all()
    store.ship(tmp_path / "run", target, keep=(8,))
    assert store.snapshots_of(target) == (8,) and not (target / "CARD.md").exists()
    with pytest.raises(ex.ExplorerError, match="no snapshot of step 5"):
        store.ship(tmp_path / "run", target, keep=(5,))
    with pytest.raises(ex.ExplorerError, match="into itself"):
        store.ship(folder, folder)
    assert ex.load(target, device="cpu").name == "told"


@pytest.mark.parametrize("count", [1, 2, 12, 299, 300, 301, 5000, 90_000])
def test_thinned_steps_keep_what_was_measured(count: int) -> None:
    steps = [{"step": n, "losses": {"lm": 1.0}, "rate": 1.0} for n in range(1, count + 1)]
    for n in range(0, count, max(1, count // 17)):
        steps[n]["metrics"] = {"perplexity": 3.0}
    kept = [step["step"] for step in run_folder.thinned(steps)]
    assert kept == sorted(set(kept)) and {1, count} <= set(kept)
    assert {step["step"] for step in steps if "metrics" in step} <= set(kept)
    assert len(kept) == count if count <= 12 else 100 < len(kept) <= 300
    gaps = np.diff(kept)
    if count > 1000:
        assert max(gaps[:20]) <= 3 and max(gaps) < 0.06 * count, "close together at first, and nowhere a hole"


def test_a_step_is_written_down_whole(tmp_path: Path) -> None:
    from explorer.records import TrainingStep

    step = TrainingStep(3, {"lm": 2.5}, 0.5, 100.0, {"perplexity": 9.0}, ("Ida … · bread",), {"same": np.eye(2)}, 3)
    (tmp_path / "steps.jsonl").write_text(line_of(step), "utf-8")
    (back,) = steps_of(tmp_path)
    np.testing.assert_array_equal(back.probes["same"], step.probes["same"])
    assert (back.samples, dict(back.metrics), back.snapshot, dict(back.losses)) == (
        step.samples,
        {"perplexity": 9.0},
        3,
        {"lm": 2.5},
    )


HARMS = {"cut": lambda b: b[: len(b) // 2], "emptied": lambda b: b"", "garbled": lambda b: b"\x80\x04\x95" + b[:40]}


@SAMPLED
@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("part", ["run.json", "resume.safetensors", "steps.jsonl", "snapshots/000001/model.safetensors"])
def test_damage_is_named_and_harms_nothing_else(
    bert: TransformerModel, finished: tuple[Path, dict[int, dict[str, torch.Tensor]]], tmp_path: Path, part: str, harm: str
) -> None:
    folder = Path(shutil.copytree(finished[0], tmp_path / "run"))
    (folder / part).write_bytes(HARMS[harm]((folder / part).read_bytes()))
    others = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def used() -> None:
        run = begun(folder, bert.tokenizer)
        list(run)
        steps_of(folder)
        ex.load(folder, step=1, device="cpu")

    if (part, harm) in (("steps.jsonl", "cut"), ("steps.jsonl", "emptied")):
        assert len(run_folder.lines(folder)) < 12  # a kill leaves this behind: the curve is shorter, nothing else
        used()
    else:
        with pytest.raises(ex.ExplorerError, match=Path(part).name.replace(".", r"\.")):
            used()
    for path, content in others.items():
        if path.name not in ("steps.jsonl", "lock"):
            assert path.read_bytes() == content, f"{path} was changed"


@LONG
def test_every_flipped_bit_of_a_resume_point_is_noticed(
    bert: TransformerModel, finished: tuple[Path, dict[int, dict[str, torch.Tensor]]], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(finished[0], tmp_path / "run"))
    path = folder / "resume.safetensors"
    content = path.read_bytes()
    for place in np.random.default_rng(0).integers(len(content), size=25 if ALL else 10).tolist():
        harmed = bytearray(content)
        harmed[place] ^= 1
        path.write_bytes(bytes(harmed))
        with pytest.raises(ex.ExplorerError, match="damaged"):
            begun(folder, bert.tokenizer)


@LONG
@pytest.mark.parametrize("step", [None, 1])
def test_a_flipped_bit_of_weights_is_noticed_or_changes_nothing(
    finished: tuple[Path, dict[int, dict[str, torch.Tensor]]], tmp_path: Path, step: int | None
) -> None:
    """A bit of the header that says nothing about the weights, such as a space, may be wrong."""
    folder = Path(shutil.copytree(finished[0], tmp_path / "run"))
    path = (folder if step is None else folder / "snapshots" / "000001") / "model.safetensors"
    content, right = path.read_bytes(), ex.load(folder, step=step, device="cpu").logits("A dog.")
    begin = 8 + int.from_bytes(content[:8], "little")  # where the header ends and the weights begin
    rng = np.random.default_rng(1)
    for place in (*rng.integers(begin, len(content), size=15).tolist(), *rng.integers(begin, size=15).tolist()):
        harmed = bytearray(content)
        harmed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(harmed))
        try:
            opened = ex.load(folder, step=step, device="cpu").logits("A dog.")
        except ex.ExplorerError:
            continue
        assert place < begin and (opened == right).all()


def test_a_foreign_resume_point_is_refused(
    bert: TransformerModel, finished: tuple[Path, dict[int, dict[str, torch.Tensor]]], tmp_path: Path
) -> None:
    for name, changes in (("seed", {"seed": 9}), ("shape", {"dim": 16})):
        other = begun(tmp_path / name, bert.tokenizer, **changes)
        next(iter(other))
        shutil.copy(finished[0] / "resume.safetensors", tmp_path / name)
        with pytest.raises(ex.ExplorerError, match="belongs to another run"):
            begun(tmp_path / name, bert.tokenizer, **changes)


@SAMPLED
@pytest.mark.parametrize("content", ["[]", '{"plan": 3}', '{"plan": {}, "architecture": {}, "preset": []}', "null", "{"])
def test_a_run_json_that_describes_no_run_is_named(bert: TransformerModel, tmp_path: Path, content: str) -> None:
    run = begun(tmp_path / "run", bert.tokenizer)
    next(iter(run))
    (tmp_path / "run" / "run.json").write_text(content)
    for use in (lambda: begun(tmp_path / "run", bert.tokenizer), lambda: ex.load(tmp_path / "run", step=1)):
        with pytest.raises(ex.ExplorerError, match=r"run\.json"):
            use()


def test_another_tokenizer_is_another_run(bert: TransformerModel, tmp_path: Path) -> None:
    begun(tmp_path / "run", bert.tokenizer)
    other = ex.tokenizer("wordpiece", (" ".join(story) for story in TEXTS), size=bert.config.vocab)
    with pytest.raises(ex.ExplorerError, match="another run"):
        begun(tmp_path / "run", other, vocab=bert.config.vocab)
    described = json.loads((tmp_path / "run" / "run.json").read_text())
    assert len(described["tokenizer"]["sha256"]) == 64


def test_a_run_is_a_run(bert: TransformerModel) -> None:
    assert isinstance(begun(None, bert.tokenizer), Run)
