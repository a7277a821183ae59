"""The page What if: vectors and units by hand, patches, writes and ways, for every kind of model."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch
from conftest import LONG, long
from opening import opened
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.app.lessons import SENTENCE
from explorer.app.lessons.whatif import faults
from explorer.app.lessons.whatif import questions as lesson
from explorer.app.lessons.whatif.edits import changed
from explorer.models.transformer import TransformerModel
from explorer.records import Damage
from explorer.views import VIEWS
from explorer.views.spoken import spoken


def page(**address: str) -> AppTest:
    return opened("whatif", **address)


def titles(at: AppTest) -> list[str]:
    return [chart.proto.alt for chart in at.get("plotly_chart")]


@LONG
@pytest.mark.parametrize("name", ["bart", *long("bert", "gpt2", "llama", "t5", "deberta")])
def test_every_part_draws_for_every_family(name: str) -> None:
    at = page(model=name)
    drawn = " ".join(titles(at))
    assert not at.exception and not at.warning
    assert all(words in drawn for words in ("patched", "what is written to the vocabulary", "ways into position"))


VECTOR = {"edit": "set q, k or v", "edit__which": "v", "edit__vector_head": "2", "edit__position": "4", "edit__way": "zeros"}
ROW = {"edit": "write a row", "edit__layer": "1", "edit__head": "3", "edit__row": "5", "edit__column": "2"}
UNIT = {"edit": "scale a unit", "edit__layer": "1", "edit__unit": "5", "edit__factor": "2.0"}


@LONG
@pytest.mark.usefixtures("unfolded")
def test_what_is_set_on_the_page_is_the_edit_of_its_code(bert: TransformerModel) -> None:
    count = len(bert.tokens(SENTENCE))
    zeros = np.zeros(bert.config.dim // bert.config.heads)
    for address, edit, code in (
        (VECTOR, ex.SetVector("v", "encoder", 0, 2, 4, zeros), "ex.SetVector('v','encoder',0,2,4,["),
        (ROW, ex.ReplaceRow("encoder", 1, 3, 5, np.eye(count)[2]), "ex.ReplaceRow('encoder',1,3,5,"),
        (UNIT, ex.SetUnit("encoder", 1, 5, 2.0), "ex.SetUnit('encoder',1,5,"),
    ):
        at, what = page(part="change-one-thing", **address), code.split("(")[0]
        assert not at.exception and not at.warning
        codes = ["".join(block.value.split()) for block in at.code if what in block.value]
        assert codes and all(code in text and (address is not ROW or f"np.eye({count})" in text) for text in codes), what
        assert spoken(VIEWS["change"](ex.change(bert, SENTENCE, edit))) in titles(at)


@LONG
def test_what_cannot_be_patched_is_said_in_one_line() -> None:
    at = page()
    changed = next(widget for widget in at.text_input if widget.key and widget.key.startswith("patch.Changed"))
    changed.set_value("Tom was.").run()
    assert not at.exception and any("Exchange a word" in widget.value for widget in at.info)
    numbers = page(edit="set q, k or v")
    next(widget for widget in numbers.text_input if widget.label == "Numbers").set_value("1 two 3").run()
    assert not numbers.exception and any("is not a list of numbers" in widget.value for widget in numbers.warning)


def test_two_changes_and_their_loss_are_those_of_the_formula(gpt2: TransformerModel) -> None:
    at = page(part="change-one-thing", model="gpt2", edit="silence attention", edit2="silence feed-forward", edit2__layer="1")
    both = [ex.SilenceLayer("decoder", 0, "attention"), ex.SilenceLayer("decoder", 1, "feed-forward")]
    scores = torch.tensor(ex.trace(gpt2, SENTENCE, edits=both, scores=True).outputs["lm"]).double()
    lost = torch.nn.functional.cross_entropy(scores[:-1], torch.tensor(gpt2.tokens(SENTENCE).ids)[1:])
    assert not at.exception and any(f"**{lost:.2f}** after" in block.value for block in at.markdown)


@LONG
@pytest.mark.parametrize("name", [*long("gpt2"), "bart"])
def test_five_faults_each_in_another_text_move_what_they_break(name: str) -> None:
    assert sorted(number for number, _ in faults.PLANTED) == list(range(5)) and len({text for _, text in faults.PLANTED}) == 5
    for number, text in faults.PLANTED:
        what = list(faults.NAMES.values())[number]
        assert faults.fits(name, "decoder", what)
        edit = (what, faults.where(name, "decoder", what))
        assert changed(name, text, (edit,)).run().divergence.max() > 0.001


def test_the_case_is_chosen_by_the_address_and_offers_every_fault() -> None:
    at = page(part="find-the-fault", fault__case="4")
    assert not at.exception and list(at.radio("guess.fault.4").options) == list(faults.NAMES)
    ends = {line.label: f"{line.y[-1]:.2f}" for line in ex.result("left-out").lines}
    ways = ("without residual connections", "nothing left out", "token frequencies alone")
    for words, parts in (("The text of this case", ["garden"]), ("A sixth fault", [ends[way] for way in ways])):
        text = next(block.value for block in at.markdown if words in block.value)
        assert all(part in text for part in parts)
    assert "part=a-part-left-out" in [link.proto.query_string for link in at.get("page_link")]


@LONG
def test_the_game_counts_tries_and_shows_the_score_at_its_end() -> None:
    at, names = page(part="find-the-fault"), list(faults.NAMES)
    planted = {case: names[number] for case, (number, _) in enumerate(faults.PLANTED, 1)}

    def score(found: int, first: int) -> bool:
        return f"**{found} of 5** faults found, **{first}** at the first" in " ".join(block.value for block in at.markdown)

    def choose(case: int, answer: str) -> None:
        at.session_state[faults.CASE] = case
        at.run().radio("guess.fault" if case == 1 else f"guess.fault.{case}").set_value(answer).run()

    assert score(0, 0)
    choose(1, planted[1])
    assert at.success and score(1, 1) and not at.table
    wrong = [name for name in names if name != planted[2]]
    choose(2, wrong[0])
    assert "Not yet. Hover over the figure above." in at.warning[0].value and "Hint" not in at.warning[0].value
    choose(2, wrong[1])
    assert "Hint" in at.warning[0].value
    choose(2, planted[2])  # found at the third try
    at.session_state[faults.CASE] = 3
    at.run().button("guess.fault.3.show").click().run()  # given up
    for case in (4, 5):
        choose(case, planted[case])
    assert not at.exception and score(4, 3)
    table = at.table[0].value
    assert table["tries"].tolist() == [1, 3, 0, 1, 1] and table["fault"].tolist() == [planted[case] for case in planted]
    first = "yes, at the first try"
    assert [str(widget).split(":")[0] for widget in table["found"]] == [first, "yes", "no", first, first]
    at.button("fault.again").click().run()
    assert not at.exception and score(0, 0) and not at.table and at.radio("guess.fault").value is None


@LONG
def test_the_picture_names_both_tokens_where_they_differ_and_the_edits_can_be_undone(bert: TransformerModel) -> None:
    record = ex.change(bert, SENTENCE, ex.SilenceLayer("encoder", 0, "attention"))
    (bars,) = VIEWS["change"](record).data
    pairs = zip(record.before.top.texts, record.after.top.texts, strict=True)  # type: ignore[union-attr]
    assert list(bars.text) == [f"{a[0]} → {b[0]}" if a[0] != b[0] else "" for a, b in pairs] and any(bars.text)
    at = page()
    at = at.button(key="edit.undo").click().run()
    assert not at.exception and at.selectbox(key="edit").value == "nothing"
    assert not any(widget.key == "edit.undo" for widget in at.button)
    chart = at.get("plotly_chart")[0].proto
    assert "nothing changed" in chart.alt and not any(json.loads(chart.spec)["data"][0]["text"])


def test_what_is_said_of_the_sum_is_its_answer() -> None:
    for total, answer in ((1.0, "less than the sum"), (3.7, "about the sum"), (9.0, "more than the sum")):
        heads, parts = np.full((1, 4), 1.0), np.zeros((1, 1))
        question = lesson.sum_question(Damage("m", "encoder", heads, parts, ("attention",), np.array([total])))
        assert question.answer == answer and lesson.ADDS[question.options.index(answer)] in question.why


def test_where_a_fault_acts_is_read_from_the_first_layer_that_moved(bert: TransformerModel) -> None:
    moved = np.array([[0.0, 0.0], [0.0, 0.0], [0.1, 0.0]])
    assert "layers 0 to 1 are unchanged" in lesson.where_it_acts(moved) and "Layer 0's" in lesson.where_it_acts(moved[1:])
    assert "change already" in lesson.where_it_acts(moved[2:]) and "in or before" in lesson.where_it_acts(moved[2:])
    gone = ex.change(bert, "The dog slept.", [ex.NoPositions("encoder")])
    assert "in or before layer 0's attention" in lesson.where_it_acts(gone.downstream("encoder")), "where positions are added"


@LONG
@pytest.mark.usefixtures("unfolded")
def test_the_fault_is_not_the_edit_above_and_its_code_runs() -> None:
    at = opened("whatif")
    fault = next(radio for radio in at.radio if radio.key == "guess.fault")
    right = next(name for name in fault.options if "feed-forward" in name)
    fault.set_value(right).run()  # what was done is shown
    codes = [block.value for block in at.code if "ex.change(" in block.value]
    for code in codes:
        compile(code, "page", "exec")
    assert "..." not in "".join(codes) and "…" not in "".join(codes)
    edits = {edit for code in codes for edit in re.findall(r"ex\.[A-Z]\w+\([^\]\n]*", code)}
    assert len(codes) >= 3 and len(edits) == 2, "one edit of the visitor's in two figures, and the fault"
