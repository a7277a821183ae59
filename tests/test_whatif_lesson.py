"""The page What if: vectors and units by hand, patches, writes and ways, for every kind of model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ALL
from opening import opened
from streamlit.testing.v1 import AppTest

import explorer as ex
from explorer.app.lessons import SENTENCE
from explorer.app.lessons.whatif import faults
from explorer.app.lessons.whatif.edits import changed
from explorer.views import VIEWS

ROOT = Path(__file__).parent.parent
MODELS = ("bert", "gpt2", "bart", "llama", "t5", "deberta") if ALL else ("bert", "bart")


def page(**address: str) -> AppTest:
    return opened("whatif", **address)


def titles(at: AppTest) -> list[str]:
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in at.get("plotly_chart")]


@pytest.mark.parametrize("name", MODELS)
def test_every_part_draws_for_every_family(name: str) -> None:
    at = page(model=name)
    assert not at.exception and not at.warning
    drawn = " ".join(titles(at))
    assert "patched" in drawn and "what is written to the vocabulary" in drawn and "ways into position" in drawn


@pytest.mark.usefixtures("unfolded")
def test_a_vector_set_on_the_page_is_the_edit_of_its_code() -> None:
    at = page(edit="set q, k or v", edit__which="v", edit__vector_head="2", edit__position="4", edit__way="zeros")
    assert not at.exception and not at.warning
    codes = ["".join(block.value.split()) for block in at.code if "SetVector" in block.value]
    assert codes and all("ex.SetVector('v','encoder',0,2,4,[" in code for code in codes)
    bert = ex.load("bert", device="cpu")
    edit = ex.SetVector("v", "encoder", 0, 2, 4, np.zeros(bert.config.dim // bert.config.heads))
    wanted = ex.views["change"](ex.change(bert, SENTENCE, edit))
    assert wanted.layout.title.text in titles(at)


def test_a_unit_is_scaled_on_the_page() -> None:
    at = page(edit="scale a unit", edit__layer="1", edit__unit="5", edit__factor="2.0")
    assert not at.exception and not at.warning
    assert any("unit 5 of layer 1 × 2" in title for title in titles(at))


def test_what_cannot_be_patched_is_said_in_one_line() -> None:
    at = page()
    changed = next(widget for widget in at.text_input if widget.key and widget.key.startswith("patch.Changed"))
    changed.set_value("Tom was.").run()
    assert not at.exception and any("Exchange a word" in widget.value for widget in at.info)
    numbers = page(edit="set q, k or v")
    box = next(widget for widget in numbers.text_input if widget.label == "Numbers")
    box.set_value("1 two 3").run()
    assert not numbers.exception and any("is not a list of numbers" in widget.value for widget in numbers.warning)


@pytest.mark.usefixtures("unfolded")
def test_a_row_written_on_the_page_looks_at_one_token_only() -> None:
    at = page(part="change-one-thing", edit="write a row", edit__layer="1", edit__head="3", edit__row="5", edit__column="2")
    assert not at.exception and not at.warning
    codes = ["".join(block.value.split()) for block in at.code if "ReplaceRow" in block.value]
    count = len(ex.load("bert", device="cpu").tokens(SENTENCE))
    assert codes and all(f"np.eye({count})" in code and "'encoder',1,3,5," in code for code in codes)
    row = ex.ReplaceRow("encoder", 1, 3, 5, np.eye(count)[2])
    wanted = ex.views["change"](ex.change(ex.load("bert", device="cpu"), SENTENCE, row))
    assert wanted.layout.title.text in titles(at)


def test_two_changes_and_their_loss_are_those_of_the_formula() -> None:
    at = page(part="change-one-thing", model="gpt2", edit="silence attention", edit2="silence feed-forward", edit2__layer="1")
    model = ex.load("gpt2", device="cpu")
    both = [ex.SilenceLayer("decoder", 0, "attention"), ex.SilenceLayer("decoder", 1, "feed-forward")]
    logp = torch.from_numpy(ex.trace(model, SENTENCE, edits=both, scores=True).outputs["lm"].copy()).double().log_softmax(-1)
    ids = torch.tensor(model.tokens(SENTENCE).ids)
    lost = float(torch.nn.functional.nll_loss(logp[:-1], ids[1:]))
    assert not at.exception and any(f"**{lost:.2f}** after" in block.value for block in at.markdown)


@pytest.mark.parametrize("name", ["gpt2", "bart"])
def test_five_faults_each_in_another_text_move_what_they_break(name: str) -> None:
    stream = "decoder"
    assert sorted(number for number, _ in faults.PLANTED) == list(range(5)) and len({text for _, text in faults.PLANTED}) == 5
    for number, text in faults.PLANTED:
        what = list(faults.NAMES.values())[number]
        assert faults.fits(name, stream, what)
        assert changed(name, text, ((what, faults.where(name, stream, what)),)).run().divergence.max() > 0.001


def test_the_case_is_chosen_by_the_address_and_offers_every_fault() -> None:
    at = page(part="find-the-fault", fault__case="4")
    question = next(radio for radio in at.radio if radio.key == "guess.fault.4")
    assert not at.exception and list(question.options) == list(faults.NAMES)
    texts = next(block.value for block in at.markdown if "The text of this case" in block.value)
    assert "garden" in texts
    ends = {line.label: f"{line.y[-1]:.2f}" for line in ex.result("left-out").lines}
    learned = next(block.value for block in at.markdown if "A sixth fault" in block.value)
    assert all(ends[way] in learned for way in ("without residual connections", "nothing left out", "token frequencies alone"))
    assert next(link for link in at.get("page_link")).proto.query_string == "part=a-part-left-out"


def test_the_game_counts_tries_and_shows_the_score_at_its_end() -> None:
    at = page(part="find-the-fault")
    names = list(faults.NAMES)
    planted = {case: names[number] for case, (number, _) in enumerate(faults.PLANTED, 1)}

    def notes() -> str:
        return " ".join(block.value for block in at.markdown)

    def choose(case: int, answer: str) -> None:
        radio = next(widget for widget in at.radio if widget.key == ("guess.fault" if case == 1 else f"guess.fault.{case}"))
        radio.set_value(answer).run()

    assert "**0 of 5** faults found, **0** at the first try" in notes()
    choose(1, planted[1])
    assert at.success and "**1 of 5** faults found, **1** at the first try" in notes() and not at.table
    for case in (2, 3, 4, 5):
        at.session_state[faults.CASE] = case
        at.run()
        wrong = [name for name in names if name != planted[case]]
        if case == 2:  # found at the third try
            choose(case, wrong[0])
            assert "Not yet. Hover over the figure above." in at.warning[0].value and "Hint" not in at.warning[0].value
            choose(case, wrong[1])
            assert "Hint" in at.warning[0].value
            choose(case, planted[case])
        elif case == 3:  # given up
            next(widget for widget in at.button if widget.key == f"guess.fault.{case}.show").click().run()
        else:
            choose(case, planted[case])
    assert not at.exception and "**4 of 5** faults found, **3** at the first try" in notes()
    table = at.table[0].value
    assert table["tries"].tolist() == [1, 3, 0, 1, 1] and table["fault"].tolist() == [planted[case] for case in planted]
    assert [str(widget).split(":")[0] for widget in table["found"]] == [
        "yes, at the first try",
        "yes",
        "no",
        *["yes, at the first try"] * 2,
    ]
    next(widget for widget in at.button if widget.key == "fault.again").click().run()
    assert not at.exception and "**0 of 5** faults found" in notes() and not at.table
    assert next(widget for widget in at.radio if widget.key == "guess.fault").value is None


def test_the_picture_names_both_tokens_where_they_differ_and_the_edits_can_be_undone() -> None:
    at = opened("whatif")
    record = ex.change(ex.load("bert", device="cpu"), SENTENCE, ex.SilenceLayer("encoder", 0, "attention"))
    (bars,) = VIEWS["change"](record).data
    pairs = zip(record.before.top.texts, record.after.top.texts, strict=True)  # type: ignore[union-attr]
    assert list(bars.text) == [f"{a[0]} → {b[0]}" if a[0] != b[0] else "" for a, b in pairs] and any(bars.text)
    at = at.button(key="edit.undo").click().run()
    assert not at.exception and at.selectbox(key="edit").value == "nothing"
    assert not any(widget.key == "edit.undo" for widget in at.button)
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert "nothing changed" in spec["layout"]["title"]["text"] and not any(spec["data"][0]["text"])
