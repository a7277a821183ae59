"""How long every part of every page takes to its first picture, and every control at its extremes to its answer, as a table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import urljoin

import pytest
from conftest import LONG, TABLE, Visit
from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as Late
from test_frame_browser import parts_of, rested

from explorer.app.frame import addressed
from explorer.app.lessons import LESSONS

pytestmark = pytest.mark.browser
PATIENCE = 300_000  # milliseconds: a machine with much else to do
STARTS = 1_500  # milliseconds in which a control that asks the server does so
WATCHING = """() => {
  const state = document.querySelector('[data-test-script-state]'), seen = window.seen = { runs: 0, rests: 0 };
  if (window.looker) window.looker.disconnect();
  window.looker = new MutationObserver(() => {
    const rests = state.dataset.testScriptState === 'notRunning';
    if (rests) seen.rested = performance.now(); else seen.runs += 1;
    seen.rests = rests;
  });
  window.looker.observe(state, { attributes: true, attributeFilter: ['data-test-script-state'] });
}"""
QUIET = "() => window.seen.rests && performance.now() - window.seen.rested > 400"  # nothing new has begun since
KEYS = """() => {
  const kinds = ['stSlider', 'stButtonGroup', 'stRadio', 'stCheckbox', 'stSelectbox', 'stNumberInput'], found = [];
  for (const held of document.querySelectorAll('.stMainBlockContainer .stElementContainer[class*=st-key-]')) {
    const key = [...held.classList].find(name => name.startsWith('st-key-'));
    const kind = kinds.find(name => held.querySelector('[data-testid=' + name + ']'));
    if (kind && held.offsetHeight && key !== 'st-key-part-chosen' && !held.closest('.st-key-tour'))
      found.push([key, kind, Boolean(held.closest('.st-key-bar'))]);
  }
  return found;
}"""
FIRST = (
    ".js-plotly-plot .main-svg, .board[data-state=ready], [data-testid=stRadio], [data-testid=stTextInput], table, "
    "[data-testid=stDataFrame], [data-testid=stBaseButton-primary]"  # the last: a form that waits to be sent
)


def moves(control: Locator, kind: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """Each extreme of a control, and the deed that brings it there."""
    if kind == "stSlider":
        thumb = control.get_by_role("slider").first
        yield from ((key, partial(thumb.press, key)) for key in ("End", "Home"))
    elif kind in ("stButtonGroup", "stRadio"):
        every = control.locator("label[data-testid=stRadioOption], label:has(input), button")
        yield from (("last", every.last.click), ("first", every.first.click))
    elif kind == "stCheckbox":
        yield from ((name, control.locator("label").first.click) for name in ("other way", "back"))
    elif kind == "stSelectbox":
        yield from ((key, partial(_choose, control, key)) for key in ("End", "Home"))
    else:
        yield from ((end, partial(_write, control.get_by_role("spinbutton").first, end)) for end in ("max", "min"))


def _choose(control: Locator, key: str) -> None:
    """Open a list and take its last or first entry."""
    box = control.get_by_role("combobox").first
    box.scroll_into_view_if_needed()
    control.page.wait_for_timeout(500)  # a list closes when its page scrolls
    box.click()
    options = control.page.get_by_role("option")
    options.first.wait_for()
    control.page.keyboard.press(key)
    (options.last if key == "End" else options.first).click()


def _write(box: Locator, end: str) -> None:
    """Write the largest or smallest number that a box takes."""
    value = box.get_attribute(end) or box.get_attribute(f"aria-value{end}")
    if value is not None:
        box.fill(value)
        box.press("Enter")


def answered(page: Page, deed: Callable[[], None]) -> float | None:
    """The seconds from a deed to the end of the last thing that the server did about it; None where it did nothing."""
    page.evaluate(WATCHING)
    begun = page.evaluate("() => performance.now()")
    deed()
    try:
        page.wait_for_function("() => window.seen.runs", timeout=STARTS)
    except Late:
        return None
    page.wait_for_function(QUIET, polling=50, timeout=PATIENCE)
    return float(page.evaluate("() => window.seen.rested") - begun) / 1000


@LONG  # every scheme of positions is shown in test_thumbnails.py
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_control_of_every_part_at_its_extremes(
    visit: Visit, lesson: str, mode: str, record_property: Callable[[str, object], None]
) -> None:
    page = visit(f"/{'' if lesson == 'start' else lesson}", mode)
    page.set_default_timeout(PATIENCE)
    last = page.get_by_role("radio", name="Exercises", exact=True).or_(page.get_by_role("button", name="Exercises", exact=True))
    last.first.wait_for()
    rested(page)
    names = [name for name in parts_of(page) if name]
    assert names[-1] == "Exercises"
    for number, name in enumerate(names):
        part = addressed(name)
        start = time.perf_counter()
        page.goto(urljoin(page.url, f"?part={part}"))
        page.locator(f":is({FIRST}):visible").first.wait_for()
        first = time.perf_counter() - start
        rested(page)
        seconds_of = {}
        if not number:  # once a page is enough; another model may have other controls, which are looked for after it
            seconds_of |= at_the_extremes(page, part, shared=True)
        seconds_of |= at_the_extremes(page, part, shared=False)
        record_property(TABLE + "seconds", report(lesson, mode, part, first, seconds_of))


def at_the_extremes(page: Page, part: str, *, shared: bool) -> dict[str, float | None]:
    """The seconds that each control of the bar, or of the part, takes to answer at its extremes."""
    seconds_of = {}
    for key in [key for key, _, in_bar in page.evaluate(KEYS) if in_bar is shared]:
        control = page.locator(f"[class~='{key}']").first
        kinds = {
            there: kind for there, kind, _ in page.evaluate(KEYS)
        }  # an answer before may have changed it, or taken it away
        for end, deed in moves(control, kinds[key]) if key in kinds else ():
            if control.is_visible():
                seconds_of[f"{key.removeprefix('st-key-')} {end}"] = answered(page, deed)
            assert page.locator("[data-testid=stException]").count() == 0, f"{part}: {key} {end}"
    return seconds_of


def report(lesson: str, mode: str, part: str, first: float, seconds_of: dict[str, float | None]) -> str:
    """A line of the table."""
    measured = {name: seconds for name, seconds in seconds_of.items() if seconds is not None}
    line = f"{lesson:<11} {mode:<5} {part:<20} first picture {first:6.2f}"
    if not measured:
        return f"{line}, {len(seconds_of)} moves, none asks the server"
    slowest = max(measured, key=lambda name: measured[name])
    median = statistics.median(measured.values())
    return f"{line}, {len(seconds_of):2} moves: median {median:6.2f}, slowest {measured[slowest]:6.2f} ({slowest})"
