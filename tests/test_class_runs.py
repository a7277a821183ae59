"""The runs of a class: what is read of their links, their mean and spread, what a room keeps of them, and the teacher's page."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LONG
from offline import free_port
from opening import opened
from playwright.sync_api import Browser, expect
from test_vote import phone, room_server

from explorer.app import hosted, menu
from explorer.app.class_runs import EACH, MOST, RUNS, ClassRuns, tasks_of
from explorer.app.lessons.training import in_page
from explorer.app.room import _SETTINGS
from explorer.app.run_links import LINES, dials, read_links, run_of
from explorer.errors import ChoiceError

FIRST = {name: dial["options"][0][0] if "options" in dial else 1 for name, dial in dials().items()}
HOSTILE = {
    "<script>alert(1)</script>": "not the link of a run", "x" * 100_000: "at most 1,000 letters", "run=ab:1,ab:1": "not the link",
    "loss:nan": "loss must be", "loss:1e9": "loss must be", "loss:-1": "loss must be", "loss:1_0": "loss must be", "loss:٣": "loss must be",
    "right:1.1": "right must be", "steps:0": "steps must be", "steps:1.5": "whole numbers", "seed:1e9": "seed must be",
    "seed:0.5": "whole numbers", "rate:inf": "rate must be", "layers:<b>": "Layers has", "data:stories,data:own": "twice",
    "who:anna": "no link has", "text:<script>": "last parts", "turned:maybe": "last parts",
}  # fmt: skip


def link(**other: Any) -> str:
    """The link of a run."""
    parts = FIRST | {"steps": 100, "loss": 2.5, "right": 0.25, "text": "none", "turned": "no"} | other
    return "http://127.0.0.1:8501/training?part=in-the-page&run=" + ",".join(f"{name}:{value}" for name, value in parts.items())


@pytest.mark.parametrize("given", HOSTILE)
def test_a_broken_line_is_one_sentence_with_its_number_and_the_others_are_kept(given: str) -> None:
    name, _, value = given.partition(":")
    known = name in FIRST or name in ("loss", "right", "steps", "text", "turned", "who")
    line = link(**{name: value}) if known else given
    runs, refused = read_links([link(seed=3), line, "", link(seed=4)])
    assert [run.seed for run in runs] == [3, 4] and len(refused) == 1
    assert (
        refused[0].startswith("Line 2: ") and HOSTILE[given] in refused[0] and len(refused[0]) < 120 and "<" not in refused[0]
    )


def test_what_a_link_does_not_say_is_missed_and_of_too_many_lines_the_first_are_read() -> None:
    for name in (*FIRST, "steps", "loss", "right", "text", "turned"):
        with pytest.raises(ChoiceError, match=f"does not say {name}"):
            run_of(",".join(part for part in link().partition("run=")[2].split(",") if not part.startswith(f"{name}:")))
    runs, refused = read_links(link(seed=n) for n in range(LINES + 50))
    assert len(runs) == LINES and refused == [f"Only the first {LINES} lines are read."]
    assert run_of(link().replace(":", "%3A").replace(",", "%2C").replace("http%3A", "http:")) == run_of(link()), (
        "as a messenger writes it"
    )


def test_the_mean_and_the_spread_over_seeds_are_those_of_numpy_and_losses_of_other_data_stand_apart() -> None:
    losses = np.random.default_rng(0).uniform(1, 4, (2, 7)).round(4)
    lines = [
        link(layers=n + 1, seed=seed, loss=loss, right=seed / 10)
        for n, row in enumerate(losses)
        for seed, loss in enumerate(row)
    ]
    lines += [
        link(layers=1, seed=0, loss=9, steps=50),
        link(layers=1, seed=1, loss=losses[0, 1], right=0.1),
    ]  # shorter, and again
    lines += [link(data="sort", loss=0.1), link(family="encoder", maskRate=0.15), link(family="encoder", maskRate=0.5)]
    lines += [
        link(data="own", text="0123abcd"),
        link(data="own", text="0123abce"),
        link(data="own", text="0123abcd", unit="letters"),
    ]
    tasks = tasks_of(read_links(lines)[0])
    assert len(tasks) == 7 and len({task.name for task in tasks}) == 7
    (stories,) = [task for task in tasks if task.name == "Decoder: short stories (300 words)"]
    order = np.argsort(losses.mean(1))
    assert [setting.name for setting in stories.settings] == [f"layers {n + 1}" for n in order] and stories.repeated == 2
    for setting, n in zip(stories.settings, order, strict=True):
        row = setting.row()
        assert setting.mean == pytest.approx(losses[n].mean()) and row["held-out loss"] == f"{losses[n].mean():.3f}"
        assert setting.deviation == pytest.approx(losses[n].std(ddof=1)) == pytest.approx(statistics.stdev(losses[n]))
        assert row["lowest – highest"] == f"{losses[n].min():.3f} – {losses[n].max():.3f}" and row["right"] == "30%"
        assert row["seeds"] == "0, 1, 2, 3, 4, 5, 6" and row["runs"] == 7 and row["steps"] == "100"


def test_few_runs_have_no_deviation_and_settings_that_a_page_hides_or_changed_later_are_told_apart() -> None:
    (task,) = tasks_of(read_links([link(seed=1), link(seed=2, maskRate=0.8), link(seed=2, turned="yes", loss=2)])[0])
    assert [(each.name, len(each.runs)) for each in task.settings] == [
        ("settings changed during training", 1), ("the same settings", 2),
    ]  # fmt: skip
    assert [each.row()["standard deviation"] for each in task.settings] == ["–", "–"]


def test_a_room_takes_few_runs_of_each_browser_and_of_the_class_and_no_more_a_minute_than_votes() -> None:
    class_runs = ClassRuns()
    for n in range(EACH):
        class_runs.put("anna", link(seed=n), rate=10**6)
    class_runs.put("anna", link(seed=0, steps=700), rate=10**6)
    assert len(class_runs.runs) == EACH and max(run.steps for run in class_runs.runs) == 700
    with pytest.raises(ChoiceError, match=f"{EACH} runs already"):
        class_runs.put("anna", link(seed=EACH), rate=10**6)
    for n in range(MOST - EACH):
        class_runs.put(f"phone {n}", link(), rate=10**6)
    with pytest.raises(ChoiceError, match=f"{MOST} runs already"):
        class_runs.put("late", link(), rate=10**6)
    class_runs.remove()
    for _ in range(3):
        class_runs.put("ben", link(), "10.0.0.1", rate=3)
    with pytest.raises(ChoiceError, match="Too many runs"):
        class_runs.put("ben", link(), "10.0.0.1", rate=3)


@LONG
def test_a_teacher_pastes_links_and_sees_what_the_room_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(str(menu.RUNS))
    at.text_area(key="runs.links").set_value(
        "\n".join([link(seed=1), "<b>no</b>", link(seed=2, loss=3.5), link(data="sort")])
    ).run()
    assert not at.exception and [each.value for each in at.subheader] == ["Decoder: short stories (300 words)", "Decoder: Sort"]
    assert [each.value for each in at.text] == ["Line 2: this is not the link of a run."]
    assert at.table[0].value["held-out loss"].tolist() == ["3.000"] and len(at.get("plotly_chart")) == 2
    monkeypatch.setitem(_SETTINGS, "room", hosted.written(hosted.with_key(hosted.Classroom(), "secret", "http://h:1")))
    monkeypatch.setattr(RUNS, "_runs", {})
    for written in (link(seed=5), None, ["x"], {"run": "x"}):
        in_page.send(written)
    assert [run.seed for run in RUNS.runs] == [5]
    student, teacher = opened(str(menu.RUNS)), opened(str(menu.RUNS), teacher="secret")
    assert student.warning and not student.table and not student.text_area
    assert len(teacher.table) == 1 and "**1** sent by this room" in [each.value for each in teacher.markdown]
    teacher.button(key="runs.remove").click().run()
    assert not teacher.exception and not RUNS.runs and not teacher.table


@LONG
@pytest.mark.browser
def test_a_run_goes_from_a_browser_to_the_class_and_its_link_without_the_teacher_s_key(
    browser: Browser, tmp_path: Path
) -> None:
    port = free_port()
    with room_server(port, tmp_path):
        page = phone(browser, f"http://127.0.0.1:{port}/training?part=in-the-page&teacher=secret")
        page.get_by_label("Width").select_option("16")
        page.get_by_role("button", name="One step").click()
        expect(page.locator(".learning output")).to_have_text("step 1")
        page.evaluate("explorerTrainings[0].queue")
        page.get_by_role("button", name="Copy this run's link").click()
        address = page.get_by_label("Link of this run").input_value()
        run = run_of(address)
        assert address.startswith(f"http://127.0.0.1:{port}/training?part=in-the-page&run=") and "secret" not in address
        page.get_by_role("button", name="Send this run to the class").click()
        expect(page.locator(".says")).to_contain_text(f"Sent to the class: seed {run.seed}, 1 step, held-out")
        page.goto(f"http://127.0.0.1:{port}/runs?teacher=secret")
        expect(page.get_by_role("table")).to_contain_text(f"{run.loss:.3f}")
        page.context.close()
