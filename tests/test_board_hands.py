"""What a hand does on the board: it changes weights, writes a text again, forces tokens and silences heads; in a real browser, offline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from conftest import LONG, SENTENCE, Show, Visit
from playwright.sync_api import Page, expect
from test_board import header
from test_board_browser import BOARD, close, middle, pixels, shown_share, station, traced

import explorer as ex
from explorer.app import lessons
from explorer.app.board import _forced, _keep_row
from explorer.app.lessons.training.parts import filmed, kept
from explorer.records import Trace
from explorer.views.board.beams import moments
from explorer.views.board.pack import pack

BROWSER = pytest.mark.browser
# a component's
APP = "[...document.querySelectorAll('*')].map(e => e.shadowRoot?.querySelector('.board:has(canvas)')?.board).find(Boolean)"
SOFTMAX = {"stream": "encoder", "layer": 0, "head": 1, "station": "softmax", "row": 4, "col": 7}


def rescaled(weights: np.ndarray, col: int, value: float) -> np.ndarray:
    """A row in which one weight has another value and the others keep their proportions and the sum."""
    others = np.delete(np.arange(len(weights)), col)
    scaled = weights.astype(np.float64)
    scaled[others] *= (weights.sum() - value) / weights[others].sum()
    scaled[col] = value
    return scaled


def settled(page: Page) -> str:
    """The picture, once nothing fades any more."""
    page.wait_for_function(f"!{BOARD}.fading && {BOARD}.t === 1")
    return pixels(page)


@BROWSER
def test_a_weight_is_dragged_and_the_context_follows(show: Show) -> None:
    trace = traced("bert")
    page = show(trace, view=SOFTMAX)
    own, attention = trace.attention[0].weights[1].astype(np.float64), trace.attention[0]
    x, y = middle(page, "S", 4, 7)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 30)
    page.mouse.move(x, y - 80)  # half of the way from 0 to 1
    page.mouse.up()
    assert station(page) == "softmax" and page.evaluate(f"{BOARD}.held") == [] and attention.v is not None
    values = page.evaluate(f"{BOARD}.numbers(0, 1)")
    weights = np.array(values["weights"]).reshape(own.shape)
    close(weights[4], rescaled(own[4], 7, own[4][7] + 0.5))
    close(np.delete(weights, 4, axis=0).reshape(-1), np.delete(own, 4, axis=0))
    close(values["context"], weights @ attention.v[1])
    far = np.linalg.norm((weights @ attention.v[1] - own @ attention.v[1])[4])
    expect(page.locator(".operands")).to_contain_text(
        f"α was {shown_share(own[4][7])}, is {own[4][7] + 0.5:.3f}; z moved by {far:.3f}"
    )
    expect(page.locator(".operands")).to_contain_text("of its length), as step Σ α v shows.")
    expect(page.locator(".gap")).to_contain_text("still show the model's own run")
    page.evaluate(f"{BOARD}.go({BOARD}.step + 1)")
    assert station(page) == "mix"
    expect(page.locator(".operands")).to_contain_text("of its length).")
    page.get_by_role("button", name="Undo").click()
    close(page.evaluate(f"{BOARD}.numbers(0, 1)")["context"], own @ attention.v[1])
    expect(page.locator(".gap")).not_to_contain_text("by hand")


@BROWSER
def test_the_slider_of_a_weight_stays_where_it_is_at_every_station(show: Show) -> None:
    page = show(traced("bert"), view=SOFTMAX)
    slider, ways = page.get_by_label("This weight α"), []
    for name in ("softmax", "mix", "concat"):
        page.evaluate(f"{BOARD}.go({BOARD}.site.stations.indexOf('{name}'))")
        settled(page)
        ways.append(slider.bounding_box())
        assert station(page) == name
    assert ways[0] == ways[1] == ways[2], ways
    slider.fill("0.7")
    assert station(page) == "concat" and slider.bounding_box() == ways[0], "a change moves it neither"


@LONG
@BROWSER
def test_slider_and_keys_change_a_weight_too_and_every_step_can_be_undone(show: Show) -> None:
    trace = traced("bert")
    page = show(trace, view=SOFTMAX)
    own = trace.attention[0].weights[1][4]
    page.get_by_label("This weight α").fill("0.7")
    weight = f"{BOARD}.numbers(0, 1).weights[4 * 16 + 7]"
    assert abs(page.evaluate(weight) - 0.7) < 1e-6
    page.locator("canvas").focus()
    for key, wanted in zip("-++zzzz", (0.65, 0.7, 0.75, 0.7, 0.65, 0.7, float(own[7])), strict=True):
        page.keyboard.press(key)
        assert abs(page.evaluate(weight) - wanted) < 1e-6, key
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()
    page.keyboard.press("4")  # scores: nothing to change there
    expect(page.locator(".weigh")).to_be_hidden()


@LONG
@BROWSER
def test_what_a_mask_forbids_and_a_single_key_cannot_be_changed(show: Show) -> None:
    trace = traced("gpt2")
    page = show(trace, view=SOFTMAX | {"stream": "decoder", "row": 0, "col": 0})
    for row, col in ((0, 0), (2, 5)):
        page.evaluate(f"([r, c]) => {{ {BOARD}.point(r, c); {BOARD}.draw(); }}", [row, col])
        expect(page.locator(".weigh")).to_be_hidden()
        page.locator("canvas").focus()
        page.keyboard.press("+")
    close(page.evaluate(f"{BOARD}.numbers(0, 1).weights"), trace.attention[0].weights[1])


@BROWSER
def test_a_leap_fades_and_reduced_motion_cuts_it(show: Show) -> None:
    page = show(traced("bert"), view=SOFTMAX)
    assert page.evaluate(f"{BOARD}.choose(1, 2), {BOARD}.fading !== null")
    page.wait_for_function(f"{BOARD}.fading === null")
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(f"{BOARD}.choose(0, 1), {BOARD}.fading === null")
    assert page.evaluate(f"{BOARD}.go(2), {BOARD}.t") == 1


def translated() -> tuple[Trace, tuple[Any, ...]]:
    model = ex.load("transformer", device="cpu")
    steps = tuple(ex.decode(model, "The dog was tired.", "beam", beams=3, max_tokens=12))
    return ex.trace(model, "The dog was tired.", target=steps[-1].ids.tolist(), blocks=True), steps


@LONG
@BROWSER
def test_a_text_is_written_again_with_its_best_beams(visit: Visit, tmp_path: Path) -> None:
    trace, steps = translated()
    board = ex.board(trace, steps=steps, stream="cross", layer=trace.attention[-1].layer, station="next")
    page = visit(ex.save(board, tmp_path / "x.html").as_uri())
    expect(page.locator(".board[data-state=ready]")).to_be_attached()
    assert trace.target is not None
    whole = settled(page)
    page.locator("canvas").focus()
    page.keyboard.press("d")
    expect(page.locator(".time b")).to_have_text(f"{trace.target.texts[0]} (1 of {len(trace.target)})")
    assert settled(page) != whole
    for candidate in steps[0].candidates:
        if candidate.beam >= 0:
            expect(page.locator(".operands")).to_contain_text(f"{candidate.total:.3f}".replace("-", "−"))
    page.keyboard.press("d")
    expect(page.locator(".pair")).to_have_text(f"after {trace.target.texts[1]}")
    page.keyboard.press("Shift+d")
    expect(page.locator(".time b")).to_contain_text("(1 of")
    page.get_by_label("Tokens written").fill(str(len(trace.target)))
    expect(page.locator(".pair")).to_have_text(f"after {trace.target.texts[-1]}")


@LONG
def test_every_step_s_beams_are_those_of_the_search() -> None:
    trace, steps = translated()
    steps_of_text = moments(trace, steps)
    assert trace.target is not None and [moment["row"] for moment in steps_of_text] == list(range(len(trace.target)))
    for step, moment in zip(steps, steps_of_text, strict=False):
        kept = sorted((c for c in step.candidates if c.beam >= 0), key=lambda c: c.beam)
        assert [beam["total"] for beam in moment["beams"]] == [c.total for c in kept]
    best = next(c for c in steps[0].candidates if c.beam == 0)
    assert steps_of_text[0]["beams"][0]["text"] == best.text.replace("·", "").strip()
    tokenizer = ex.load("transformer", device="cpu").tokenizer
    texts = [beam["text"] for beam in steps_of_text[2]["beams"]]
    assert tokenizer.decode(steps[2].ids).strip() in texts or steps[2].finished
    with pytest.raises(ex.ExplorerError, match="wrote another text"):
        ex.board(ex.trace(ex.load("transformer", device="cpu"), "A dog.", target="Un chat."), steps=steps)


@LONG
@BROWSER
def test_a_silenced_sub_layer_adds_nothing_where_a_norm_stands_before_the_sum(show: Show) -> None:
    """OLMo 2 adds the norm of what a sub-layer computed; silenced, it adds nothing, though the norm of the computed is not 0."""
    edits = [ex.SilenceLayer("decoder", 1, "attention"), ex.SilenceLayer("decoder", 0, "feed-forward")]
    trace = ex.trace(ex.load("olmo2", device="cpu"), SENTENCE, blocks=True, edits=edits)
    sites = header(pack(trace))["sites"]
    assert [[bool(block["added"]) for block in site["blocks"]] for site in sites[:2]] == [[False, True], [True, False]]
    page = show(trace, view={"stream": "decoder", "layer": 1, "head": 0, "station": "add1", "row": 3})
    for at, site in enumerate(sites):
        values = page.evaluate(f"{BOARD}.numbers({at}, 0)")["blocks"]
        for block, part in zip(values, ("attention", "feed-forward"), strict=True):
            close(block["total"], trace.block("decoder", site["layer"], part).total)
    given = f"{trace.block('decoder', 1, 'attention').given[3][0]:.3f}".replace("-", "−")
    expect(page.locator(".operands")).to_contain_text(f"{given} + 0.000 = {given}")


@LONG
@BROWSER
def test_the_model_runs_on_a_row_that_a_hand_wrote(visit: Visit) -> None:
    page = visit(f"/attention?text={quote(SENTENCE)}&board=encoder.0.1.softmax.4.7")
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    page.get_by_label("This weight α").fill("0.7")
    page.get_by_role("button", name="Run the model on it").click()
    expect(page.get_by_text("Edited: row 4 of head 1 of layer 0 written by hand.").first).to_be_visible()
    expect(page.locator(".gap")).to_contain_text("Edited: row 4 of head 1 of layer 0 written by hand")
    bert = ex.load("bert", device="cpu")
    own = ex.trace(bert, SENTENCE).attention[0].weights[1][4]
    row = [round(float(share), 6) for share in rescaled(own, 7, 0.7)]
    wanted = ex.trace(bert, SENTENCE, edits=[ex.ReplaceRow("encoder", 0, 1, 4, row)])
    values = page.evaluate(f"{APP}.numbers(1, 0)")["weights"]
    assert np.abs(np.array(values) - wanted.attention[1].weights[0].reshape(-1)).max() < 1e-5
    page.get_by_role("button", name="Undo the last change").click()
    expect(page.locator(".gap")).not_to_contain_text("Edited")
    page.wait_for_function(f"Math.abs({APP}.numbers(0, 1).weights[4 * 16 + 7] - {own[7]}) < 1e-5")


@LONG
@BROWSER
def test_an_expected_token_is_forced_by_its_bar(visit: Visit) -> None:
    page = visit("/attention?model=gpt2&text=The%20dog&board=decoder.3.0.next.2.0")
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    top = ex.trace(ex.load("gpt2", device="cpu"), "The dog").top
    assert top is not None
    page.wait_for_function(f"!{APP}.fading && {APP}.t === 1")
    page.locator(".board canvas").scroll_into_view_if_needed()
    box = page.evaluate(f"{APP}.layout.boxes.find(b => b.id === 'next')")
    page.locator(".board canvas").click(position={"x": box["x"] + 6, "y": box["y"] + 18 + 25 + 10})  # the second bar
    expect(page.get_by_label("Your sentence")).to_have_value("The dog" + top.texts[-1][1].replace("·", " "))
    expect(page.locator("[role=grid]")).to_have_attribute("aria-rowcount", re.compile("^[45]$"))


@LONG
@BROWSER
def test_a_head_is_silenced_on_the_board(visit: Visit) -> None:
    page = visit("/whatif?model=bert&whatif.board=encoder.1.2.mix.4.7")
    expect(page.locator(".board[data-state=ready] .time b")).to_have_text("as it is")
    page.locator(".board canvas").focus()
    page.keyboard.press("m")
    page.get_by_label("This weight α").fill("0.7")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_visible()
    expect(page.get_by_role("menu", name=re.compile("^Token"))).to_have_count(0)  # this page silences heads, and no more
    expect(page.get_by_role("button", name="Run the model on it")).to_have_count(0)
    page.locator(".board .looks summary").click()
    page.get_by_role("button", name="Silence head").click()
    expect(page.locator("[data-cells] [aria-pressed=true]")).to_have_attribute("aria-label", re.compile("layer 1, head 2"))
    page.locator(".board canvas").focus()
    page.keyboard.press("t")
    expect(page.locator(".time b")).to_have_text("edited")
    page.wait_for_function(f"{APP}.numbers(1, 2).context.every(x => x === 0)")


@LONG
@BROWSER
def test_the_snapshot_of_the_page_is_the_moment_of_its_board(visit: Visit) -> None:
    name = filmed(kept())
    steps = ex.training.snapshots(name)
    page = visit(f"/training?part=snapshots&kept={name}&at={steps[1]}")
    page.locator("[data-test-script-state=notRunning]").wait_for()
    page.get_by_role("radio", name="Attention, at this step").click(force=True)
    expect(page.locator(".board[data-state=ready] .time b")).to_have_text(f"step {steps[1]:,}")
    page.get_by_role("button", name=re.compile("^One .* on")).first.click()
    expect(page.locator(".board .time b")).to_have_text(f"step {steps[2]:,}")
    own = ex.trace(ex.load(name, step=steps[2], device="cpu"), lessons.SENTENCE)
    values = page.evaluate(f"{APP}.numbers(0, 1)")["weights"]
    close(values, own.attention[0].weights[1])


def test_a_row_that_is_none_is_not_kept(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = ("x", [2.0], [0.5] * 3)
    odd = [{"stream": 3}, {"layer": 99}, {"head": -1}, {"row": 16}, *({"shares": share} for share in shares)]
    for wish in ({}, *odd):
        session: dict[str, Any] = {"b.rows": ()}
        monkeypatch.setattr("explorer.app.board.st.session_state", session)
        sound = {"stream": "encoder", "layer": 0, "head": 0, "row": 1, "shares": [1 / 16] * 16}
        _keep_row("b", trace, sound | wish)
        assert len(session["b.rows"]) == (0 if wish else 1), wish


def test_a_forced_token_stands_in_the_sentence(bert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = {"text": "The dog slept."}
    monkeypatch.setattr("explorer.app.board.st.session_state", session)
    read, masked = ex.trace(ex.load("gpt2", device="cpu"), session["text"]), ex.trace(bert, SENTENCE)
    assert read.top is not None and masked.top is not None
    _forced(read, 2, 0)
    assert session["text"] == "The dog" + read.top.texts[2][0].replace("·", " ")
    _forced(read, 0, 0)
    assert session["text"] == read.top.texts[0][0].replace("·", " "), "after the begin token comes the first word"
    session["text"] = SENTENCE
    _forced(masked, 2, 3)
    assert session["text"] == SENTENCE.replace("animal", masked.top.texts[2][3])


def habits_of(weights: np.ndarray) -> dict[str, float]:
    """Means over the rows of a head, with NumPy: the share of the token before, distance and entropy."""
    from scipy.stats import entropy

    far = np.abs(np.subtract(*np.indices(weights.shape)))
    spread = entropy(weights, base=2, axis=-1).mean()
    return {"back": weights.diagonal(-1).mean(), "distance": (weights * far).sum() / len(weights), "spread": spread}


@LONG
@BROWSER
def test_a_head_says_where_it_looks_when_its_square_is_pointed_at(show: Show) -> None:
    trace = traced("bert")
    page = show(trace, view=SOFTMAX)
    habits = [habits_of(weights.astype(np.float64)) for attention in trace.attention for weights in attention.weights]
    best = int(np.argmax([habit["back"] for habit in habits]))
    wanted = habits[best]
    thumb = page.evaluate(f"{BOARD}.thumbs.find(t => t.site === {best // 4} && t.head === {best % 4})")
    at = page.locator(".board canvas").bounding_box()
    assert at is not None
    page.mouse.move(at["x"] + thumb["x"] + 6, at["y"] + thumb["y"] + 6)
    expect(page.locator(".pair")).to_have_text(f"encoder layer {best // 4}, head {best % 4}")
    expect(page.locator(".operands")).to_contain_text(f"previous token {100 * wanted['back']:.0f}%")
    expect(page.locator(".operands")).to_contain_text(f"{wanted['distance']:.1f} tokens away")
    expect(page.locator(".operands")).to_contain_text(f"over about {2 ** wanted['spread']:.1f} tokens")
    page.mouse.move(*middle(page, "S", 4, 7))
    expect(page.locator(".pair")).to_have_text(f"{trace.source.texts[4]} → {trace.source.texts[7]}")
    before = settled(page)
    page.locator(".looks summary").click()
    page.get_by_label("Colour all heads by").select_option("back")
    assert pixels(page) != before
    expect(page.locator(".pair")).to_have_text(f"encoder layer {best // 4}, head {best % 4}")  # found, and said at once
    page.wait_for_function(f"!{BOARD}.fading")
    middles = f"(b => b.thumbs.map(t => [t.x + t.s / 2, t.y + t.s / 2].map(x => x * b.dots)))({BOARD})"
    red = f"at => at.map(([x, y]) => {BOARD}.parts.canvas.getContext('2d').getImageData(x, y, 1, 1).data[0])"
    colours = page.evaluate(red, page.evaluate(middles))
    assert int(np.argmin(colours)) == best, "the strongest colour is the head that looks back most"
