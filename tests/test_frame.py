"""The pages without a browser: parts, the address that holds every choice, the glossary, presenting, the QR code of the address; what
every page shows, and what it says to bad input.
"""

from __future__ import annotations

import ast
import gc
import json
import re
import weakref
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from conftest import ALL, LONG, SAMPLED, long, some, unmarked
from opening import opened, session
from segno import make_qr
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ElementList
from test_board import array, board_of, header

import explorer as ex
from explorer.app import glossary, hosted, present, streamlit_inside
from explorer.app.controls import attentive
from explorer.app.lessons import LESSONS, SECTIONS, SENTENCE, section_of
from explorer.app.tour_steps import STEPS
from explorer.app.web import first_sentence
from explorer.corruption.strategies import PAIRS, STRATEGIES
from explorer.training.objectives import OBJECTIVES
from explorer.views import VIEWS

ROOT = Path(__file__).parent.parent
OPENED = {"tokens", "vectors", "training", "decoding", "whatif", "yours"}  # whole, by the tests of their lessons
SOME = list(LESSONS) if ALL else ["attention", "decoding"]
KINDS = {"text_input", "text_area", "number_input", "slider", "select_slider", "selectbox", "radio", "toggle", "pills",
         "segmented_control", "multiselect", "checkbox", "data_editor"}  # fmt: skip


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As visitors see the pages: one part at a time."""
    monkeypatch.setattr("explorer.app.frame.EVERY_PART", False)


def test_the_lessons_have_one_order_in_the_menu_and_in_the_tour() -> None:
    order = [name for names in SECTIONS.values() for name in names if name in LESSONS]
    assert list(LESSONS) == order and {section_of(name) for name in LESSONS} <= set(SECTIONS)
    visited = list(dict.fromkeys(step.page for step in STEPS))
    assert visited == [page for page in order if page in visited]
    assert order.index("attention") < order.index("positions"), "ways to encode a position change scores, queries and keys"


@pytest.mark.usefixtures("parts")
def test_only_the_part_in_the_address_runs() -> None:
    at = opened("attention", part="both-masks")
    assert not at.exception and [header.value for header in at.header] == ["Both masks"]
    assert len(at.get("plotly_chart")) == 1 and at.session_state["part.chosen"] == "both-masks"
    at.query_params["part"] = "exercises"
    at = at.run()
    assert [header.value for header in at.header] == ["Exercises"] and not at.get("plotly_chart") and at.text_input


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(
    ("lesson", "part", "title"),
    [("attention", typed, "Both masks") for typed in ("Both masks", "both_masks", " BOTH-MASKS ")]
    + [("positions", typed, "Ways to encode a position") for typed in ("", "nothing", "<script>", "walk.walk")],
)
def test_a_part_may_be_typed_as_the_bar_writes_it_and_without_one_the_first_opens(lesson: str, part: str, title: str) -> None:
    at = opened(lesson, part=part)
    assert not at.exception and [header.value for header in at.header] == [title]


@LONG
@pytest.mark.usefixtures("parts")
def test_all_parts_stand_below_each_other_where_the_address_says_so() -> None:
    at = opened("positions", part="all")
    assert len(at.header) == 6 and at.button(key="part.one")


@pytest.mark.parametrize("lesson", some(SOME, "attention"))
def test_the_address_holds_every_control(lesson: str) -> None:
    """But for guesses, answers and votes, which are the visitor's own, and files."""
    at = opened(lesson)
    unbound = []
    for widget in (widget for kind in KINDS | {"button_group"} for widget in at.get(kind)):
        key = getattr(widget, "key", None) or ""
        mine = key.startswith(("guess.", "part.chosen")) or ".exercise" in key
        if not mine and not getattr(widget.proto, "query_param_key", ""):
            unbound.append(key)
    assert unbound == []


FREE = {  # what an address leaves out, and why
    "beside.py f'{FORK}.{known}": "the address holds the place, as the page writes it",
    "desk.py homework.pictures": "the teacher's",
    "many_texts.py many.texts": "a visitor's own list is longer than an address may be",
    "slices.py slices.texts": "a visitor's own list is longer than an address may be",
    "update.py update.position": "its choices are the words of the text",
    "comparing.py runs.others": "the runs of a room are not those of another",
    "vote_page.py vote.own": "the teacher's",
    "frame.py part.chosen": "the address holds the part, under a shorter name",
    "exercises.py name": "an answer is the visitor's own",
    "guessing.py key": "a guess is the visitor's own",
    "live.py live.text": "a text to train on is longer than an address may be",
    "status_page.py check": "the teacher's",
    "runs_page.py PASTED": "the teacher's",
    "vote_page.py vote.question": "the teacher's",
    "own_lesson.py box(name)": "it goes into the teacher's own lesson",
    "own_lesson.py box(note)": "it goes into the teacher's own lesson",
    "own_lesson.py box(QUESTION)": "it goes into the teacher's own lesson",
    "own_lesson.py TITLE": "it goes into the teacher's own lesson",
}


def test_so_it_does_where_a_control_comes_only_with_a_choice() -> None:
    unbound = set()
    for path in sorted((ROOT / "explorer" / "app").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in KINDS:
                given = {keyword.arg: keyword.value for keyword in call.keywords}
                if "bind" not in given and None not in given:
                    unbound.add(f"{path.name} {ast.unparse(given['key']).strip(chr(39))}")
    assert unbound == set(FREE)


def test_a_caption_is_split_before_what_may_not_be_concluded() -> None:
    for view in VIEWS.values():
        assert view.reading and "not conclude" not in view.reading and view.limits.endswith("."), view.name
        assert view.limits[0].isupper() and view.limits.split()[0] not in ("You", "It", "From"), view.name
        assert f"{view.reading} You may not conclude {view.limits}".lower().split() == view.caption.lower().split()


def test_who_goes_to_an_address_first_lets_go_of_its_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit refuses an address that sets a box which is on the page already; only this way asks it."""
    done: list[object] = []
    monkeypatch.setattr(streamlit_inside, "let_go", lambda names: done.append(set(names)))
    monkeypatch.setattr("streamlit.switch_page", lambda page, query_params: done.append((page, query_params)))
    streamlit_inside.go_to(LESSONS["attention"].page, {"text": "A dog.", "part": "walk"})
    assert done == [{"text", "part"}, (str(LESSONS["attention"].page), {"text": "A dog.", "part": "walk"})]
    files = (ROOT / "explorer").rglob("*.py")
    assert [path.name for path in files if "st.switch_page(" in path.read_text("utf-8")] == ["streamlit_inside.py"]


def test_the_menu_calls_a_lesson_what_its_page_and_its_notebook_are_called() -> None:
    for lesson, notebook in zip(LESSONS.values(), sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")), strict=True):
        head = "".join(json.loads(notebook.read_text("utf-8"))["cells"][0]["source"]).splitlines()[0]
        assert lesson.prose.title == lesson.title and head == f"# {lesson.title}"


@pytest.mark.usefixtures("parts")
def test_one_sentence_of_a_caption_stands_open_and_a_picture_is_said_without_signs() -> None:
    at = opened("attention", part="without-parameters")
    (chart,) = at.get("plotly_chart")
    view = VIEWS["simple"]
    assert chart.proto.alt.startswith("Attention without parameters.") and "*" not in chart.proto.alt
    said = [unmarked(block.value) for block in at.markdown]
    folded = [unmarked(block.value) for popover in at.get("popover") for block in popover.markdown]
    assert first_sentence(view) in said and first_sentence(view) not in folded
    rest = unmarked(view.reading)[len(first_sentence(view)) :].strip()
    assert rest and rest in folded and view.limits in folded, "how to read it, and what it does not show"


WORDS = (  # that a newcomer met before, or without, an explanation
    "token, mask, vector, layer, softmax, probability, nats, loss, source, decoder, sigmoid, bias, cosine, principal components, d_k, "
    "rollout, residual stream, feed-forward, gradient, norm, query, key, disentangled, perplexity, multiply-adds, Poisson, ROUGE-1, "
    "generator, mlm, nsp, sop, sbo, lm, probe, learning rate, entropy, early stopping, LSTM, highway, max-pooling, biLM, KL, checkpoint, "
    "safetensors, hub, seed, state, f(X), [CLS], [SEP], [EXTRACT], prefix, verbaliser, calibration"
)


@pytest.mark.parametrize("word", WORDS.split(", "))
def test_every_word_that_stopped_a_newcomer_is_explained(word: str) -> None:
    text, seen = f"Of attention: this is {word} here, and {word} again.", {"attention": "another text"}
    marked = glossary.explained(text, seen)
    assert marked.count("(glossary#") == 1 and marked.endswith(f"and {word} again."), "at its first use only"
    assert glossary.explained(text, seen) == marked, "written again it keeps its marks"
    assert glossary.explained(f"Another {word}.", seen) == f"Another {word}."


def test_short_names_are_written_out_where_a_strategy_or_an_objective_is_described() -> None:
    every = {**STRATEGIES, **PAIRS}
    for name in ("mlm", "nsp", "sop"):
        assert glossary.meaning(name.upper()).partition(":")[0].lower() + f" ({name})" in every[name].about.lower()
    for name, entry in OBJECTIVES.items():
        for short in {"causal": ["lm"]}.get(name, [part for part in name.split("+") if part in ("mlm", "nsp", "sbo")]):
            written = glossary.meaning(short.upper()).partition(":")[0].lower()
            assert written in entry.sentence.lower() and f"({short})" in entry.sentence, name


FIRST_MET = {  # the anchors of those words that stopped a newcomer on each page, as the page shows them before any guess
    "start": "token mask vector layer probability loss nat source decoder",
    "vectors": "sigmoid bias cosine principal-components negative-sample",
    "positions": "position query key score",
    "heads": "softmax d-k rollout gradient logit-lens query key value",
    "families": "perplexity multiply-adds residual-stream norm feed-forward",
    "corruption": "theta rouge-1 nsp sop loss",
    "training": "theta mlm nsp learning-rate seed batch gradient",
    "elmo": "lstm highway max-pooling bilm softmax",
    "decoding": "probability greedy beam-search theta vocabulary",
    "whatif": "kl-divergence loss attention-head",
    "yours": "checkpoint safetensors hub",
}


@LONG
@pytest.mark.parametrize("lesson", FIRST_MET if ALL else ["heads"])
def test_the_words_that_stopped_a_newcomer_are_marked_on_their_page(lesson: str) -> None:
    at = opened(lesson)
    assert not at.exception and set(FIRST_MET[lesson].split()) <= set(anchors(at.markdown, at.caption))
    marked = anchors(at.markdown)
    assert len(marked) == len(set(marked)), "each once on a page"


def anchors(*blocks: ElementList[Any]) -> list[str]:
    """The terms of the glossary that these mark."""
    return re.findall(r"\(glossary#([^ ]+) ", " ".join(block.value for kind in blocks for block in kind))


def test_a_word_with_two_meanings_is_explained_only_where_it_has_the_one_of_the_glossary() -> None:
    for word, text in (
        ("value", "The values of the sliders are divided by their sum."),
        ("cosine", "Sines and cosines make stripes."),
        ("norm", "The colour is the logarithm of the norm of a gradient."),
        ("score", "PEGASUS hides the sentences with the highest scores."),
    ):
        assert f"glossary#{word}" not in glossary.explained(text, {})
        assert f"glossary#{word}" in glossary.explained(f"Queries, keys and the {word} of attention.", {})


def test_a_term_is_found_over_the_end_of_a_line_and_not_within_another_meaning() -> None:
    assert "](glossary#output-layer " in glossary.explained("the most probable token of the SBO output\n    layer", {})
    for word, text in (
        ("decoding-strategy", "You may conclude how the strategies differ in what they hide."),
        ("embedding", "It is called a *sentence embedding*."),
        ("token", "Each occurrence has a vector (a token, not a type)."),
        ("score", "The line is the score of always giving the most\n    frequent answer."),
    ):
        assert f"](glossary#{word} " not in glossary.explained(text, {}), word
    assert "](glossary#decoding-strategy " in glossary.explained("Greedy and four other strategies.", {})


def test_code_formulas_links_and_parts_of_words_are_left_alone() -> None:
    for text in (
        "`token`",
        "$token + loss$",
        "[token](page)",
        "![token](x.png)",
        "tokenizer",
        "lossless",
        "sub-token",
        "arrow keys",
    ):
        assert glossary.explained(text, {}) == text
    assert '](glossary#mask "' in glossary.explained("**A mask** here.", {})
    assert all('"' not in term.says and term.says.endswith((".", "?")) for term in glossary.TERMS), "a mark ends at a quote"
    assert len({term.anchor for term in glossary.TERMS}) == len(glossary.TERMS)


@LONG
def test_the_page_of_the_glossary_has_every_term_and_finds_one() -> None:
    at = opened("explorer/app/glossary_page.py")
    said = " ".join(block.value for block in at.markdown)
    assert not at.exception and all(term.says in said for term in glossary.TERMS)
    at = at.text_input(key="find").set_value("softm").run()
    said = " ".join(block.value for block in at.markdown)
    assert "Turns scores into probabilities" in said and "Keeps the few most probable" not in said


@pytest.mark.usefixtures("parts")
def test_presenting_shows_one_part_without_captions_and_keeps_the_answers_for_a_key() -> None:
    at = opened("attention", part="both-masks", present="1")
    said = " ".join(block.value for block in at.markdown)
    assert not at.exception and len(at.get("plotly_chart")) == 1 and "The same [queries]" not in said
    at = at.button(key="present.button").click().run()
    said = " ".join(block.value for block in at.markdown)
    assert "present" not in at.query_params and "The same [queries]" in said
    at = opened("attention", part="why-d", present="1", guess="1")
    assert "empty until you answer" in at.get("plotly_chart")[0].proto.spec, "the picture waits for a guess"
    at.session_state["present.answers"] = True
    assert "empty until you answer" not in at.run().get("plotly_chart")[0].proto.spec


@pytest.mark.parametrize("length", [20, 858])
def test_the_code_on_a_page_holds_the_address(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(present.st, "image", lambda drawing, **options: drawn.append(unquote(drawing)))
    text = ("http://192.168.1.20:8501/heads?text=" + "The bät, 3% of it. " * 50).encode()[:length].decode(errors="ignore")
    present.code(text)
    (path,) = re.findall(r"stroke='#000' d='([^']*)'", drawn[0])
    matrix = np.array(make_qr(text.encode(), error="l", boost_error=False).matrix)
    assert dark_modules(path) == {(y + 4, x + 4) for y, x in np.argwhere(matrix)}


def test_an_address_that_is_too_long_says_so() -> None:
    at = AppTest.from_string("from explorer.app import present\npresent.code('ä' * 429 + 'x')").run()
    assert at.text[0].value == "The address has 859 bytes; a QR code here holds 858. Shorten the text on the page."


def dark_modules(path: str) -> set[tuple[int, int]]:
    """The dark squares of a drawing in horizontal lines."""
    dark, x, y = set(), 0, 0.0
    for letter, first, second in re.findall(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?", path):
        if letter == "h":
            dark |= {(int(y), x + n) for n in range(int(first))}
            x += int(first)
        else:
            x, y = (int(first), float(second)) if letter == "M" else (x + int(first), y + float(second))
    return dark


@SAMPLED
@pytest.mark.parametrize("lesson", some(LESSONS, *(name for name in LESSONS if name not in OPENED)))
def test_every_page_opens(lesson: str) -> None:
    at = opened(lesson)
    assert not at.exception and at.title[0].value and len(at.get("plotly_chart")) + len(at.get("bidi_component")) >= 1


@LONG
@pytest.mark.parametrize("name", attentive() if ALL else ["bart"])
def test_every_page_with_a_model_opens_with_every_model(name: str) -> None:
    for page in ("attention", "families", "heads", "whatif", "yours") if ALL else ("heads",):
        at = opened(page, model=name)
        assert not at.exception and not at.error, page


def test_the_page_shows_the_numbers_of_the_model() -> None:
    at = opened("heads")
    figures = [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]
    data = board_of(at)
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE)
    assert any(figure["layout"].get("xaxis", {}).get("ticktext") == list(trace.source.texts) for figure in figures)
    np.testing.assert_array_equal(array(data, header(data)["sites"][1]["weights"]), trace.attention[1].weights)
    said = " ".join(block.value for block in at.markdown)
    assert f"{trace.residual:.0e}" in said and f"is {trace.attention[0].q.shape[-1]}: before the" in said


@LONG
@pytest.mark.parametrize(("text", "message"), [("", "empty"), ("word " * 20_000, "reads at most 128"), *long(("   ", "empty"))])
def test_bad_input_gets_a_calm_answer(text: str, message: str) -> None:
    at = opened("heads")
    at.text_input[0].set_value(text).run()
    assert not at.exception and message in at.warning[0].value


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", *long("😀 مرحبا", "$x$ `code` :red[x]", "photosynthesis", "</script>")]
)
def test_odd_input_is_shown(text: str) -> None:
    at = opened("heads", **({} if ALL else {"part": "combined"}))
    at.text_input[0].set_value(text).run()
    assert not at.exception and not at.warning and "never seen" in at.info[0].value


@pytest.mark.usefixtures("unfolded")
def test_the_code_on_the_page_makes_the_picture() -> None:
    lines = next(block.value for block in opened("heads", part="combined").code if "ex.show(" in block.value)
    shown: dict[str, object] = {}
    *first, last = lines.splitlines()
    exec("\n".join([*first, f"shown = {last}"]), shown)
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE)
    mean = np.mean([layer.weights.mean(axis=0) for layer in trace.attention], axis=0)
    assert last.startswith("ex.show('together'")
    np.testing.assert_allclose(np.asarray(shown["shown"].figure.data[0].z, float), mean, atol=1e-6)  # type: ignore[attr-defined]


@LONG
def test_what_a_page_has_loaded_is_left_out_of_the_search_for_garbage_and_later_garbage_is_found() -> None:
    gc.unfreeze()
    hosted.loaded.cache_clear()
    session()
    assert gc.get_freeze_count() > 100_000  # torch, the pages and the models

    class Ring:
        pass

    ring = Ring()
    ring.itself, gone = ring, weakref.ref(ring)  # type: ignore[attr-defined]
    del ring
    assert gc.collect() >= 1 and gone() is None
    gc.unfreeze()
