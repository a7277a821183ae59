"""What plays, turns and is clicked: a choice played to its end, a board that goes back to the held token, pictures that lead on."""

from __future__ import annotations

import re

import numpy as np
import pytest
from conftest import LONG, Visit
from playwright.sync_api import Locator, expect
from test_board_hands import APP
from test_browser import click_on, figure_titled
from test_frame_browser import rested

import explorer as ex
from explorer.app.lessons import SENTENCE
from explorer.app.lessons.training.parts import filmed, kept
from explorer.text import classroom

pytestmark = pytest.mark.browser


@LONG  # tokens move below, and test_playing.py leads this one without a browser
def test_merges_move_as_they_are_recorded_and_play_until_a_touch(visit: Visit) -> None:
    steps = classroom.learned("wordpiece", "count", ("animal", "tired"))
    page = visit("/tokens?merges.step=5&watch=animal+tired")
    staged = page.locator(".staged")

    def drawn() -> list[list[str]]:
        return [strip.locator(".box").all_inner_texts() for strip in staged.locator(".strip").all()]

    expect(staged.locator(".title")).to_contain_text("merge 5:")
    assert drawn() == [list(word) for word in steps[4].after]
    staged.get_by_role("slider", name="Merge").fill("60")
    expect(staged.locator(".title")).to_contain_text("merge 60:")
    page.wait_for_timeout(500)  # what has gone fades
    assert drawn() == [list(word) for word in steps[59].after]
    expect(page).to_have_url(re.compile("merges.step=60(&|$)"))
    staged.get_by_role("button", name="Play").click()
    joining = [step.step for step in steps[60:] if any(step.piece in word for word in step.after)]
    expect(staged.locator(".title")).to_contain_text(f"merge {joining[0]}:")  # the others pass quickly
    halves = staged.locator(".box[data-joins]")
    expect(halves.first).to_be_attached()
    for box in halves.all():
        assert box.inner_text() == f"{box.get_attribute('data-first')}{box.get_attribute('data-second')}", "they come together"
    staged.locator(".strip").first.click()
    expect(staged.get_by_role("button", name="Play")).to_be_visible()
    stopped = staged.locator(".title").inner_text()
    page.wait_for_timeout(2500)  # more than two steps would take
    assert staged.locator(".title").inner_text() == stopped


PACE = """frame => { globalThis.seen = []; const title = frame.querySelector(".title");
    const note = () => seen.push([Number(title.textContent.match(/merge (\\d+)/)[1]), performance.now()]);
    new MutationObserver(note).observe(title, { childList: true }); note(); }"""


@LONG
@pytest.mark.parametrize("speed", [1, 4])
def test_the_first_merges_are_read_and_later_ones_pass_ever_faster_unless_they_join_something(visit: Visit, speed: int) -> None:
    steps = classroom.learned("wordpiece", "count", ("animal", "tired"))
    joining = {step.step for step in steps if any(step.piece in word for word in step.after)}
    page = visit("/tokens?merges.step=14&watch=animal+tired")
    staged = page.locator(".staged")
    staged.get_by_label("Speed").select_option(str(speed))
    expect(staged.locator(".title")).to_contain_text("merge 14:")
    staged.evaluate(PACE)
    staged.get_by_role("button", name="Play").click()
    page.wait_for_function("seen.at(-1)[0] > 90", timeout=60_000)
    seen = page.evaluate("seen")
    assert [number for number, _ in seen] == [*range(14, seen[-1][0] + 1)], "no merge is left out"
    stood = {number: speed * (after - at) for (number, at), (_, after) in zip(seen, seen[1:], strict=False)}
    read = [stood[number] for number in stood if 14 < number <= 20 or number in joining]
    assert min(read) > 800 and max(read) < 1000 + 500 * speed, "milliseconds at normal speed; a busy machine adds its own"
    passed = [stood[number] for number in stood if number > 20 and number not in joining]
    assert np.mean(passed[-20:]) < 0.5 * np.mean(passed[:8]) < 500


@LONG
def test_snapshots_play_from_the_first_to_the_last(visit: Visit) -> None:
    page = visit("/training?part=snapshots&snapshots.map=Attention%2C+at+this+step")
    taken = ex.training.snapshots(filmed(kept()))
    last = taken[-1]
    staged, moment = page.locator(".staged"), page.locator(".board[data-state=ready] .time b")
    expect(moment).to_have_text(f"step {last:,}")
    rested(page)
    staged.get_by_role("button", name="Play").click()  # from the last one: once more from the first
    expect(staged.locator(".title")).to_have_text("step 1")
    assert all(staged.locator(name).first.is_visible() for name in (".guess", ".line", ".dot")), "nothing is blank on the way"
    assert staged.locator(".stop").count() == len(taken), "each stop of the slider is on the curve"
    staged.get_by_label("Speed").select_option("4")
    expect(staged.locator(".title")).to_have_text(f"step {last:,}")
    expect(staged.get_by_role("button", name="Play")).to_be_visible()
    staged.get_by_role("button", name="One snapshot back").click()
    expect(moment).not_to_have_text(f"step {last:,}")  # the rest of the page follows


@LONG
def test_a_board_that_a_hand_turned_goes_back_to_the_token_that_is_held_again(visit: Visit) -> None:
    at = f"{APP}.rows[{APP}.cursor.row]"
    page = visit("/attention")
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    rested(page)
    token, board = page.locator("[data-tokens] button", has_text="tired"), page.locator(".board canvas")
    token.click()
    page.wait_for_function(f"{at} === 'tired'")
    rested(page)
    token.click()  # free
    expect(token).to_have_attribute("aria-pressed", "false")
    rested(page)
    box = board.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_function(f"{at} !== 'tired'")
    token.click()
    page.wait_for_function(f"{at} === 'tired'")
    rested(page)
    board.focus()
    for _ in range(6):
        page.keyboard.press("ArrowUp")
    expect(page.locator("[data-tokens] button[aria-pressed=true]")).to_have_text("the")
    rested(page)
    assert page.evaluate(at) == "the", "the bar follows the board, and does not send it back"


@LONG
def test_tokens_fly_to_the_positions_at_which_they_are_read(visit: Visit) -> None:
    page = visit("/positions?part=shuffle")
    words = page.locator(".staged .chips")
    expect(words).to_be_visible()
    shuffle = ex.shuffle(ex.load("bert", device="cpu"), SENTENCE, seed=0)
    assert _read(words) == [*shuffle.tokens.texts]
    page.get_by_role("button", name="One order on").click()
    words.evaluate("list => Promise.all(list.getAnimations({ subtree: true }).map(move => move.finished))")
    assert _read(words) == [shuffle.tokens.texts[n] for n in shuffle.order]
    rested(page)
    page.get_by_text("no state changes").first.click()
    expect(words.locator(".bars").first).to_be_visible()
    tall = words.locator(".chip").evaluate_all("all => all.map(e => [...e.querySelectorAll('i')].map(bar => bar.offsetHeight))")
    top = shuffle.moved["with"][-1].max()
    assert [row[0] for row in tall] == [max(2, round(32 * shuffle.moved["with"][-1][n] / top)) for n in shuffle.order]
    assert all(row[1] == 2 for row in tall), "the states of an encoder without positions do not change: each has a line, no bar"


def _read(words: Locator) -> list[str]:
    """The tokens as they stand, from left to right and from top to bottom."""
    letters = words.locator(".chip b").evaluate_all(
        "all => all.map(e => { const b = e.getBoundingClientRect(); return [e.textContent, b.y, b.x]; })"
    )
    return [text for text, *_ in sorted(letters, key=lambda entry: entry[1:])]


@LONG
def test_a_corner_of_the_triangle_is_one_layer_alone_and_the_sliders_follow(visit: Visit) -> None:
    page = visit("/elmo?part=mix-by-hand", height=1500)
    triangle = figure_titled(page, "Your mix in the triangle")
    click_on(page, triangle, ".scatterlayer .trace:nth-child(1) .point", 0)
    for layer, value in zip("₀₁₂", (0, 0, 20), strict=True):
        expect(page.get_by_role("slider", name=f"Weight s{layer}")).to_have_value(str(value))
    expect(page.locator(".figure-title", has_text="Mix the layers by hand")).to_be_visible()


@LONG
def test_a_row_of_the_matrix_and_a_link_beside_it_open_their_strategy(visit: Visit) -> None:
    page = visit("/corruption?part=every-strategy", height=1500)
    matrix = figure_titled(page, "One text under every strategy")
    row = matrix.locator(".ytick", has_text=re.compile("^bart-delete$"))
    expect(row).to_be_visible()
    name, area = row.bounding_box(), matrix.locator(".nsewdrag").first.bounding_box()
    assert name is not None and area is not None
    page.mouse.move(area["x"] + area["width"] * 0.7, name["y"] + name["height"] / 2)
    page.wait_for_timeout(300)
    page.mouse.click(area["x"] + area["width"] * 0.7, name["y"] + name["height"] / 2)
    expect(page).to_have_url(re.compile("part=one-strategy"))
    rested(page)
    expect(page.get_by_text("BART's second noise.")).to_be_visible()
    page.get_by_role("radio", name="Every strategy").or_(page.get_by_role("button", name="Every strategy")).last.click()
    page.get_by_role("link", name="pegasus", exact=True).click()
    expect(page).to_have_url(re.compile("strategy=pegasus"))
    expect(page.get_by_text("PEGASUS.").first).to_be_visible()


@LONG
def test_a_dot_of_the_plane_opens_the_neighbours_of_its_word(visit: Visit) -> None:
    page = visit("/vectors?part=plane", height=1500)
    plane = figure_titled(page, "Words on a plane")
    expect(plane.locator(".scatterlayer .point").first).to_be_attached()
    rested(page)
    word = plane.evaluate("plot => plot.data[1].customdata[2]")
    click_on(page, plane, ".scatterlayer .point", 2)
    expect(page).to_have_url(re.compile("part=neighbours"))
    expect(page.get_by_role("textbox", name="Word", exact=True)).to_have_value(word)


@LONG
def test_a_part_that_is_clicked_in_the_matrix_is_silenced_and_seen_beside_it(visit: Visit) -> None:
    page = visit("/whatif", width=1280, height=720)
    note, parts = page.locator("[class*=st-key-titled] .figure-note").first, page.locator("[data-cells]")
    expect(note).to_contain_text("silenced")
    rested(page)
    bits = ex.damage(ex.load("bert", device="cpu"), SENTENCE).heads
    for label, said in (
        ("layer 1, head 0", "head 0 of layer 1 silenced"),
        ("layer 1, all heads", "every head of layer 1 silenced"),
        ("layer 0, feed-forward", "feed-forward of layer 0 silenced"),
    ):
        parts.get_by_role("button", name=label).click()
        expect(parts.locator("[aria-pressed=true]")).to_have_attribute("aria-label", re.compile(label))
        assert note.inner_text().startswith(f"{said} · "), "a part is in a frame once its effect is there"
    assert parts.get_by_role("button", name="layer 1, head 0").inner_text() == f"{bits[1, 0]:.2f}"
    page.keyboard.press("ArrowUp")  # at the edge: nothing
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(parts.locator(":focus")).to_have_attribute("aria-label", re.compile("layer 0, head 3"))
    for seen in (page.locator(".stColumn .stPlotlyChart").first, parts):
        box = seen.bounding_box()
        assert box is not None and box["y"] + box["height"] <= 720, "both in one view"
    expect(page).to_have_url(re.compile("edit=silence(%20|\\+)feed-forward"))


@LONG
def test_a_cell_of_a_stage_says_its_number_as_soon_as_a_pointer_is_over_it(visit: Visit) -> None:
    page = visit("/families?part=masks")
    weights = ex.trace(ex.load("gpt2", device="cpu"), SENTENCE).attention[0].weights[0]
    cell, tip = page.locator(".masks .row .weights").nth(4).locator(".weight").nth(1), page.locator(".staged .tip")
    expect(tip).to_be_hidden()
    cell.hover()
    expect(tip).to_contain_text(f": {weights[3, 1]:.3f}")
    box, over = tip.bounding_box(), cell.bounding_box()
    assert box is not None and over is not None and box["y"] + box["height"] <= over["y"], "it covers no cell that it speaks of"
    page.locator(".staged .title").hover()
    expect(tip).to_be_hidden()


@LONG
def test_the_cells_of_a_stage_are_read_with_arrow_keys_too(visit: Visit) -> None:
    page = visit("/families?part=masks")
    tip, read = page.locator(".staged .tip"), page.locator(".masks [data-read]")
    page.get_by_label("Speed").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("group", name="Picture: arrow keys read its cells")).to_be_focused()
    page.keyboard.press("ArrowDown")
    place, frame = read.bounding_box(), page.get_by_label("Player").get_by_role("slider").get_attribute("aria-valuetext")
    for key, axis, sign in (
        ("ArrowDown", "y", 1),
        ("ArrowRight", "x", 1),
        ("ArrowDown", "y", 1),
        ("ArrowLeft", "x", -1),
        ("ArrowUp", "y", -1),
    ):
        page.keyboard.press(key)
        before, place = place, read.bounding_box()
        assert before is not None and place is not None and sign * (place[axis] - before[axis]) > 0, key
        assert tip.inner_text() == read.get_attribute("data-says")
    assert page.get_by_label("Player").get_by_role("slider").get_attribute("aria-valuetext") == frame, "no frame was passed"
    page.keyboard.press("Tab")
    expect(tip).to_be_hidden()
