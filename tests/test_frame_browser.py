"""The frame of the pages in a real browser: parts, the bar that stays, presenting, sharing and the glossary."""

from __future__ import annotations

import re
from contextlib import suppress
from urllib.parse import urljoin

import pytest
from conftest import ALL, LONG, Visit, some
from playwright.sync_api import Error, Locator, Page, expect

from explorer.app.frame import addressed
from explorer.app.glossary import meaning
from explorer.app.lessons import LESSONS

pytestmark = pytest.mark.browser
HEATMAP = ".js-plotly-plot .hm image"
HEIGHT = "Math.round(document.querySelector('.stMainBlockContainer').getBoundingClientRect().height)"
TALLEST = 2000  # pixels of a part at 1280


def rested(page: Page) -> None:
    """Wait until the page has been drawn and nothing runs any more."""
    page.wait_for_function(
        """() => { const state = document.querySelector('[data-test-script-state]');
        const rests = state && state.dataset.testScriptState === 'notRunning' && document.querySelector('.st-key-bar')
            && !document.querySelector('[data-stale=true]');
        window.rested = rests ? (window.rested || 0) + 1 : 0; return window.rested > 4; }""",
        polling=100, timeout=120_000,
    )  # fmt: skip


def parts_of(page: Page) -> list[str]:
    """What the bar offers."""
    return page.locator(".st-key-part-chosen button").all_inner_texts()


def to_part(page: Page, name: str) -> None:
    """Another part of the page, once it is drawn: its address comes first, then nothing of the part before is left."""
    page.get_by_role("radiogroup", name="Parts of this page").get_by_role("radio", name=name, exact=True).click()
    expect(page).to_have_url(re.compile(f"part={addressed(name)}"))
    rested(page)


def folded_of(page: Page) -> list[str]:
    """The titles of the parts that the bar does not show."""
    more = page.get_by_role("button", name="More", exact=True)
    if not more.count():
        return []
    more.click()
    titles = page.locator("[data-testid=stPopoverBody] button").all_inner_texts()
    page.keyboard.press("Escape")
    return titles


def to_folded(page: Page, title: str) -> None:
    """A part that stands under More, once it is drawn."""
    page.get_by_role("button", name="More", exact=True).click()
    page.locator("[data-testid=stPopoverBody]").get_by_role("button", name=title, exact=True).click()
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    rested(page)


def asked(page: Page) -> list[Locator]:
    """The questions that have no answer yet."""
    return [one for one in page.get_by_role("radiogroup", name="Your guess").all() if not one.locator("input:checked").count()]


def answered(page: Page) -> None:
    """Give every question some answer, so that the page shows all that it has."""
    for _ in range(8):
        if not (left := asked(page)):
            return
        with suppress(Error):  # the page was drawn again meanwhile: look once more
            left[0].locator("label").first.click(timeout=5_000)
        rested(page)
    assert not asked(page), "a question cannot be answered"


@LONG
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_part_has_an_address_and_fits(visit: Visit, lesson: str) -> None:
    page = visit(f"/{'' if lesson == 'start' else lesson}")
    expect(page.locator(".st-key-part-chosen button").first).to_be_visible()
    rested(page)
    offered = [name for name in parts_of(page) if name]
    assert offered[-1] == "Exercises" and len(offered) >= 3
    answered(page)
    assert page.evaluate(HEIGHT) <= TALLEST, "the first part"
    ways = [*((to_part, name) for name in offered[1:]), *((to_folded, title) for title in folded_of(page))]
    for open_part, name in ways:
        open_part(page, name)
        answered(page)
        assert page.evaluate(HEIGHT) <= TALLEST, name
        assert (
            page.locator("[data-testid=stException]").count() == 0
            and page.evaluate("document.documentElement.scrollWidth") <= 1280
        )


FIRST_BOX = """() => [...document.querySelectorAll(
  '[data-testid=stPlotlyChart], .st-key-board, .st-key-edit-cells, ' +
  '.stElementContainer:is([class*="-board "], [class*="-board-"], [class*="-staged "])')]
  .map(one => one.getBoundingClientRect()).filter(box => box.height > 60).sort((a, b) => a.top - b.top)[0]"""
FIRST = f"() => ({FIRST_BOX})()?.top ?? Infinity"


@pytest.mark.parametrize("lesson", [name for name in LESSONS if name != "start"] if ALL else ["tokens"])
def test_on_a_telephone_the_picture_is_on_the_first_screen(visit: Visit, lesson: str) -> None:
    page = visit(f"/{lesson}", width=390, height=844)
    expect(page.locator(".st-key-part-chosen button").first).to_be_visible()
    rested(page)
    whole_or_high = (
        "box && (box.top < 0.5 * innerHeight || box.bottom <= innerHeight)"  # a small one may have what one acts on above it
    )
    page.wait_for_function(f"() => {{ const box = ({FIRST_BOX})(); return {whole_or_high}; }}")


@pytest.mark.parametrize(
    "lesson", some(["attention", "heads", "families", "corruption", "decoding", "whatif", "yours"], "heads")
)
def test_on_a_telephone_a_sentence_of_one_s_own_is_typed_above_the_picture(visit: Visit, lesson: str) -> None:
    page = visit(f"/{lesson}", width=390, height=844)
    box = page.locator(".st-key-controls .stTextInput input")
    expect(box).to_be_visible()
    rested(page)
    top = box.evaluate("e => e.getBoundingClientRect().top")
    assert (
        page.locator(".st-key-choice").evaluate("e => e.getBoundingClientRect().bottom") < top < page.evaluate(f"({FIRST})()")
    )
    box.fill("A dog ran.")
    box.press("Enter")
    expect(page).to_have_url(re.compile(re.escape("A+dog+ran")))


@LONG
def test_on_a_telephone_a_part_that_reads_no_sentence_has_no_field_for_one(visit: Visit) -> None:
    page = visit("/elmo", width=390, height=844)
    rested(page)
    expect(page.get_by_label("Your text")).to_be_hidden()


@LONG
def test_the_bar_stays_in_view(visit: Visit) -> None:
    page = visit("/attention?part=both-masks", height=700)
    page.wait_for_selector(HEATMAP, state="attached")
    rested(page)
    page.locator("[data-testid=stMain]").evaluate("e => e.scrollTo(0, 400)")
    expect(page.get_by_role("heading", name="Attention, step by step")).not_to_be_in_viewport()
    expect(page.get_by_label("Your sentence")).to_be_in_viewport()


@LONG
def test_a_picture_is_one_stop_of_the_tab_key_and_a_page_is_presented_with_keys(visit: Visit) -> None:
    page = visit("/attention?part=both-masks&guess=1", width=1920, height=1080)
    page.wait_for_selector(HEATMAP, state="attached")
    rested(page)
    check_tab_stops(page)
    line = ".js-plotly-plot .ytick text"
    small = page.locator(line).first.evaluate("e => e.getBoundingClientRect().height")
    page.get_by_role("button", name="Present").click()
    expect(page).to_have_url(re.compile("present=1"))
    expect(page.get_by_text("Inside", exact=True)).to_be_hidden()
    expect(page.get_by_text("What this does not show")).to_have_count(0)
    expect(page.locator("[data-scene]").first).to_be_attached()
    page.keyboard.press("j")
    expect(page.locator("[data-join] h2")).to_have_text(re.compile(r"^127\.0\.0\.1:\d+/v"))
    assert page.locator("[data-join] h2").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 80
    expect(page.locator("[data-join] [role=status]")).to_have_text("0 joined")
    page.keyboard.press("j")
    expect(page.locator("[data-join]")).to_have_count(0)
    page.wait_for_function(
        "([line, least]) => [...document.querySelectorAll(line)].some(e => e.getBoundingClientRect().height >= least)",
        arg=[line, 1.3 * small],
    )  # while it is drawn again there is none
    assert page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") == 24
    assert page.evaluate("document.documentElement.scrollWidth") <= 1920
    page.keyboard.press("b")
    expect(page.locator("[data-blank]")).to_be_visible()
    page.keyboard.press("b")
    expect(page.locator("[data-blank]")).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("part=why-d"))
    expect(page.get_by_role("radiogroup", name="Your guess")).to_be_visible()
    rested(page)
    expect(page.get_by_text("empty until you answer").first).to_be_visible()  # the picture waits for a guess
    page.keyboard.press("a")
    expect(page.get_by_text("empty until you answer")).to_have_count(0)
    expect(page.locator(".gtitle").first).to_be_visible()
    page.keyboard.press("PageUp")
    expect(page).to_have_url(re.compile("part=both-masks"))
    rested(page)
    page.keyboard.press("PageUp")  # the board: large as well, and its choices stay
    expect(page).to_have_url(re.compile("part=walk"))
    board = page.locator(".board[data-state=ready]")
    expect(board).to_have_class(re.compile(r"\blarge\b"))
    expect(board.locator(".choices")).to_be_visible()
    assert board.locator(".title").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 30
    page.get_by_role("button", name="Leave").click()
    expect(board).not_to_have_class(re.compile(r"\blarge\b"))


@LONG
def test_a_shared_address_opens_the_same_page(visit: Visit) -> None:
    page = visit("/whatif?edit.head=3&edit.layer=1")
    page.get_by_role("button", name="Other changes").click()
    expect(page.get_by_role("spinbutton", name="Edited head")).to_have_value("3")
    page.keyboard.press("Escape")
    rested(page)
    page.get_by_role("button", name="Share").click()
    address = page.locator("[data-testid=stPopoverBody] code").first
    expect(address).to_contain_text("edit.head=3")
    expect(page.locator("[data-testid=stPopoverBody] img").first).to_be_visible()
    other = visit(address.inner_text().strip())
    other.get_by_role("button", name="Other changes").click()
    expect(other.get_by_role("spinbutton", name="Edited head")).to_have_value("3")
    expect(other.get_by_role("spinbutton", name="Edited layer")).to_have_value("1")


@LONG
def test_a_word_is_explained_by_pointing_at_it_by_the_keyboard_and_by_a_tap(visit: Visit) -> None:
    page = visit("/attention")
    word, box = page.get_by_role("button", name="feed-forward network", exact=True).first, page.locator("#meaning")
    expect(word).to_have_attribute("href", re.compile("glossary#feed-forward$"))
    rested(page)
    word.hover()
    expect(box).to_contain_text("Two matrices with a nonlinear function")
    assert word.get_attribute("title") is None, "the browser shows no second one"
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    page.mouse.move(5, 5)
    word.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(box).to_be_visible()
    expect(word).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")  # stays, and leads on
    page.keyboard.press("Tab")
    expect(box.get_by_role("link", name="Glossary")).to_be_focused()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(word).to_be_focused()
    word.click()
    expect(box).to_be_visible()
    expect(page).to_have_url(re.compile("/attention"))
    page.locator("h1").click()
    expect(box).to_be_hidden()
    page.goto(urljoin(page.url, "/glossary#vector"))
    expect(page.get_by_text(meaning("vector"))).to_be_visible()


TOPS = """() => { const find = root => { for (const one of root.querySelectorAll('*')) {
  if (one.tagName === 'CANVAS') return one; const inside = one.shadowRoot && find(one.shadowRoot); if (inside) return inside; } };
  const found = find(document); return found ? found.getBoundingClientRect().top : 0; }"""


BELOW = {"yours": 350}  # a row of controls more: what is opened


@LONG
@pytest.mark.parametrize("lesson", some(["attention", *BELOW], "attention"))
def test_a_board_begins_in_the_upper_half_of_a_small_screen(visit: Visit, lesson: str) -> None:
    page = visit(f"/{lesson}", width=1280, height=800)
    page.wait_for_function(f"({TOPS})() > 0")
    rested(page)
    assert 200 < page.evaluate(TOPS) <= BELOW.get(lesson, 350)
    expect(page.locator(".st-key-says p").first).to_be_visible()


HIGHEST = {"attention": 160, "training": 190, "whatif": 220, "yours": 220, "decoding": 270}  # the others: 290


@LONG
@pytest.mark.parametrize("lesson", [name for name in LESSONS if name != "start"] if ALL else ["training"])
def test_a_picture_begins_high_on_a_laptop_s_screen(visit: Visit, lesson: str) -> None:
    page = visit(f"/{lesson}", width=1280, height=720)
    page.wait_for_function(f"Number.isFinite(({FIRST})())")
    rested(page)
    assert page.evaluate(f"({FIRST})()") <= HIGHEST.get(lesson, 290)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@LONG
def test_a_model_stands_beside_the_title_where_the_bar_is_full_and_is_folded_away_where_it_is_not_read(visit: Visit) -> None:
    page = visit("/training", width=1280, height=720)
    rested(page)
    training = page.get_by_role("combobox", name="Training")
    title, bar = (page.locator(one).bounding_box() for one in ("h1", ".st-key-bar"))
    assert title and bar and bar["height"] < 60, "one row"
    assert abs(training.evaluate("e => e.getBoundingClientRect().top") - title["y"]) < 40
    to_part(page, "Compare")
    expect(training).to_be_hidden()
    page = visit("/training?present=1", width=1920, height=1080)
    expect(page.locator(".st-key-bar .st-key-kept")).to_have_count(1)  # the line of the title has no room for it


@LONG
def test_the_bar_shows_what_a_part_reads_and_keeps_the_rest(visit: Visit) -> None:
    page = visit("/elmo?text=A+dog+ran.")
    rested(page)
    expect(page.get_by_label("Your text")).to_be_hidden()
    to_part(page, "Two directions")
    expect(page.get_by_label("Your text")).to_have_value("A dog ran.")
    page = visit("/families?part=cross-attention")
    rested(page)
    expect(page.get_by_label("Your sentence")).to_be_visible()
    expect(page.locator(".st-key-model")).to_be_hidden()
    to_part(page, "Masks")
    expect(page.locator(".st-key-model")).to_be_visible()


def test_a_part_that_is_not_there_is_named(visit: Visit) -> None:
    page = visit("/heads?part=misspelt%3Cb%3E")
    expect(page.get_by_text("This page has no part “misspelt-b”: here is its first.")).to_be_visible()
    to_part(page, "Lens")
    expect(page.get_by_text("This page has no part")).to_have_count(0)


def check_tab_stops(page: Page) -> None:
    """A picture has one stop, its enlarge button: plotly's own toolbar would add a dozen."""
    stops = """() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')].map(picture => {
        const box = picture.closest('.stElementContainer') || picture;
        return [...box.querySelectorAll('*')].filter(one => one.tabIndex >= 0 && !one.disabled).map(
            one => one.getAttribute('aria-label') || one.tagName); })"""
    assert page.evaluate(stops) == [["Fullscreen"]]
    page.get_by_role("radio", checked=True).last.focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        page.evaluate("document.activeElement.dataset.reached = ''")
    within = """[...document.querySelectorAll('[data-reached]')].filter(
        one => one.closest('.stElementContainer')?.querySelector('.js-plotly-plot')).map(one => one.getAttribute('aria-label'))"""
    assert page.evaluate(within) == ["Fullscreen"]


@LONG
def test_on_a_telephone_the_menu_leaves_the_page_that_was_chosen_in_it(visit: Visit) -> None:
    page = visit("/glossary", width=390, height=844)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Positions").click()
    expect(page).to_have_url(re.compile("/positions"))
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
