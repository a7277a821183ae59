"""The guided tour: each step's page opens with the step's choices, shows what it speaks of, and is ticked off; and the core hour."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ALL, LONG, SAMPLED, long, some
from opening import opened, session
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.app import core, deeds, present, tour
from explorer.app import tour_steps as lesson
from explorer.app.lessons import LESSONS, Lesson

STEPS = tour.steps()
GO = 20  # words before *Do*, at most


def number_of(part: str, deed: str = "") -> int:
    """The number of the first step in a part, or of the one with this deed."""
    return next(number for number, step in enumerate(STEPS, 1) if step.part == part and (not deed or deed in step.done))


def shown(at: AppTest) -> str:
    """Everything that a page says, in words and in pictures."""
    words = [block.value for kind in (at.title, at.header, at.subheader, at.markdown, at.info, at.caption) for block in kind]
    charts = [chart.proto.spec.encode().decode("unicode_escape", "ignore") for chart in at.get("plotly_chart")]
    staged = [json.dumps(json.loads(one.proto.json or "{}"), ensure_ascii=False) for one in at.get("bidi_component")]
    return unmarked(" ".join([*words, *charts, *staged, *(chart.proto.alt for chart in at.get("plotly_chart"))]))


def unmarked(text: str) -> str:
    """A text without the marks of the glossary, which may hold a token in brackets."""
    return re.sub(
        r'\[((?:\\.|[^\]\\])+)\]\(glossary#[^ )]*(?: "[^"]*")?\)', lambda mark: re.sub(r"\\(.)", r"\1", mark[1]), text
    )


def links(at: AppTest) -> dict[str, tuple[str, str]]:
    """The links of the card: by label the page and the address's rest."""
    return {link.proto.label: (link.proto.page, link.proto.query_string) for link in at.get("page_link")}


def labels(at: AppTest) -> list[str]:
    """What the controls of a page are called."""
    return [control.label for kind in ASKED.split(", ") for control in at.get(kind) if getattr(control, "label", "")]


@pytest.fixture(scope="module")
def walk() -> AppTest:
    return session()


@SAMPLED
@pytest.mark.parametrize("number", range(1, len(STEPS) + 1), ids=lambda n: f"{n}-{STEPS[n - 1].page}")
def test_a_step_of_the_tour(walk: AppTest, number: int) -> None:
    step = STEPS[number - 1]
    assert step.done and step.know.endswith((".", "?")) and step.part in core.names(step.page)
    wanted = dict(deed.split("=", 1) for deed in step.done if "=" in deed)
    assert all(str(step.choices.get(key)) != value for key, value in wanted.items() if value), "no step asks for what is set"
    assert all(text and step.know not in text for text in (step.do, step.look, step.says)), "the answer comes afterwards"
    walk.query_params.clear()  # as a link does; an address that holds a text goes before what a step sets
    walk.query_params["step"] = str(number)
    walk.query_params["part"] = step.part
    at = walk.switch_page(f"explorer/app/lessons/{step.page}/page.py").run()
    assert not at.exception and not at.warning
    assert at.session_state["part.chosen"] == step.part, "the part is there, alone"
    said = shown(at)
    assert f"Step {number} of {len(STEPS)}" in said and all(text in said for text in (step.says, step.do, step.look))
    assert step.know not in said or step.done == (), "what one knows then comes when it is done"
    assert step.mark in said.replace(step.says, ""), f"step {number} promises {step.mark!r}"
    for key, value in step.choices.items():
        assert at.session_state[key] == value, "the page has taken over what the step sets"
    found = links(at)
    for label, other in (("Next step →", number + 1), ("← Previous step", number - 1)):
        if not 1 <= other <= len(STEPS):
            continue
        if STEPS[other - 1].page == step.page:  # a link to the page that is open would leave the old step in its address
            assert at.button(key=f"tour.to.{other}").label == label
        else:
            page, query = found[f"**{label}**"]
            assert f"step={other}" in query and page == ("" if STEPS[other - 1].page == "start" else STEPS[other - 1].page)


@pytest.mark.parametrize("number", some(range(1, len(STEPS) + 1), 2, 15, 25))
def test_what_is_to_be_done_is_named_as_the_control_is_labelled(number: int) -> None:
    step = STEPS[number - 1]
    at = opened(step.page, step=str(number))
    called = labels(at)
    for deed in (deed for deed in step.done[:-1] if deed.startswith("guess.")):  # what comes after the answer
        question = next(radio for radio in at.radio if str(radio.key).startswith(deed.rstrip("*")))
        called += labels(question.set_value(question.options[0]).run())
    for name in set(re.findall(r"\*\*(.+?)\*\*", step.do)) - set(PLAYER):
        assert any(label.startswith(name) for label in called), f"no control is called {name}"


def test_the_visitor_may_change_what_a_step_has_set_and_may_leave(walk: AppTest) -> None:
    walk.query_params["step"] = "1"
    at = walk.switch_page("explorer/app/lessons/start/page.py").run()
    at = at.text_input(key="text").set_value("The dog was tired.").run()
    assert at.text_input(key="text").value == "The dog was tired." and not at.exception
    at = at.button(key="tour.leave").click().run()
    assert "Step 1 of" not in shown(at) and "step" not in at.query_params


@LONG
def test_the_film_has_its_own_sentence_and_the_steps_after_it_that_of_the_front_page() -> None:
    own, film = "The dog was cold, so he went home.", (STEPS[0].choices["text"], STEPS[0].choices["chosen"])
    at = opened("start", step="1", part="opening", text=own, chosen="dog")

    def shown_now() -> tuple[str, str]:
        return at.text_input(key="text").value, at.session_state["chosen"]

    assert shown_now() == film and "Step 1 of" in shown(at), "only its own sentence has words to choose from"
    at = at.button(key="tour.to.2").click().run()
    assert shown_now() == (own, "dog") and "Step 2 of" in shown(at) and not at.exception
    at.query_params.clear()  # as the link back from the third step does
    at.query_params["step"], at.query_params["part"] = "3", "learn"
    at = at.switch_page(str(LESSONS["tokens"].page)).run()
    at.query_params.clear()
    at.query_params["step"], at.query_params["part"] = "2", "masks"
    at = at.switch_page(str(LESSONS["start"].page)).run()
    assert shown_now() == (own, "dog")
    at = opened("start").text_input(key="text").set_value(own).run()
    at.query_params.clear()  # as the link below the parts does
    at.query_params["step"], at.query_params["part"] = "2", "masks"
    at.run()
    assert at.text_input(key="text").value == own and "Step 2 of" in shown(at)


@LONG
def test_an_address_with_a_step_opens_the_page_and_the_part_of_it_wherever_it_is_given() -> None:
    for page, number in (("start", 5), ("heads", 1), ("tokens", 14), ("vectors", 5), ("start", len(STEPS))):
        at = opened(page, step=str(number))
        step = STEPS[number - 1]
        assert not at.exception and at.session_state[core.PAGE] == step.page, (page, number)
        assert at.session_state["part.chosen"] == step.part and step.part in at.query_params["part"]
        assert f"Step {number} of" in shown(at) and "another page" not in shown(at)


@LONG
def test_who_leaves_by_the_menu_is_not_thrown_back() -> None:
    at = opened("attention", step="6")
    at.query_params.clear()  # as the menu does
    for _ in range(2):  # and it stays so when something is done there
        at = at.switch_page(str(LESSONS["decoding"].page)).run()
        assert at.session_state[core.PAGE] == "decoding" and "The tour continues on another page." in shown(at)
        assert links(at)["**Go on with the tour**"][1] == "step=6&part=walk"


def test_the_chapters_hold_every_step_once_and_say_where_one_is() -> None:
    parts = lesson.chapters(STEPS)
    assert 5 <= len(parts) <= 7 and len({chapter.title for chapter in parts}) == len(parts)
    assert [number for chapter in parts for number in chapter.steps] == list(range(1, len(STEPS) + 1))
    assert all(2 <= len(chapter.steps) <= 8 and len(chapter.title) < 24 for chapter in parts)
    attention = next(chapter for chapter in parts if STEPS[chapter.steps[0] - 1].page == "attention")
    assert attention.place(attention.steps[-1]) == f"Attention · {len(attention.steps)} of {len(attention.steps)}"


def test_a_chapter_is_done_once_all_its_deeds_are_and_the_time_left_shrinks_with_them() -> None:
    first = number_of("walk")
    at = opened("attention", step=str(first))

    def chapter() -> str:
        return at.button(key=f"tour.chapter.{first}").label

    assert chapter() == "Attention · 3 steps" and f"about {len(STEPS) - first + 1} min left" in shown(at)
    for did, place in enumerate(({"row": 4}, {"row": 4, "station": "mix"}), 1):
        at.session_state[f"{STEPS[first - 1].picture}.begin"] = place
        at = at.run()
        assert chapter() == f"Attention · {did} of 3 done" and f"about {len(STEPS) - first - did + 1} min left" in shown(at)
        at = at.button(key=f"tour.to.{first + did}").click().run()
    at.session_state["masks.stage"] = "weights"
    at = at.run()
    assert chapter() == "✓ Attention · 3 steps" and f"about {len(STEPS) - first - 2} min left" in shown(at)
    assert links(at)["Positions · 3 steps"][1] == f"step={first + 3}&part={STEPS[first + 2].part}"
    del at.session_state[f"{STEPS[first - 1].picture}.begin"]
    at = at.button(key="tour.leave").click().run()
    at.query_params["step"] = str(first)
    at = at.run()
    assert chapter() == "Attention · 3 steps", "another tour begins anew"


def test_a_step_begins_its_board_where_it_says_and_a_link_where_the_link_says() -> None:
    number = next(n for n, step in enumerate(STEPS, 1) if n > 1 and step.boards and STEPS[n - 2].boards)
    elsewhere, (place,) = "encoder.3.3.softmax.7.7", STEPS[number - 1].boards.values()
    at = opened("attention", step=str(number), board=elsewhere)
    assert at.query_params["board"] in (elsewhere, [elsewhere])
    at = opened("attention", step=str(number - 1))
    at.query_params["board"] = elsewhere  # a hand clicked there
    at = at.run().button(key=f"tour.to.{number}").click().run()
    assert at.query_params["board"] in (place, [place]) and at.session_state["board.begin"]["station"] == place.split(".")[3]


def test_the_planned_pace_is_the_one_that_is_said() -> None:
    assert lesson.minutes(len(STEPS)) == len(STEPS) and lesson.MINUTES == 1
    reads = [words(f"{step.says} {step.do} {step.look} {step.know}") for step in STEPS]
    assert 60 <= sum(reads) / len(reads) <= 80, "half a minute at 120 to 160 words a minute"


PLAYER = ("▶", "▶|", "x", "Σ α v", "◇ Predict")  # what a picture and a question write themselves


@pytest.mark.parametrize("number", range(1, len(STEPS) + 1))
def test_a_step_says_little_before_it_asks(number: int) -> None:
    assert 5 <= words(STEPS[number - 1].says) <= GO


def test_the_first_step_is_a_deed_on_the_film_which_the_browser_sees() -> None:
    step = STEPS[0]
    at = opened("start", step="1")
    assert step.part == "opening" and step.waits and not knows(at, step.know)
    assert at.get("bidi_component"), "the film is there"
    at.session_state[deeds.PRESSED] = step.done[0]
    assert knows(at.run(), step.know)
    at = at.button(key="tour.to.2").click().run()
    assert knows(at.button(key="tour.to.1").click().run(), step.know), "and stays done"


@LONG
def test_a_step_is_found_again_as_it_was_left_and_begins_anew_after_the_tour() -> None:
    def go_to(number: int) -> AppTest:
        at.query_params.clear()  # as the links of the card do
        at.query_params["step"], at.query_params["part"] = str(number), STEPS[number - 1].part
        return at.switch_page(str(LESSONS[STEPS[number - 1].page].page)).run()

    at, own, preset = session(), "unbelievable ελιά", STEPS[3].choices["text.tokens"]
    assert go_to(4).text_input(key="text.tokens").value == preset and not knows(at, STEPS[3].know)
    assert knows(at.text_input(key="text.tokens").set_value(own).run(), STEPS[3].know)
    assert go_to(5).session_state["relation"] == STEPS[4].choices["relation"]
    chosen = STEPS[4].done[0].removeprefix("relation=")
    at.session_state["relation"] = chosen
    at.run()
    assert go_to(4).text_input(key="text.tokens").value == own and knows(at, STEPS[3].know) and not at.exception
    at.query_params.clear()
    at.switch_page(str(LESSONS["heads"].page)).run()  # by the menu, and back
    assert go_to(4).text_input(key="text.tokens").value == own and knows(at, STEPS[3].know)
    assert go_to(5).session_state["relation"] == chosen and knows(at, STEPS[4].know)
    at.button(key="tour.leave").click().run()
    assert go_to(4).text_input(key="text.tokens").value == preset and not knows(at, STEPS[3].know)


@pytest.mark.parametrize("asked", ["0", "99", "-1", "x", "²", "", "<script>"])
def test_an_address_without_a_step_starts_no_tour(asked: str) -> None:
    assert lesson.number_of(asked, len(STEPS)) is None


def test_there_are_about_twenty_five_steps_and_none_without_its_page() -> None:
    assert 24 <= len(STEPS) <= 28
    assert {step.page for step in lesson.steps_on(("tokens",))} == {"tokens"}
    assert {step.page for step in STEPS} >= {"start", "families", "yours"}
    assert [step.page for step in lesson.steps_on(LESSONS)] == [step.page for step in STEPS], "every page is visited"


def test_a_lesson_without_a_step_gets_one_from_its_line_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LESSONS, "toy", Lesson("toy", "A toy", "L0", "Count the tokens of a text."))
    *written, last = lesson.steps_on(LESSONS)
    assert written == list(STEPS) and (last.page, last.says, last.mark) == ("toy", "Count the tokens of a text.", "A toy")


SHOWN = ("markdown", "caption", "title", "header", "subheader", "info", "success", "warning")
ASKED = "radio, selectbox, text_input, slider, select_slider, number_input, toggle, button, button_group, pills"
FOLDED = ("expander", "popover")
WORDS = range(5_000, 6_501)  # of the core hour, with the tour and without the answers of the visitor
PAGE = 2_500  # words of all parts of a page that are not folded
SOME = list(LESSONS) if ALL else ["attention", "prompting"]


def visible(node: Any) -> Iterator[Any]:
    """Everything on a page that is not folded."""
    if getattr(node, "type", "") in FOLDED:
        return
    if hasattr(node, "children"):
        for child in node.children.values():
            yield from visible(child)
    else:
        yield node


def said(node: Any) -> str:
    """The words of one thing on a page."""
    if node.type in SHOWN:
        return re.sub(r"\]\(glossary#[^\"]*\"[^\"]*\"\)|\$[^$]*\$", " ", str(node.value))
    if node.type not in ASKED.split(", "):
        return ""
    hidden = getattr(node.proto, "label_visibility", None)  # a label that only screen readers say
    label = "" if hidden is not None and hidden.value == hidden.COLLAPSED else node.label or ""
    return " ".join([label, *(node.options if node.type == "radio" else ())])


def words(text: str) -> int:
    return len(re.findall(r"[\w'’-]*\w", text))


@pytest.fixture(scope="module")
def pages() -> dict[str, AppTest]:
    """The lessons in the core hour, all that is left of each."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("explorer.app.frame.EVERY_PART", True)
        return {name: opened(name, core="1") for name in SOME}


def test_the_core_hour_keeps_what_the_tour_visits_and_two_exercises(pages: dict[str, AppTest]) -> None:
    for name, at in pages.items():
        assert not at.exception and "1" in at.query_params["core"]
        kept = set(core.names(name))
        titles = [header.value for header in at.header]
        assert 2 <= len(titles) <= len(kept) and titles[-1] == "Exercises"
        numbers = [block.value for block in at.markdown if re.match(r"\*\*\d+\.\*\* ", block.value)]
        assert len(numbers) == core.EXERCISES, name
        cards = {radio.key for radio in at.radio if (radio.key or "").startswith("guess.")}
        assert len(cards) <= 1, f"{name}: one question"


def test_it_holds_no_more_words_than_an_hour_has_time_for(pages: dict[str, AppTest]) -> None:
    count = {name: words(" ".join(map(said, visible(at.main)))) for name, at in pages.items()}
    strips = sum(words(f"{step.says} {step.do} {step.look} {step.know}") for step in STEPS)
    assert all(100 < number < 700 for number in count.values()), count
    assert 1_000 < strips < 2_500
    assert max(words(step.know) for step in STEPS) <= 45, "what was just seen, and no more"
    assert not ALL or sum(count.values()) + strips in WORDS, (count, strips)


@LONG
@pytest.mark.parametrize("name", [*long(*(name for name in LESSONS if name != "training")), "training"])
def test_no_page_holds_more_words_than_can_be_read_in_a_quarter_of_an_hour(name: str) -> None:
    at = opened(name, part="all")
    assert not at.exception and 300 < words(" ".join(map(said, visible(at.main)))) <= PAGE


@LONG
def test_everything_comes_back_with_the_same_button() -> None:
    at = opened("prompting", core="1")
    few = len(at.header)
    at = at.button(key="core.button").click().run()
    assert len(at.header) > few and "core" not in at.query_params and not at.exception
    at = at.button(key="core.button").click().run()
    assert len(at.header) == few


@LONG
def test_a_step_is_ticked_off_by_what_was_done_and_by_nothing_else() -> None:
    at = opened("attention", step="8", part="both-masks")
    know = STEPS[7].know
    assert at.session_state[deeds.FIRST] and not knows(at, know)
    at = at.slider(key="masks.head").set_value(1).run()
    assert not knows(at, know), "another control than the one that was named"
    assert not knows(at.run(), know), "time alone"
    for stage in ("weights", "scores"):  # once done, done
        at.session_state["masks.stage"] = stage
        at = at.run()
        assert knows(at, know), stage


def test_what_one_knows_comes_once_the_whole_deed_is_done() -> None:
    number = number_of("one-strategy", "strategy=bart-infill")
    step = STEPS[number - 1]
    at = opened("corruption", step=str(number), part="one-strategy")
    assert step.done == ("strategy=t5", "strategy=bart-infill")
    for strategy, whole in (("t5", False), ("spanbert", False), ("bart-infill", True)):
        at.session_state["strategy"] = strategy
        at = at.run()
        assert knows(at, step.know) is whole, strategy


def test_the_words_of_the_update_move_as_the_card_says() -> None:
    step = STEPS[number_of("one-update") - 1]
    words = [str(step.choices["update.near"]), *str(step.choices["update.others"]).split()]
    before = ex.analysis.pair_update(ex.load("word2vec", device="cpu"), "dog", words[0], words[1:])
    for rate in (0.1, 0.3):
        after = before.moved(rate)
        assert after.loss < before.loss and after.sigma[0] > before.sigma[0] and (after.sigma[1:] < before.sigma[1:]).all(), (
            rate
        )


def test_what_was_done_is_in_the_address_and_who_leaves_can_go_on_there(monkeypatch: pytest.MonkeyPatch) -> None:
    number = number_of("both-masks")
    at = opened("attention", step=str(number), part="both-masks")
    assert at.query_params["did"] == "0"
    at.session_state["masks.stage"] = "weights"
    at = at.run()
    kept = str(at.query_params["did"])
    assert int(kept, 16) == 1 << number - 1
    for did, known in ((kept, True), ("0", False), ("<script>", False), ("f" * 400, False)):
        again = opened("attention", step=str(number), part="both-masks", did=did)
        assert not again.exception and knows(again, STEPS[number - 1].know) is known, did
    at = at.button(key="tour.leave").click().run()
    assert "did" not in at.query_params and "did" in present.PRIVATE
    assert (tour.name(), tour.address()) == ("Guided tour", f"?step=1&part={STEPS[0].part}")
    monkeypatch.setattr(tour.st, "session_state", {tour.LEFT: at.session_state[tour.LEFT]})
    assert (tour.name(), tour.address()) == ("Continue the tour", f"attention?step={number}&part=both-masks&did={kept}")
    for at_step, wanted in ((5, 5), (len(STEPS) + 1, 1)):  # the menu leads to where one is, and after the end to its beginning
        monkeypatch.setattr(tour.st, "session_state", {tour.KEY: at_step})
        assert tour.entry()[0] == STEPS[wanted - 1]


def test_controls_that_a_step_hides_are_on_its_page_and_not_what_it_asks_for() -> None:
    for number, step in enumerate(STEPS, 1):
        if not step.hides:
            continue
        at = opened(step.page, step=str(number), part=step.part)
        for key, value in (deed.split("=") for deed in step.done if "=" in deed):
            at.session_state[key] = value
            at = at.run()
        keys = {control.key for kind in ASKED.split(", ") for control in at.get(kind)}
        assert set(step.hides) <= keys and not set(step.hides) & set(map(deeds.box, step.done)), number


def knows(at: AppTest, know: str) -> bool:
    """Whether a page says what one knows now."""
    return any(know in unmarked(block.value) for block in at.markdown)


def test_a_board_begins_where_its_step_says_and_as_it_was_left_at_a_later_visit() -> None:
    number = number_of("walk")
    at = opened("attention", step=str(number))
    assert STEPS[number - 1].boards["board"] in at.query_params["board"] and not knows(at, STEPS[number - 1].know)
    at.query_params["board"] = "encoder.3.3.qkv.9.2"
    at = at.run()
    assert "encoder.3.3.qkv.9.2" in at.query_params["board"], "it is set once"


@LONG
def test_a_question_counts_once_it_has_an_answer() -> None:
    number = next(n for n, step in enumerate(STEPS, 1) if step.done == ("guess.lowest",))
    step = STEPS[number - 1]
    at = opened("elmo", step=str(number), part=step.part)
    assert not knows(at, step.know)
    at = at.radio(key="guess.lowest").set_value(at.radio(key="guess.lowest").options[0]).run()
    assert knows(at, step.know) and not at.exception
