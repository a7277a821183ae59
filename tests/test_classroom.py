"""A room: limits that hold whatever a link or a browser sends, the vote, the status page, and `explorer app` and `explorer doctor`."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from conftest import LONG
from opening import opened
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from explorer import cli
from explorer.app import hosted, lecture, status
from explorer.app.lessons import LESSONS
from explorer.app.room import _SETTINGS
from explorer.app.vote import BOOTH, Booth
from explorer.errors import ChoiceError, FileError, TextError
from explorer.models.store import models
from explorer.records import Exercise
from explorer.training import jobs
from explorer.training.jobs import JobQueue, JobSpec

ROOT = Path(__file__).parent.parent
QUESTION = Exercise("How many?", "two", "Count them.", ("one", "two", "three"))


LIMITS = {"models": ["bert", "gpt2"], "letters": 80, "steps": 100, "queue": 2, "key": "secret", "public": "http://room:8501"}
ATTENTION = str(LESSONS["attention"].page)
VOTE, STATUS = (f"{ROOT}/explorer/app/{name}_page.py" for name in ("vote", "status"))


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> hosted.Classroom:
    """A small room."""
    classroom = hosted.classroom_of(LIMITS)
    monkeypatch.setitem(_SETTINGS, "room", hosted.written(classroom))
    return classroom


def test_without_a_room_everything_is_free() -> None:
    assert hosted.room() is None and hosted.allowed(["a", "b"]) == ["a", "b"] and hosted.uploads() and hosted.teaches(None)
    hosted.check_text(["x" * 10**6])
    assert hosted.most_steps(5000) == 5000 and hosted.public("http://127.0.0.1:8501/heads") == "http://127.0.0.1:8501/heads"


def test_a_room_survives_the_way_to_its_server(room: hosted.Classroom) -> None:
    assert hosted.room() == room and hosted.allowed(["bert", "bart"]) == ["bert"]
    assert hosted.allowed(["word2vec", "glove"]) == ["word2vec", "glove"], "a page that fits none of its models offers its own"
    assert hosted.public("http://127.0.0.1:8501/heads") == "http://room:8501/heads"
    assert hosted.teaches("secret") and not any(map(hosted.teaches, (None, "", "Secret", "secret ")))


@pytest.mark.parametrize(
    "settings",
    [{"letters": 0}, {"steps": "many"}, {"queue": True}, {"idle": 10**9}, {"models": "bert"}, {"uploads": "no"},
     {"colour": "red"}, {"key": 3}, {"opens_with": "bert"}, {"text": 3}, {"text": "x" * 601}, {"texts": ["a"]},
     {"texts": {"attention": "It shares the sentence of most pages."}}, {"texts": {"nowhere": "A dog."}}],
)  # fmt: skip
def test_a_setting_that_is_none_is_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ChoiceError):
        hosted.classroom_of(settings)


def test_a_room_offers_its_models_only_and_a_link_opens_no_other(room: hosted.Classroom) -> None:
    at = opened(ATTENTION, model="llama", part="both-masks")
    box = at.selectbox(key="model")
    assert not at.exception and list(box.options) == ["bert", "gpt2"] and box.value == "bert"
    runs = opened("training", part="compare").selectbox(key="runs.first")
    assert list(runs.options) == ["bert, seed 0", "bert, seed 1", "bert", "gpt2"], "logs open no model"


@LONG
def test_pages_open_with_the_teacher_s_model_and_text_unless_a_link_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"opens_with": ["roberta", "llama"], "text": "The cat slept.", "texts": {"decoding": "A girl"}}
    monkeypatch.setitem(_SETTINGS, "room", hosted.written(hosted.classroom_of(LIMITS | {"models": []} | own)))
    at = opened("attention")
    hosted_page = {"model": at.selectbox(key="model").value, "text": at.text_input(key="text").value}
    assert hosted_page == {"model": "roberta", "text": "The cat slept."}
    link = opened("attention", model="gpt2", text="A dog.")
    assert (link.selectbox(key="model").value, link.text_input(key="text").value) == ("gpt2", "A dog.")
    writes = opened("decoding")  # where an encoder is not offered
    assert (writes.selectbox(key="writer").value, writes.text_input(key="beginning").value) == ("llama", "A girl")


def test_a_room_that_opens_with_no_model_of_it_does_not_start(tmp_path: Path) -> None:
    file = tmp_path / "room.toml"
    for line, says in (('["none-such"]', "There is no model 'none-such'"), ('["gpt2"]', "visitors cannot choose")):
        file.write_text(f'models = ["bert"]\nopens_with = {line}\n', "utf-8")
        with pytest.raises(ChoiceError, match=says):
            hosted.opened(file, "127.0.0.1", 8501)


def test_a_text_that_is_too_long_for_the_room_is_refused_on_every_way(room: hosted.Classroom) -> None:
    at = opened(ATTENTION, part="both-masks")
    at = at.text_input(key="text").set_value("dog " * 30).run()
    assert not at.exception and not at.get("plotly_chart") and "at most 80" in at.warning[0].value
    with pytest.raises(TextError, match="at most 80"):
        hosted.check_text(["short", "x" * 81])


def test_paths_hub_names_and_uploads_are_off(room: hosted.Classroom) -> None:
    at = opened(str(LESSONS["yours"].page), yours="/etc", part="models")
    assert not at.exception and not at.get("file_uploader") and "yours" not in [box.key for box in at.text_input]
    assert "/etc" not in " ".join(block.value for kind in (at.markdown, at.info, at.warning) for block in kind)


@pytest.fixture
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JobQueue:
    """A queue whose processes do nothing; their tickets count as alive while they are young."""

    monkeypatch.setattr(jobs, "_started", lambda folder, ticket: Mock(poll=lambda: None))
    monkeypatch.setattr(jobs, "CHILDREN", [])
    return JobQueue(tmp_path)


def test_a_room_trains_few_at_once_and_not_long(room: hosted.Classroom, still: JobQueue) -> None:
    order = JobSpec("bert", "toy", 50)
    assert [hosted.begin(still, order) for _ in range(2)] == still.alive()
    for spec, message in ((order, "2 training runs"), (JobSpec("bert", "toy", 200), "at most 100 steps")):
        with pytest.raises(ChoiceError, match=message):
            hosted.begin(still, spec)
    assert [still.state(name).ahead for name in still.alive()] == [0, 1], "a place in line"


def test_trainings_that_nobody_watches_are_stopped(still: JobQueue) -> None:
    watched, left = still.begin(JobSpec("bert", "toy", 50)), still.begin(JobSpec("bert", "toy", 50))
    long_ago = time.time() - 700
    for name in (watched, left):
        os.utime(still.folder(name) / jobs.SPEC, (long_ago, long_ago))
    still.look(watched)
    assert still.reclaim(600, 3600) == [left]
    assert (still.folder(left) / jobs.STOP).exists() and not (still.folder(watched) / jobs.STOP).exists()
    (still.folder(watched) / jobs.BEGAN).write_text("{}")
    os.utime(still.folder(watched) / jobs.BEGAN, (long_ago, long_ago))
    still.look(watched)
    assert watched in still.reclaim(600, 600), "it has trained for longer than is allowed"


@LONG
def test_no_visitor_sees_the_text_of_another(room: hosted.Classroom) -> None:
    secret = "My zorblax saw the dog."
    at = opened(ATTENTION, part="both-masks")
    at = at.text_input(key="text").set_value(secret).run()
    assert not at.exception and any("zorblax" in block.value for block in at.text_input)
    for page in (ATTENTION, str(LESSONS["training"].page), STATUS):
        other = opened(page, teacher="secret")
        assert not other.exception and "zorblax" not in str(other.main) + json.dumps(dict(other.query_params))


def test_each_visitor_has_one_vote_and_none_after_the_answer() -> None:
    booth = Booth()
    with pytest.raises(ChoiceError, match="closed"):
        booth.vote("anna", "x", "one")
    number = booth.open(QUESTION).number
    for who, option in (("anna", "one"), ("ben", "two"), ("cleo", "two"), ("anna", "three")):
        booth.vote(who, number, option)
    ballot = booth.now
    assert ballot is not None and ballot.counts == (0, 2, 1)
    for change, option, message in (
        (lambda: None, "four", "not an answer"),
        (booth.reveal, "two", "on the projector already"),
        (lambda: booth.open(QUESTION), "two", "closed"),
    ):
        change()
        with pytest.raises(ChoiceError, match=message):
            booth.vote("dora", number, option)


def drawn_bars(at: AppTest) -> list[str]:
    """What the bars of a vote say to a screen reader."""
    return re.findall(
        r'class="vote-track " role="img" aria-label="([^"]*)"', " ".join(block.proto.body for block in at.get("html"))
    )


def test_a_presenter_asks_students_answer_and_the_bars_wait_for_the_presenter(room: hosted.Classroom) -> None:
    BOOTH.close()
    teacher, student = opened(VOTE, teacher="secret"), opened(VOTE)
    assert not teacher.exception and not student.exception
    assert "vote.open" not in [button.key for button in student.button]
    teacher = teacher.button(key="vote.open").click().run()
    ballot = BOOTH.now
    assert ballot is not None
    student = student.run()
    assert ballot.question in student.markdown[-1].value and not drawn_bars(student), "students do not see the bars"
    BOOTH.vote("a phone", ballot.number, ballot.answer)  # how a phone sends it: test_lost_network.py
    assert sum(ballot.counts) == 1
    assert not drawn_bars(teacher.run()), "no bar is drawn before the teacher shows them"
    drawn = drawn_bars(teacher.button(key="vote.bars").click().run())
    assert sorted(drawn) == sorted(f"{option}: {int(option == ballot.answer)} votes" for option in ballot.options)
    teacher = teacher.button(key="vote.reveal").click().run()
    assert ballot.answer in teacher.success[0].value and ballot.answer in student.run().info[0].value
    BOOTH.close()


def test_the_status_page_is_the_teachers(room: hosted.Classroom) -> None:
    student, teacher = opened(STATUS), opened(STATUS, teacher="secret")
    assert not student.exception and not student.metric and "teacher" in student.warning[0].value
    assert not teacher.exception and {"Visitors", "Training runs waiting"} <= {metric.label for metric in teacher.metric}


@LONG
def test_what_is_said_of_the_machine_is_measured() -> None:
    import psutil

    found = status.machine()
    assert found["cores"] == os.cpu_count() and found["memory of the server, GB"] >= psutil.Process().memory_info().rss / 1.5e9
    ready = status.offline()
    shipped = {f"model {name}" for name, held in models().items() if held.shipped}
    assert shipped <= set(ready) and all(ready[name] == "ok" for name in shipped) and ready["pictures"] == "ok"


def served(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[list[str], str]:
    """What would be started, and what is said."""
    started: list[str] = []
    monkeypatch.setattr(cli, "_start", lambda module, *options: started.extend((module, *options)))
    monkeypatch.chdir(Path.cwd())
    monkeypatch.setitem(_SETTINGS, "room", "")
    monkeypatch.setattr("explorer.app.room.hand_over", lambda: "--room")
    result = CliRunner().invoke(cli.cli, ["app", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return started, result.output


def test_the_app_of_one_person_listens_to_this_computer_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    started, said = served(monkeypatch)
    assert started[started.index("--server.address") + 1] == "127.0.0.1"
    assert "http://127.0.0.1:8501/" in said and "teacher" not in said and hosted.room() is None


def test_a_classroom_reads_its_file_and_prints_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "room.toml"
    file.write_text('models = ["bert"]\nsteps = 100\n', "utf-8")
    started, said = served(monkeypatch, "--settings", str(file), "--address", "127.0.0.1", "--port", "9001")
    held = hosted.room()
    assert held is not None and held.models == ("bert",) and held.steps == 100 and len(held.key) >= 12
    assert started[started.index("--server.address") + 1] == "127.0.0.1"
    assert "http://127.0.0.1:9001/" in said and f"status?teacher={held.key}" in said
    monkeypatch.setenv(lecture.VARIABLE, "")
    started, said = served(monkeypatch, "--classroom", "--lesson", "L0")
    held = hosted.room()
    assert started[started.index("--server.address") + 1] == "0.0.0.0"
    assert held is not None and f"{held.public}/lesson?teacher={held.key} (" in said, "the page of a lesson is the teacher's"


@pytest.mark.parametrize("text", ["models = ", "colour = 3", 'steps = "x"'])
def test_a_file_that_says_nothing_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    (tmp_path / "room.toml").write_text(text, "utf-8")
    with pytest.raises((ChoiceError, FileError)) as error:
        served(monkeypatch, "--settings", str(tmp_path / "room.toml"))
    assert "\n" not in str(error.value)


def test_the_doctor_says_the_same_in_a_terminal() -> None:
    result = CliRunner().invoke(cli.cli, ["doctor", "--json"], catch_exceptions=False)
    found = json.loads(result.output)
    assert result.exit_code == 0 and found["streamlit"] == status.versions()["streamlit"] and "bert" in found["models"]
    assert found["cores"] == os.cpu_count() and found["trainings waiting"] == 0
