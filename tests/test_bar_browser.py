"""The tokens of the bar and the card of the tour in a browser: what is held is followed, what was asked for is framed and ticked off."""

from __future__ import annotations

import re

import pytest
from conftest import ALL, LONG, Visit
from playwright.sync_api import expect
from test_frame_browser import rested

pytestmark = pytest.mark.browser


@LONG
def test_a_step_of_the_tour_frames_its_control_and_is_ticked_off_when_it_was_used(visit: Visit) -> None:
    page = visit("/attention?step=7&part=both-masks", height=700)
    rested(page)
    control, card = page.locator(".st-key-masks-stage"), page.locator(".st-key-tour")
    expect(control).to_have_attribute("data-toured", "7")
    expect(control).to_be_in_viewport(ratio=1)
    expect(card).to_be_in_viewport(ratio=1)
    expect(card).not_to_contain_text("Now you know")
    control.get_by_text("weights", exact=True).click()
    expect(card).to_contain_text("Now you know")
    card.get_by_role("link", name="Next step").click()
    expect(page).to_have_url(re.compile("/positions.*step=8"))
    expect(page.locator("[data-toured='8']")).to_be_in_viewport()
    card.get_by_role("button", name="Leave the tour").last.click()  # the old card may still be there
    expect(card).to_have_count(0)
    expect(page.locator("[data-toured]")).to_have_count(0)


@pytest.mark.skipif(not ALL, reason="two pages more in a browser: make test-all")
def test_a_token_that_is_held_stays_so_on_other_pages_and_a_board_turns_to_it(visit: Visit) -> None:
    page = visit("/attention")
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    rested(page)
    chosen = page.locator("[data-tokens] button", has_text="tired")
    chosen.click()
    expect(chosen).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("hold=51"))
    expect(page.locator(".board .ledger")).to_contain_text("tired")
    page.get_by_role("radio", name="Both masks", exact=True).click()
    expect(page.locator(".ytick b, .ytick tspan", has_text="tired").first).to_be_attached()
    page.get_by_role("button", name="Inside").click()
    page.get_by_role("menuitem", name="Heads and layers").or_(page.get_by_role("link", name="Heads and layers")).first.click()
    expect(page.get_by_role("heading", name="Heads and layers")).to_be_visible()
    expect(page.locator("[data-tokens] button", has_text="tired")).to_have_attribute("aria-pressed", "true")
    page.locator("[data-tokens] button", has_text="tired").press("ArrowLeft")
    expect(page.locator("[data-tokens] button", has_text="too")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("hold=47"))
