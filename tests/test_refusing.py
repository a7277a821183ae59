"""What cannot be trained is refused with a word that helps, and what looks odd but can be trained is trained."""

from __future__ import annotations

import errno
import io
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import LONG, SAMPLED, long, some
from test_training import SMALL, TEXTS, begun, uninterrupted, weights

import explorer as ex
from explorer.errors import FileError
from explorer.models import ngram, ngram_files, store
from explorer.models.transformer import TransformerModel
from explorer.text.examples import Translation, prepared, split_story
from explorer.training import resume
from explorer.training.fit import fit
from explorer.training.objectives import OBJECTIVES
from explorer.training.optimising import Optimiser
from explorer.training.steps import steps_of


def fitted(system: str = "bert", **changes: object) -> list[dict[str, float]]:
    learned = {} if "tokenizer" in changes else {"pieces": 450}
    settings = {"corpus": TEXTS, "steps": 2, "batch": 8, "device": "cpu", **learned, **SMALL, **changes}
    return [dict(step.losses) for step in fit(system, **settings)]  # type: ignore[arg-type]


@SAMPLED
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"system": "brt"}, "no preset 'brt'.*Did you mean 'bert'"),
        ({"size": "huge"}, "no size of bert 'huge'"),
        ({"corpus": "microword"}, "no corpus 'microword'. Did you mean 'microworld'"),
        ({"corpus": "./nowhere.txt"}, "no file or folder nowhere.txt|no file or folder ./nowhere.txt"),
        ({"corpus": 3}, "corpus=3 must be .*; this is int"),
        ({"corpus": [3, 4]}, "Text 0 of the corpus is int; it must be a string or a list of sentences"),
        ({"corpus": [["a dog", 4]]}, "Text 0 of the corpus cannot be used. A text must be a string; this is int"),
        ({"corpus": ["a half \ud800 letter"]}, "half a character"),
        ({"corpus": ["", "  "]}, "no text"),
        ({"corpus": TEXTS[:6]}, "A batch takes 8 stories, but there are 5"),  # the sixth is held out
        ({"held": 3}, "list of texts; this is int"),
        ({"checks": -1}, "checks=-1 must be a whole number of at least 0"),
        ({"mask_rate": 1.5}, "mask_rate=1.5 must lie between 0 and 1"),
        ({"steps": 0}, "steps=0 must be a whole number of at least 1"),
        ({"steps": 2.5}, r"steps=2\.5 must be a whole number"),
        ({"steps": True}, "steps=True must be a whole number"),
        ({"batch": "many"}, "batch='many' must be a whole number"),
        ({"batch": 10**9}, "A batch takes 1000000000 stories"),
        ({"seed": -1}, "seed=-1 must be a whole number of at least 0"),
        ({"rate": 0}, "rate=0 must be a number above 0"),
        ({"rate": float("nan")}, "rate=nan must be a number above 0"),
        ({"rate": float("inf")}, "rate=inf must be"),
        ({"rate": "fast"}, "rate='fast' must be"),
        ({"warm": 1.0}, "warm=1.0 must be a share"),
        ({"smoothing": -0.1}, "smoothing=-0.1 must be a share"),
        ({"schedule": "cosin"}, "no schedule 'cosin'. Did you mean 'cosine'"),
        ({"optimiser": "sgd"}, "no optimiser 'sgd'"),
        ({"objective": "mml"}, "no objective 'mml'. Did you mean 'mlm'"),
        ({"strategy": "spanbret"}, "no strategy 'spanbret'. Did you mean 'spanbert'"),
        ({"objective": "causal"}, "'causal' trains a decoder; this model is an encoder"),
        ({"system": "gpt2", "objective": "mlm"}, "'mlm' trains an encoder; this model is a decoder"),
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ex.ExplorerError, match=message):
        fitted(**wrong)  # type: ignore[arg-type]


class Silent:
    """A value that cannot be printed, nor counted with."""

    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __index__ = __repr__  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("given", "named"),
    [(Silent(), "a Silent"), (type("SilentText", (Silent, str), {})("x"), "'x'"), (10**5000, "an int")],
    ids=["object", "text", "number"],
)
def test_a_value_that_cannot_be_printed_is_refused_all_the_same(given: object, named: str, bert: TransformerModel) -> None:
    for field in ("hidden", "layers", "dropout"):
        with pytest.raises(ex.ExplorerError, match=f"{field}={named} must be (an int|a float|at most)"):
            ex.build("bert", tokenizer=bert.tokenizer, device="cpu", **{field: given})
    with pytest.raises(ex.ExplorerError, match=f"{named}"):
        ex.build("bert", tokenizer=bert.tokenizer, size=given)  # type: ignore[arg-type]


@LONG
def test_a_tokenizer_without_the_special_pieces_is_refused(gpt2: TransformerModel) -> None:
    plain = ex.tokenizer("bpe", (" ".join(story) for story in TEXTS), size=300, specials=("<pad>", "</s>", "<unk>"))
    with pytest.raises(ex.ExplorerError, match="mask, cls, sep"):
        fitted(tokenizer=gpt2.tokenizer)
    with pytest.raises(ex.ExplorerError, match="mask"):
        fitted("bart", tokenizer=plain)
    with pytest.raises(ex.ExplorerError, match="sentinels"):
        fitted("t5", tokenizer=plain)
    assert len(fitted("gpt2", tokenizer=plain)) == 2


def test_texts_too_short_for_an_objective_are_refused() -> None:
    texts = [[story[0]] for story in TEXTS]
    with pytest.raises(ex.ExplorerError, match="Nothing is hidden in the batch of step 1.*several sentences"):
        fitted("bart", objective="gap-sentence", corpus=texts)
    with pytest.raises(ex.ExplorerError, match="all end in the same way"):
        fitted(corpus=[["A dog ran.", "It was big."]] * 20, pieces=120)
    with pytest.raises(ex.ExplorerError, match="Every text of this corpus is empty"):
        prepared(["", " "], ex.load("bert", device="cpu").tokenizer)


ODD = {
    "emoji": ["I ❤️ 🐶🐶. 👩‍👩‍👧 came! 🏳️‍🌈 " + "🤖" * n for n in range(12)],
    "zero bytes": [f"a\0b\0\0 dog {n}. A cat\0 {n}." for n in range(12)],
    "one word": ["dog", "cat", "town", "bread", "baker", "river", "night", "moon", "street", "house", "garden", "winter"],
    "signs": ["\u200b\u202e … ‽ " + "\t\n\r" + "。" * n + " x" for n in range(12)],
    "long": ["The dog did not cross the street. It was too tired to walk home. " * 1600, *[f"A cat {n}." for n in range(12)]],
    "one long word": ["a" * 100_000, *[f"A cat {n}." for n in range(12)]],
    "many scripts": [f"Привет {n}. 你好，世界。 مرحبا بالعالم. हिन्दी {n}." for n in range(12)],
}


ODD_ROWS = [*product(("bert", "gpt2", "bart", "t5"), ODD)]


@LONG
@pytest.mark.parametrize(("system", "what"), some(ODD_ROWS, *ODD_ROWS[::3]))  # each system, and each kind
def test_odd_texts_are_trained_on(system: str, what: str) -> None:
    for losses in fitted(system, corpus=ODD[what], pieces=500):
        assert all(np.isfinite(value) for value in losses.values())


def test_translations_of_nothing_are_left_out() -> None:
    translations = [Translation("A dog.", "Un chien."), Translation("", "Un chat."), Translation("A cat.", "")] * 8
    assert len(fitted("transformer", corpus=translations, pieces=120)) == 2
    with pytest.raises(ex.ExplorerError, match="A batch takes 9 stories, but there are 8"):
        fitted("transformer", corpus=translations, pieces=120, batch=9)


def test_a_long_document_is_read_to_its_end(bert: TransformerModel) -> None:
    text = "The dog did not cross the street. It was too tired to walk home. A cat ran. " * 40 + "Word " * 300
    (whole,) = prepared([text], bert.tokenizer)
    parts = split_story(whole, 50)
    assert np.concatenate([part.ids for part in parts]).tolist() == whole.ids.tolist()
    assert all(len(part.ids) <= 50 for part in parts)
    begins = np.cumsum([0, *(len(part.ids) for part in parts)])
    inside = [whole.sentences[b] for b in begins[1:-1] if whole.sentences[b] == whole.sentences[b - 1]]
    assert set(inside) == {whole.sentences[-1]}, "only a sentence that is too long by itself is cut"
    for part, begin in zip(parts, begins, strict=False):
        span = slice(begin, begin + len(part.ids))
        assert part.sentences[0] == 0 and (np.diff(part.sentences) == np.diff(whole.sentences[span])).all()
        assert part.words.min() == 0 and (np.diff(part.words) == np.diff(whole.words[span])).all()
    assert [len(story.ids) for story in prepared([text], bert.tokenizer, 50)] == [len(part.ids) for part in parts]


def begun_at(tmp_path: Path, bert: TransformerModel, step: int = 2) -> tuple[Path, dict[Path, bytes]]:
    """A run that was stopped, and every file of it."""
    run = begun(tmp_path / "run", bert.tokenizer)
    for latest in run:
        if latest.step == step:
            run.stop()
    return tmp_path / "run", files(tmp_path / "run")


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


@LONG
@pytest.mark.parametrize("moment", ["resume.safetensors", *long("model.safetensors", "steps.jsonl")])
def test_no_space_left_spoils_nothing_that_was_there(
    bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Writing fails as on a full disk, after half of the bytes; afterwards there is room, and the same run ends as if nothing was."""
    losses, straight = uninterrupted()
    folder, before = begun_at(tmp_path, bert)
    run = begun(folder, bert.tokenizer)
    limit = "50" if moment == "steps.jsonl" else "30000"
    failing_writes(monkeypatch, moment, int(limit))
    with pytest.raises(ex.ExplorerError, match="No space left.*ake room"):
        list(run)
    monkeypatch.undo()
    for path, content in before.items():
        assert (
            path.read_bytes().startswith(content)
            if path.name == "steps.jsonl"
            else path.read_bytes() == content or (path.name == "resume.safetensors")
        ), path
    assert not [path for path in folder.rglob("*") if path.name.endswith((".new", ".part"))]
    again = begun(folder, bert.tokenizer)
    list(again)
    assert [dict(step.losses) for step in steps_of(folder)] == losses
    for name, value in straight.items():
        assert torch.equal(value, weights(again.model)[name]), name
    list(run)  # the object that failed may go on too: it finds the run finished
    assert run.step == 12


def failing_writes(monkeypatch: pytest.MonkeyPatch, name: str, limit: int) -> None:
    """From now on files of this name fill the disk."""
    full = OSError(errno.ENOSPC, "No space left on device")
    if name == "resume.safetensors":
        real = os.fsync
        monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(full) if number else real(number))
        return
    if name == "steps.jsonl":

        class Half(io.FileIO):
            def write(self, content: bytes) -> int:  # type: ignore[override]
                super().write(content[:limit])
                raise full

        begin = open
        monkeypatch.setattr(
            "builtins.open",
            lambda path, *rest, **named: (
                Half(path, "ab") if str(path).endswith(name) and rest == ("ab",) else begin(path, *rest, **named)
            ),
        )
        monkeypatch.setattr(os, "truncate", lambda *_: (_ for _ in ()).throw(full))
        return

    def cut(_: dict[str, torch.Tensor], path: Path, **__: object) -> None:
        Path(path).write_bytes(b"x" * limit)
        raise full

    monkeypatch.setattr(store, "save_file", cut)


@LONG
def test_a_run_that_may_not_write_says_so(bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "run", Path("/proc/run") if Path("/proc").is_dir() else tmp_path / "file"):
        with pytest.raises(ex.ExplorerError, match="Choose another folder"):
            begun(place, bert.tokenizer)
    folder, before = begun_at(tmp_path, bert)
    real = open

    def refused(path: object, mode: str = "r", *rest: object, **named: object) -> object:
        if str(path).startswith(str(folder)) and set(mode) & set("wa+"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, mode, *rest, **named)  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", refused)
    with pytest.raises(ex.ExplorerError, match="cannot be written into .Permission denied.. Choose another folder"):
        list(begun(folder, bert.tokenizer))
    monkeypatch.undo()
    assert files(folder) == before


def test_what_is_not_there_is_named(bert: TransformerModel, tmp_path: Path) -> None:
    folder, _ = begun_at(tmp_path, bert)
    with pytest.raises(ex.ExplorerError, match="no snapshot of step 7.*There are: 1, 2"):
        ex.load(folder, step=7)
    (folder / "snapshots" / "000001" / "model.safetensors").unlink()
    assert store.snapshots_of(folder) == (2,)
    with pytest.raises(ex.ExplorerError, match="no snapshot of step 1"):
        ex.load(folder, step=1)
    (folder / "resume.safetensors").unlink()
    assert begun(folder, bert.tokenizer).step == 0, "without a resume point it begins again"


HOLDER = """
import sys
sys.path.insert(0, {here!r})
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_training import begun
import explorer as ex
for step in begun(Path(sys.argv[1]), ex.load("bert", device="cpu").tokenizer):
    print(step.step, flush=True)
    sys.stdin.readline()
"""


LOCKING = "import sys; from pathlib import Path; from explorer.training.folder import Lock; lock = Lock(Path(sys.argv[1]))"


def beside(code: str, folder: Path) -> subprocess.Popen[str]:
    """Another process, which is asked and answers in lines."""
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-c", code, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=here, text=True)


@LONG
def test_while_another_process_has_the_folder_a_run_does_not_begin(bert: TransformerModel, tmp_path: Path) -> None:
    folder, _ = begun_at(tmp_path, bert)
    with beside(LOCKING + "; print(lock.held, flush=True); sys.stdin.readline()", folder) as process:
        assert process.stdout is not None and process.stdout.readline() == "True\n"
        before = files(folder)
        with pytest.raises(ex.ExplorerError, match=f"Another process .number {process.pid}. is training"):
            list(begun(folder, bert.tokenizer))
        assert files(folder) == before, "and touches nothing"
        process.kill()
    run = begun(folder, bert.tokenizer)
    list(run)
    assert run.step == 12, "a dead process holds nothing"


@LONG  # the test above, with a whole training in the other process
def test_the_second_process_is_told(bert: TransformerModel, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with beside(HOLDER.format(here=str(Path(__file__).parent)), folder) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "1\n"
        before = files(folder)
        with pytest.raises(ex.ExplorerError, match=f"Another process .number {process.pid}. is training"):
            list(begun(folder, bert.tokenizer))
        assert files(folder) == before, "and touches nothing"
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "2\n", "the first one goes on"
        process.kill()
    assert len(list(begun(folder, bert.tokenizer))) == 12, "a dead process holds nothing"


@LONG
def test_a_loop_left_behind_does_not_lock_its_own_process_out(bert: TransformerModel, tmp_path: Path) -> None:
    old = begun(tmp_path / "run", bert.tokenizer)
    steps = iter(old)
    next(steps)  # as in a notebook that was interrupted: nobody closes this loop
    new = begun(tmp_path / "run", bert.tokenizer)
    assert len(list(new)) == 12
    done = files(tmp_path / "run")
    with pytest.raises(ex.ExplorerError, match="Another loop"):
        next(steps)
    assert files(tmp_path / "run") == done
    assert list(old) == [] and old.step == 12, "begun again, it finds the run finished"


@LONG
@pytest.mark.parametrize("moment", ["within", *long("before", "after")])
def test_ctrl_c_leaves_a_run_that_goes_on_to_the_same_bits(
    bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    losses, straight = uninterrupted()
    run = begun(tmp_path / "run", bert.tokenizer)
    real = Optimiser.step

    def interrupted(self: Optimiser, rate: float) -> None:
        hit = self is run.optimiser and run.step == 4
        if hit and moment == "before":
            os.kill(os.getpid(), signal.SIGINT)
        if hit and moment == "within":
            for weight in list(self.module.parameters())[:3]:
                weight.data.add_(0)
            os.kill(os.getpid(), signal.SIGINT)
        real(self, rate)
        if hit and moment == "after":
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Optimiser, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(run)
    assert run.step == 5, "the update is finished first"
    monkeypatch.undo()
    again = begun(tmp_path / "run", bert.tokenizer)
    assert again.step == 5
    list(again)
    assert [dict(step.losses) for step in steps_of(tmp_path / "run")] == losses
    for name, value in straight.items():
        assert torch.equal(value, weights(again.model)[name]), name


def test_training_works_in_a_thread(bert: TransformerModel, tmp_path: Path) -> None:
    run, steps = begun(tmp_path / "run", bert.tokenizer), []
    thread = threading.Thread(target=lambda: steps.extend(run))
    thread.start()
    thread.join()
    assert len(steps) == 12


@LONG
@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory."), *long(MemoryError(), RuntimeError(
    "[enforce fail at alloc_cpu.cpp:127] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes."))])  # fmt: skip
def test_out_of_memory_names_what_to_turn(
    bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    folder, before = begun_at(tmp_path, bert)

    def large(*_: object) -> None:
        raise error

    monkeypatch.setitem(OBJECTIVES, "mlm+nsp", replace(OBJECTIVES["mlm+nsp"], loss=large))
    with pytest.raises(ex.ExplorerError, match=r"accumulate=.*batch=.*length=.*size=.*snapshots are intact"):
        list(begun(folder, bert.tokenizer))
    monkeypatch.undo()
    assert {path: content for path, content in files(folder).items() if path.name != "resume.safetensors"} == {
        path: content for path, content in before.items() if path.name != "resume.safetensors"
    }
    smaller = begun(folder, bert.tokenizer, accumulate=4)  # the one part of a plan that may change
    assert smaller.step == 2 and len(list(smaller)) == 10


@LONG
def test_memory_that_ran_out_within_an_update_goes_back_to_the_last_point(
    bert: TransformerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = begun_at(tmp_path, bert)
    kept = (folder / resume.POINT).read_bytes()
    run = begun(folder, bert.tokenizer)

    def half(self: Optimiser, rate: float) -> None:
        next(iter(self.module.parameters())).data.add_(1)
        raise MemoryError

    monkeypatch.setattr(Optimiser, "step", half)
    with pytest.raises(ex.ExplorerError, match="accumulate"):
        list(run)
    assert (folder / resume.POINT).read_bytes() == kept, "weights that were moved by half are not kept"
    monkeypatch.undo()
    _, straight = uninterrupted()
    list(run)
    for name, value in straight.items():
        assert torch.equal(value, weights(run.model)[name]), name


def saved_kinds(bert: TransformerModel) -> dict[str, Callable[[Path, int], object]]:
    """What writes one file over an older one, by the name of the file; more is written for a larger number."""
    trace = ex.trace(bert, "A dog ran.")
    figures = [ex.views["place-turns"](ex.places("rope", count=count)) for count in (4, 40)]
    tokenizers = [bert.tokenizer, ex.load("gpt2", device="cpu").tokenizer]
    counted = [ngram.train([[1, 2, 3] * n, list(range(n))], None, order=2, size=300, begin=0) for n in (2, 300)]
    return {
        "x.html": lambda path, n: ex.save(figures[n], path),
        "x.csv": lambda path, n: ex.save(figures[n], path),
        "bertviz.html": lambda path, n: ex.save(ex.bertviz(trace, view=("head", "model")[n]), path),
        "tokenizer.json": lambda path, n: tokenizers[n].save(path),
        "x.npz": lambda path, n: (trace if n else ex.places("rope", count=4)).write(path),
        "counts.npz": lambda path, n: ngram_files.write(counted[n], path.parent),
    }  # fmt: skip


def test_a_full_disk_leaves_what_was_saved_before(bert: TransformerModel, tmp_path: Path) -> None:
    """The system itself takes no more of a file than this, as a full disk does; nothing in the code is replaced."""
    for name, save in saved_kinds(bert).items():
        path = tmp_path / f"for {name}" / name
        path.parent.mkdir()
        save(path, 0)
        before, listed = path.read_bytes(), sorted(path.parent.iterdir())
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (min(300, len(before) // 2), limits[1]))
        try:
            with pytest.raises(FileError, match="Could not write"):
                save(path, 1)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before and sorted(path.parent.iterdir()) == listed, name
        save(path, 1)
        assert path.read_bytes() != before, name


def test_a_link_and_a_mode_stay_where_a_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old", "utf-8")
    (tmp_path / "real.csv").chmod(0o640)
    (tmp_path / "link.csv").symlink_to("real.csv")
    ex.save(ex.views["place-turns"](ex.places("rope")), tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "real.csv").read_text("utf-8") != "old"
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o640
