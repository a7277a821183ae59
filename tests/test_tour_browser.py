"""The guided tour, walked to its end in a real browser with the network cut."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ALL, TABLE
from offline import Watch, opened
from playwright.sync_api import Browser, Page, expect

from explorer.app import tour as strip
from explorer.app import tour_steps

pytestmark = pytest.mark.browser


def still(page: Page) -> None:
    """Wait until the page's script has ended and nothing follows."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached(timeout=120_000)
    page.wait_for_timeout(700)
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached(timeout=120_000)


@pytest.mark.skipif(not ALL, reason="a walk through the whole tour takes a minute: make test-all")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_tour_is_walked_to_its_end(
    browser: Browser, app: tuple[str, Path], mode: str, record_property: Callable[[str, str], None]
) -> None:
    watch, took, steps = Watch(), [], strip.steps()
    page = opened(browser, watch, app[0], mode)
    page.get_by_role("link", name="Take the guided tour").first.click()
    for number, step in enumerate(steps, 1):
        expect(page.get_by_text(f"{number} of {len(steps)}").first).to_be_visible(timeout=120_000)
        begun = time.perf_counter()
        expect(page.get_by_text(step.mark).first).to_be_attached(timeout=120_000)
        took.append(time.perf_counter() - begun)
        still(page)
        assert page.locator("[data-testid=stException]").count() == 0, step.says
        if number < len(steps):
            page.get_by_role("link", name="Next →").click()
    assert len(steps) == len(tour_steps.STEPS)
    record_property(
        TABLE + "seconds",
        f"the tour, {mode}: {len(steps)} steps, what to see stands there after {statistics.median(took):.2f} s, longest {max(took):.2f} s",
    )
    assert watch.faults == [] and app[1].read_text() == ""
    page.context.close()
