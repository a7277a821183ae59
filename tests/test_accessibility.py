"""Every page by the main rules of accessibility: names, headings, contrast, alt text, focus, language, and no type below 12 px."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from conftest import ALL, LONG, Visit
from playwright.sync_api import Page, expect
from test_frame_browser import answered, folded_of, parts_of, rested, to_folded, to_part

from explorer.app.lessons import LESSONS

pytestmark = pytest.mark.browser
AUDIT, OVERLAPS = ((Path(__file__).parent / name).read_text() for name in ("audit.js", "overlaps.js"))
SMALLEST, DEEPEST, TELEPHONE = 12, 1.5, 390  # pixels of a text, of two words that touch, and of a screen
PAGES = [*product((*LESSONS, "glossary", "vote", "status"), ("light", "dark"))]
RULES = (
    "language",
    "headings",
    "contrast",
    "small type",
    "no name",
    "no alt text",
    "focus out of order",
    "focus on what is hidden",
)
BROKEN = """<main style="background:#fff"><h1>One</h1><h3>Two</h3><p style="color:#aaa">pale</p><p style="font-size:9px">small</p>
<button></button><img src="data:,"><span tabindex="3">first</span><div aria-hidden="true"><button>unseen</button></div></main>"""


def audit(page: Page) -> list[str]:
    """What is wrong on the page as it stands."""
    return page.evaluate(f"({AUDIT[AUDIT.index('smallest =>') :]})({SMALLEST})")  # type: ignore[no-any-return]


def overlapping(page: Page) -> list[str]:
    """Which words of a picture lie on each other."""
    return page.evaluate(f"({OVERLAPS[OVERLAPS.index('deepest =>') :]})({DEEPEST})")  # type: ignore[no-any-return]


def on_a_telephone(page: Page) -> list[str]:
    """What is wrong with the words of a page's pictures, once its questions are answered, and by the checker of others."""
    answered(page)
    page.wait_for_timeout(500)
    return judged(page) + overlapping(page) + ([] if ALL else audit(page))


def judged(page: Page) -> list[str]:
    """What axe-core finds serious or critical: the checker of others, beside our own. On a telephone the menu is Streamlit's own list."""
    page.evaluate(AXE_SCRIPT)
    where = "{ exclude: [['[data-testid=stSidebarNavItems]']] }"
    found = page.evaluate(f"axe.run({where}, {{ resultTypes: ['violations'] }})")["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:3]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def walked(  # noqa: PLR0913  how wide, too
    visit: Visit, lesson: str, mode: str, judge: Callable[[Page], list[str]], width: int = 1280
) -> None:
    """Nothing is wrong in the first part of a page, nor in all others where everything is tested."""
    found = {}
    page = visit(f"/{lesson}", mode, width)
    expect(page.locator("h1").first).to_be_visible()
    parted = page.locator(".st-key-bar").count() > 0
    if parted:
        rested(page)
    else:
        expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    found[lesson] = judge(page)
    for name in parts_of(page)[1:] if ALL and parted else ():
        to_part(page, name)
        found[name] = judge(page)
    for title in folded_of(page) if ALL and parted else ():
        to_folded(page, title)
        found[title] = judge(page)
    assert {name: faults for name, faults in found.items() if faults} == {}


@LONG
def test_axe_finds_what_is_wrong(visit: Visit) -> None:
    page = visit("about:blank")
    page.set_content(f"<!doctype html><html><body>{BROKEN}</body></html>")
    found = {fault.partition(":")[0] for fault in judged(page)}
    assert {"html-has-lang", "color-contrast", "button-name", "image-alt"} <= found


@LONG  # the page of the short run is asked for all
@pytest.mark.parametrize(("lesson", "mode"), PAGES)
def test_axe_finds_nothing_serious(visit: Visit, lesson: str, mode: str) -> None:
    walked(visit, lesson, mode, judged)


@LONG
def test_words_on_words_are_found(visit: Visit) -> None:
    page = visit("about:blank")
    drawn = "<div class='js-plotly-plot' style='width:300px'><svg width=300 height=80>{}</svg></div>"
    word = "<text x='{}' y='{}' transform='rotate({})'>somebody</text>".format
    for others, faults in (
        (word(60, 33, 0), 1),  # on the end of the other
        (word(160, 30, 0), 0),
        (word(20, 60, 0), 0),
        (word(60, -10, 60), 0),  # turned away: only the boxes around them touch
        (word(270, 30, 0), 1),  # out of the picture
    ):
        page.set_content(drawn.format(word(20, 30, 0) + others))
        assert len(overlapping(page)) == faults, others


@LONG
@pytest.mark.parametrize("lesson", LESSONS if ALL else ["elmo?part=letters"])
def test_on_a_telephone_no_words_lie_on_others(visit: Visit, lesson: str) -> None:
    walked(visit, lesson, "dark", on_a_telephone, TELEPHONE)


def test_the_check_finds_what_is_wrong(visit: Visit) -> None:
    page = visit("about:blank")
    page.set_content(f"<!doctype html><html><body>{BROKEN}</body></html>")
    found = [fault.partition(":")[0] for fault in audit(page)]
    assert set(RULES) <= set(found)
    sound = '<h1>One</h1><h2>Two</h2><p>dark</p><button>Press</button><img alt="A dog" src="data:,">'
    page.set_content(f'<!doctype html><html lang="en"><body>{sound}</body></html>')
    assert audit(page) == []


@LONG  # the page of the short run is asked for all
@pytest.mark.parametrize(("lesson", "mode"), PAGES)
def test_a_page_keeps_the_rules(visit: Visit, lesson: str, mode: str) -> None:
    walked(visit, lesson, mode, audit)
