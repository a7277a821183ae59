"""What plays, and what turns: a choice that is played to its end, and a board that goes back to the token that is held again."""

from __future__ import annotations

import re

import pytest
from conftest import LONG, Visit
from playwright.sync_api import Locator, expect
from test_board_hands import APP
from test_frame_browser import rested

import explorer as ex
from explorer.app.lessons import SENTENCE

pytestmark = pytest.mark.browser


@LONG
def test_merges_play_until_they_are_paused(visit: Visit) -> None:
    page = visit("/tokens?merges.step=5")
    rested(page)
    page.get_by_role("button", name="Play: Merge").click()
    expect(page).to_have_url(re.compile(r"merges\.step=[89]"))
    page.get_by_role("button", name="Pause: Merge").click()
    rested(page)
    stopped = page.url
    page.wait_for_timeout(2500)  # more than three steps would take
    assert page.url == stopped
    expect(page.get_by_role("button", name="Play: Merge")).to_be_visible()


@LONG
def test_snapshots_play_from_the_first_to_the_last(visit: Visit) -> None:
    page = visit("/training?part=snapshots&kept=gpt")
    moment = page.locator(".board[data-state=ready] .time b")
    expect(moment).to_have_text("step 22,000")
    rested(page)
    page.get_by_role("button", name="Play: Snapshot of step").click()  # from the last one: once more from the first
    expect(moment).to_have_text("step 1")
    expect(moment).to_have_text("step 22,000")
    expect(page.get_by_role("button", name="Play: Snapshot of step")).to_be_visible()


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


def test_tokens_fly_to_the_positions_at_which_they_are_read(visit: Visit) -> None:
    page = visit("/positions?part=shuffle")
    button, words = page.locator("[data-fly]"), page.locator("[data-words]")
    expect(button).to_have_text("Shuffle the tokens")
    shuffle = ex.shuffle(ex.load("bert", device="cpu"), SENTENCE, seed=0)
    assert _read(words) == [*shuffle.tokens.texts]
    button.click()
    words.evaluate("list => Promise.all(list.getAnimations({ subtree: true }).map(one => one.finished))")
    assert _read(words) == [shuffle.tokens.texts[n] for n in shuffle.order]
    rested(page)
    page.get_by_text("no state changes").first.click()
    expect(words.locator("i").first).to_be_visible()
    tall = words.locator("div").evaluate_all(
        "found => found.map(one => [...one.querySelectorAll('i')].map(bar => bar.offsetHeight))"
    )
    top = shuffle.moved["with"][-1].max()
    assert [row[0] for row in tall] == [round(32 * value / top) for value in shuffle.moved["with"][-1]]
    assert all(row[1] == 0 for row in tall), "the states of an encoder without positions do not change"


def _read(words: Locator) -> list[str]:
    """The tokens as they stand, from left to right and from top to bottom."""
    letters = words.locator("b").evaluate_all("found => found.map(one => [one.textContent, one.offsetTop, one.offsetLeft])")
    return [text for text, *_ in sorted(letters, key=lambda entry: entry[1:])]
