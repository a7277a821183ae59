"""The tour and every control of every page, moved to its ends in a real browser with the network cut; how long each answer takes."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import ALL, TABLE
from offline import Watch, opened
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as Late

from explorer.app import tour as strip
from explorer.app import tour_steps
from explorer.app.lessons import LESSONS as EVERY

pytestmark = pytest.mark.browser
LESSONS = sorted(EVERY)
MODES = ("light", "dark")
# The page says when its script runs. What it said is written down with the time, so that a short run is not missed.
LISTEN = """() => {
  const app = document.querySelector("[data-test-script-state]");
  window.told = [];
  new MutationObserver(() => window.told.push([performance.now(), app.dataset.testScriptState]))
    .observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
}"""
QUIET = """() => { const last = window.told.at(-1); return last && last[1] === "notRunning" && performance.now() - last[0] > 250; }"""
ENDED = "() => window.told.at(-1)[0]"


@dataclass
class Answers:
    """The seconds from moving a control to the picture, by control."""

    name: str
    first: float = 0.0
    took: list[tuple[float, str]] = field(default_factory=list)

    @property
    def row(self) -> str:
        times, worst = [seconds for seconds, _ in self.took], max(self.took, default=(0.0, "–"))
        middle = statistics.median(times) if times else 0.0
        return f"{self.name:20} {self.first:5.1f} s {len(times):4} moves, median {middle:.2f} s, longest {worst[0]:.2f} s ({worst[1]})"


def still(page: Page) -> None:
    """Wait until the page's script has ended and nothing follows."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached(timeout=120_000)
    page.wait_for_timeout(700)
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached(timeout=120_000)


def answered(page: Page, act: Callable[[], None]) -> float | None:
    """The seconds from an act to the end of what the page does about it; None where it does nothing."""
    page.evaluate("() => { window.told = window.told || []; window.told.length = 0; }")
    began = page.evaluate("performance.now()")
    act()
    try:
        page.wait_for_function(QUIET, timeout=1500, polling=50)
    except Late:
        if not page.evaluate("window.told.length"):
            return None
        page.wait_for_function(QUIET, timeout=120_000, polling=50)
    return float(page.evaluate(ENDED) - began) / 1000


def moves(page: Page) -> Iterator[tuple[str, Callable[[], None]]]:
    """Every control of a page with what moves it to one end, then to the other."""
    for kind, ends in KINDS.items():
        number = 0
        while number < page.locator(kind).count():
            control = page.locator(kind).nth(number)
            if control.is_visible() and control.is_enabled():
                yield from ends(control)
            number += 1


LABEL = """e => {
  const widget = e.closest(".stSlider, .stCheckbox, .stButtonGroup, .stRadio, .stSelectbox");
  return widget.querySelector("[data-testid=stWidgetLabel]").innerText;
}"""


def named(control: Locator) -> str:
    return " ".join(str(control.evaluate(LABEL)).split())[:30]


def slider(control: Locator) -> Iterator[tuple[str, Callable[[], None]]]:
    for key in ("Home", "End"):
        yield f"{named(control)}: {key}", lambda key=key: control.press(key)  # type: ignore[misc]


def switch(control: Locator) -> Iterator[tuple[str, Callable[[], None]]]:
    for _ in range(2):
        yield named(control), control.click


def group(control: Locator) -> Iterator[tuple[str, Callable[[], None]]]:
    for which in (-1, 0):
        yield f"{named(control)}: {which}", control.locator("button, [data-testid=stRadioOption]").nth(which).click


def choice(control: Locator) -> Iterator[tuple[str, Callable[[], None]]]:
    def choose(which: int) -> None:
        options = control.page.get_by_role("option")
        for _ in range(5):  # a list that opens while the page is drawn anew closes again
            control.get_by_role("combobox").click()
            with contextlib.suppress(Late):
                options.nth(which).click(timeout=2_000)
                return
        raise AssertionError(f"no list opens at {named(control)}")

    for which in (-1, 0):
        yield f"{named(control)}: {which}", lambda which=which: choose(which)  # type: ignore[misc]


KINDS: dict[str, Callable[[Locator], Iterator[tuple[str, Callable[[], None]]]]] = {
    "[data-testid=stSlider] input[type=range]": slider,
    "[data-testid=stCheckbox] label": switch,
    "[data-testid=stButtonGroup]": group,
    "[data-testid=stRadio]": group,
    "[data-testid=stSelectbox]": choice,
}


def walked(page: Page, name: str) -> Answers:
    """Every control of a page, moved to both ends."""
    found = Answers(name)
    still(page)
    page.evaluate(LISTEN)
    for control, act in moves(page):
        seconds = answered(page, act)
        if seconds is not None:
            found.took.append((seconds, control))
        assert page.locator("[data-testid=stException]").count() == 0, control
    return found


@pytest.mark.parametrize("mode", MODES if ALL else MODES[1:])
@pytest.mark.parametrize("name", LESSONS if ALL else ["positions"])
def test_every_control_goes_to_its_ends(
    browser: Browser, app: tuple[str, Path], name: str, mode: str, record_property: Callable[[str, str], None]
) -> None:
    watch = Watch()
    begun = time.perf_counter()
    page = opened(browser, watch, f"{app[0]}/{name}" if name != "start" else app[0], mode)
    page.wait_for_selector(".js-plotly-plot .main-svg", state="attached", timeout=120_000)
    first = time.perf_counter() - begun
    found = walked(page, f"{name}, {mode}")
    found.first = first
    record_property(TABLE + "pages: the first picture, and what it takes to answer a moved control", found.row)
    assert found.took, "a page has something to move"
    assert watch.faults == [] and app[1].read_text() == ""
    page.context.close()


@pytest.mark.skipif(not ALL, reason="a walk through the whole tour takes a minute: make test-all")
@pytest.mark.parametrize("mode", MODES)
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
        TABLE + "pages: the first picture, and what it takes to answer a moved control",
        f"the tour, {mode}: {len(steps)} steps, what to see stands there after {statistics.median(took):.2f} s, longest {max(took):.2f} s",
    )
    assert watch.faults == [] and app[1].read_text() == ""
    page.context.close()
