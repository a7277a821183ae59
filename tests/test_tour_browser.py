"""The guided tour, walked to its end in a real browser with the network cut."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from conftest import ALL, TABLE, Visit, some
from playwright.sync_api import Locator, Page, expect

from explorer.app import deeds, tour_steps
from explorer.app import tour as strip

pytestmark = pytest.mark.browser


def still(page: Page) -> None:
    """Wait until the page's script has ended and nothing follows."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached(timeout=120_000)
    page.wait_for_timeout(700)
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached(timeout=120_000)


def going_on(page: Page) -> Locator:
    """The way to the next step: a button on the same page, a link to another one."""
    strip = page.locator(".st-key-tour").last
    return strip.get_by_role("link", name="Next →").or_(strip.get_by_role("button", name="Next →"))


def do(page: Page, deed: str) -> None:
    """What a step asks for, at its control, of whatever kind it is."""
    name, _, value = deed.partition("=")
    control = page.locator(deeds.selector(name)).first
    expect(control).to_be_visible()
    if "@" in name:  # a board
        control.locator(".board[data-state=ready] canvas").focus()
        for _ in range(2):  # "from row to row": the first row reached is where one begins
            page.keyboard.press("ArrowDown")
            still(page)
    elif control.get_by_role("slider").count():
        control.get_by_role("slider").first.focus()
        page.keyboard.press("ArrowLeft")
    elif control.get_by_role("radio").count():
        choice = control.get_by_role("radio", name=value, exact=True) if value else control.get_by_role("radio", checked=False)
        choice.last.click(force=True)
    else:
        field = control.locator("input").first
        field.fill(value or "7")
        field.press("Enter")


SAME = [number for number, (step, after) in enumerate(pairwise(tour_steps.STEPS), 1) if step.page == after.page]


@pytest.mark.parametrize("number", some(SAME, 15))
def test_what_is_done_after_next_on_the_same_page_counts(visit: Visit, number: int) -> None:
    """The step that was left stays in no address, so that the first deed neither goes back nor is lost."""
    before, after = tour_steps.STEPS[number - 1 : number + 1]
    where = "" if before.page == "start" else before.page
    page = visit(f"/{where}?step={number}&part={before.part}")
    still(page)
    going_on(page).click()
    strip = page.locator(".st-key-tour").last
    expect(strip).to_contain_text(f"{number + 1} of {len(tour_steps.STEPS)}")
    expect(page).to_have_url(re.compile(rf"step={number + 1}\b"))
    still(page)
    do(page, after.done[0])
    expect(strip).to_contain_text("Now you know")
    expect(strip).to_contain_text(f"{number + 1} of {len(tour_steps.STEPS)}")


@pytest.mark.skipif(not ALL, reason="a walk through the whole tour takes a minute: make test-all")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_tour_is_walked_to_its_end(visit: Visit, mode: str, record_property: Callable[[str, str], None]) -> None:
    took, steps = [], strip.steps()
    page = visit("/", mode)
    page.get_by_role("link", name="Take the guided tour").first.click()
    for number, step in enumerate(steps, 1):
        expect(page.get_by_text(f"{number} of {len(steps)}").first).to_be_visible(timeout=120_000)
        begun = time.perf_counter()
        expect(page.get_by_text(step.mark).first).to_be_attached(timeout=120_000)
        took.append(time.perf_counter() - begun)
        still(page)
        assert page.locator("[data-testid=stException]").count() == 0, step.says
        if number < len(steps):
            going_on(page).click()
    assert len(steps) == len(tour_steps.STEPS)
    record_property(
        TABLE + "seconds",
        f"the tour, {mode}: {len(steps)} steps, what to see stands there after {statistics.median(took):.2f} s, longest {max(took):.2f} s",
    )
