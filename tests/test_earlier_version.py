"""A folder that an earlier version left in the middle of a run goes on, or is refused in one sentence that says how to keep its weights.

`data/run_of_an_earlier_version.zip` is such a folder, stopped after step 3 of 6, with the losses of the same run without a stop.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import explorer as ex
from explorer.text.toy import toy_stories
from explorer.training.resume import POINT, run_mark

OPTIONS: dict[str, Any] = {
    "steps": 6, "batch": 4, "seed": 5, "device": "cpu", "precision": "float32", "dim": 8, "heads": 2, "hidden": 16, "layers": 1,
    "length": 48, "pieces": 280, "checks": 0, "snapshots": 1, "optimiser": "adamw",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.unpack_archive(Path(__file__).parent / "data" / "run_of_an_earlier_version.zip", tmp_path / "run")
    return tmp_path / "run"


def begun(folder: Path) -> Any:
    return ex.fit("gpt2", corpus=list(toy_stories(40, 4)), folder=folder, **OPTIONS)


def changed(folder: Path, **plan: object) -> None:
    described = json.loads((folder / "run.json").read_text("utf-8"))
    described["plan"] |= plan
    (folder / "run.json").write_text(json.dumps(described), "utf-8")
    stamp, content = (folder / POINT).read_bytes().split(b"\n", 1)
    stamp = json.dumps(json.loads(stamp) | {"run": run_mark(folder)}).encode()
    (folder / POINT).write_bytes(stamp + b"\n" + content)


@pytest.mark.parametrize("former", [{}, {"lean": True, "unpadded": True, "workers": 2, "read_every": 4, "check_share": 0.1}])
def test_it_goes_on_where_it_was_stopped(folder: Path, former: dict[str, object]) -> None:
    """What decided nothing but the speed may have had any value."""
    straight = json.loads((folder / "straight.json").read_text("utf-8"))
    changed(folder, **former)
    run = begun(folder)
    assert run.step == 3
    assert [step.losses["lm"] for step in run] == pytest.approx([losses["lm"] for losses in straight[3:]], rel=1e-4)
    assert [step.step for step in ex.training.steps_of(folder)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("name", ["static", "by_row"])
def test_another_kind_of_batch_is_refused_and_the_weights_are_kept(folder: Path, name: str) -> None:
    changed(folder, **{name: True})
    with pytest.raises(ex.ExplorerError, match=f"{name}=True, which no longer exists. Its snapshots open: .*ex.fit.ex.load"):
        begun(folder)
    check_kept(folder)


def test_a_point_in_shards_is_refused_and_the_snapshots_are_kept(folder: Path) -> None:
    (folder / "resume").mkdir()
    (folder / "resume" / "point.json").write_text("{}")
    with pytest.raises(ex.ExplorerError, match=r"by an earlier version.* ex.fit\(ex.load\(folder, step=…\), …\)"):
        begun(folder)
    check_kept(folder)


def check_kept(folder: Path) -> None:
    """What the sentence says can be done."""
    model = ex.load(folder, step=ex.training.snapshots(folder)[-1], device="cpu")
    run = ex.fit(
        model, corpus=list(toy_stories(40, 4)), steps=2, batch=4, checks=0, folder=folder.with_name("new"), device="cpu"
    )
    assert len(list(run)) == 2
