"""The guided tour, walked to its end in a real browser with the network cut."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable
from itertools import pairwise, product

import pytest
from conftest import ALL, LONG, TABLE, Visit, some
from playwright.sync_api import Locator, Page, expect

from explorer.app import deeds, streamlit_inside
from explorer.app.tour_steps import STEPS, TourStep

pytestmark = pytest.mark.browser
NUMBERS = range(1, len(STEPS) + 1)


def on_board(step: TourStep) -> bool:
    """Whether the picture is the control, too, which may be taller than the window."""
    return deeds.box(step.done[-1]) == step.picture


def still(page: Page) -> None:
    """Wait until the page's script has ended and nothing follows."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached(timeout=120_000)
    page.wait_for_timeout(700)
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached(timeout=120_000)


def card(page: Page) -> Locator:
    """What says the step; the one of the step before may still be there."""
    return page.locator(".st-key-tour").last


def going_on(page: Page) -> Locator:
    """The way to the next step: a button on the same page, a link to another one."""
    return card(page).get_by_role("link", name="Next step →").or_(card(page).get_by_role("button", name="Next step →"))


def at_step(visit: Visit, number: int, **size: int) -> Page:
    """The page of a step, opened by its link, once the card points at something."""
    step = STEPS[number - 1]
    page = visit(f"/{'' if step.page == 'start' else step.page}?step={number}&part={step.part}", **size)
    expect(page.locator(f"[data-toured='{number}']")).to_be_attached()
    still(page)
    return page


def do(page: Page, step: TourStep) -> None:
    """What a step asks for, at its controls, of whatever kind they are."""
    for deed in step.done:
        expect(card(page)).not_to_contain_text("Now you know")
        expect(page.locator(deeds.selector(deed)).and_(page.locator("[data-toured]"))).to_be_visible()
        act(page, deed)
        still(page)


def act(page: Page, deed: str) -> None:
    """Do one deed."""
    name, _, value = deed.partition("=")
    control = page.locator(deeds.selector(name)).first
    if "@" in name:  # a board
        control.locator(".board[data-state=ready] canvas").evaluate("one => one.focus({ preventScroll: true })")
        if value:
            control.locator(f".board [data-station={value}]").click()
        for key in ("]",) if name.endswith("@head") else ("ArrowDown", "ArrowDown") if name.endswith("@row") else ():
            page.keyboard.press(key)
            still(page)
    elif ">" in name:  # a row of buttons within a component
        control.get_by_role("button").first.click()
    elif control.locator(".player").count():
        control.get_by_role("button", name=re.compile("^One .* on")).click()
    elif name == "hidden":
        control.get_by_role("button").or_(control.get_by_role("checkbox")).first.click()
    elif control.get_by_role("slider").count():
        control.get_by_role("slider").first.focus()
        page.keyboard.press("ArrowRight")
    elif control.get_by_role("radio").count():
        choice = control.get_by_role("radio", name=value, exact=True) if value else control.get_by_role("radio", checked=False)
        choice.last.click(force=True)
    else:
        field = control.locator("input").first
        if field.get_attribute("role") == "combobox" and not value:
            field.click()
            page.keyboard.press("ArrowDown")
        else:
            field.fill(value or "2")
        page.keyboard.press("Enter")


SEEN = """(every, block) => {  // the share of their area that neither the window's edge, the header, the bar, the title nor the card hides
  const frame = one => one.getBoundingClientRect(), main = document.querySelector(block), inner = one => one.getRootNode().host || one;
  const card = frame(document.querySelector(".st-key-tour")), there = one => one.offsetHeight && main.contains(inner(one));
  const bar = document.querySelector(".st-key-bar"), stuck = getComputedStyle(bar.parentElement).position === "sticky";
  const title = main.querySelector("h2")?.closest(".stElementContainer");
  const follows = one => title && title.compareDocumentPosition(inner(one)) & 4;
  const some = every.filter(one => there(one) && !one.closest("[data-stale=true]"));
  const common = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left))
    * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  let area = 0, seen = 0, covered = 0, high = 0;
  const head = frame(document.querySelector('[data-testid=stHeader]')).bottom;
  for (const part of some) {
    const at = frame(part), below = stuck && !bar.contains(part) ? Math.max(head, frame(bar).bottom) : head;
    const top = follows(part) ? Math.max(below, frame(title).bottom) : below, foot = card.width > innerWidth / 2 ? card.top : innerHeight;
    area += at.width * at.height;
    seen += common(at, { left: 0, right: innerWidth, top, bottom: foot });
    covered += common(at, card);
    high = Math.max(high, Math.min(at.bottom, foot) - Math.max(at.top, top));
  }
  return [seen / area, covered, high]; }"""


def seen(page: Page, selector: str) -> tuple[float, float, float]:
    """How much of what is there can be seen, how many square pixels of it the card covers, and how many pixels of its height are seen."""
    share, covered, high = page.locator(selector).evaluate_all(SEEN, streamlit_inside.BLOCK)
    return share, covered, high


def title_is_seen(page: Page, step: TourStep, *, told: bool = False) -> bool:
    """Whether the first title, or once the step has told all the picture's own, is in sight; that of the film stands below it."""
    own = ".st-key-board .board .title" if step.picture == "board" else ".figure-title:not(.repeated)"
    moves = page.locator(step.pictures).locator("h3.title")  # of a picture on the stage
    titles = moves if moves.count() else page.locator(own if page.locator(own).count() else f"{streamlit_inside.BLOCK} h2")
    begins = page.locator(step.pictures).first.bounding_box() if told else None  # some pictures come with the deed
    boxes = [box for box in (one.bounding_box() for one in titles.all()) if box]
    above = [box for box in boxes if begins and box["y"] <= begins["y"]]  # the first may stand below the picture
    title = max(above, key=lambda box: box["y"]) if above else boxes[0]
    card_top = page.locator(".st-key-tour").last.bounding_box()
    assert card_top is not None
    foot = card_top["y"] if card_top["x"] < 1 else card_top["y"] + 10_000
    return step.part == "opening" or 50 < title["y"] < min(foot, page.viewport_size["height"]) - title["height"]


LEAST = 1 / 3  # of the picture to look at: where that much can be seen beside its control, nothing moves
MOST = "() => (main => main.scrollHeight - main.clientHeight)(document.querySelector('[data-testid=stMain]'))"
TOP = f"() => document.querySelector('{streamlit_inside.MAIN}').scrollTop"
SIZES = ((1280, 720), (1280, 800))


@LONG
@pytest.mark.parametrize(("number", "size"), some(list(product(NUMBERS, SIZES)), (18, SIZES[0])))
def test_the_card_covers_nothing_that_it_points_at(
    visit: Visit, number: int, size: tuple[int, int], record_property: Callable[[str, str], None]
) -> None:
    step = STEPS[number - 1]
    page = at_step(visit, number, width=size[0], height=size[1])
    asked, covered, _ = seen(page, deeds.selector(step.done[0]))
    assert asked > (0.6 if on_board(step) else 0.8) and covered == 0, "what is to be done"
    before, covered, _ = seen(page, step.pictures)
    assert covered == 0 and title_is_seen(page, step)
    at = page.evaluate(TOP)
    do(page, step)
    expect(card(page)).to_contain_text("Now you know")
    stays, covered, _ = seen(page, deeds.selector(step.done[-1]))
    assert stays > (0.5 if on_board(step) else 0.95) and covered == 0, "what was pressed can be pressed again"
    verdict = page.locator("[class*=st-key-card-guess] [data-testid=stAlert]")
    if any(deed.startswith("guess.") for deed in step.done):
        expect(verdict.first).to_be_in_viewport(ratio=1)
    after, covered, _ = seen(page, step.pictures)
    assert after > 0.2 and title_is_seen(page, step), "the picture has begun"
    most = page.evaluate(MOST)  # a page that has become shorter cannot stay where it was
    assert not before >= LEAST or abs(page.evaluate(TOP) - min(at, most)) < 100, "nothing jumps"
    assert covered == 0 and page.locator("[data-testid=stException]").count() == 0
    expect(card(page)).to_be_in_viewport(ratio=1)
    expect(going_on(page).or_(page.get_by_role("button", name="What now?"))).to_be_in_viewport(ratio=1)
    record_property(
        TABLE + "steps of the tour", f"{size}: {number:2} {step.page}: {before:4.0%} of the picture, then {after:.0%}"
    )


@LONG
@pytest.mark.parametrize("number", some(NUMBERS, 1, 13))
def test_on_a_telephone_the_sheet_leaves_what_it_points_at(visit: Visit, number: int) -> None:
    step = STEPS[number - 1]
    page = at_step(visit, number, width=390, height=844)
    asked, covered, _ = seen(page, deeds.selector(step.done[0]))
    assert (asked > 0.4 if on_board(step) else asked > 0.95 and covered == 0) and title_is_seen(page, step)
    do(page, step)
    expect(card(page)).to_contain_text("Now you know")
    share, _, high = seen(page, step.pictures)
    assert share > 0.95 or high >= 120, "all of a small picture, or the picture has begun"
    box = card(page).bounding_box()
    assert box is not None and box["height"] <= 0.36 * 844 and title_is_seen(page, step, told=True)


@LONG
def test_the_film_waits_for_a_guess_and_then_answers(visit: Visit) -> None:
    page = at_step(visit, 1)
    film = page.locator(".opening")
    words = film.locator(".lane .token").filter(visible=True)
    expect(film.locator(".lane .share").first).to_be_visible()
    expect(words).to_have_count(0)  # how sure they are, but not of which words
    expect(film.locator(".gap")).to_be_in_viewport(ratio=1)
    page.wait_for_timeout(2000)
    expect(words).to_have_count(0)  # and they do not come by themselves
    film.get_by_role("button", name="hungry", exact=True).click()
    expect(card(page)).to_contain_text("Now you know")
    assert words.count() > 8
    expect(film.locator(".guessed").first).to_be_visible()
    page.get_by_role("button", name="One missing word").click()
    expect(page.get_by_text("One missing word · 1 of 2 done")).to_be_visible()


@LONG
def test_who_leaves_by_the_menu_goes_where_it_says_and_an_address_leads_to_its_step(visit: Visit) -> None:
    page = visit("/heads?step=5")
    expect(page).to_have_url(re.compile(r"/vectors\?.*step=5"))
    expect(page.locator("[data-toured='5']")).to_be_in_viewport()
    page.get_by_role("button", name="Inside").click()
    page.get_by_role("menuitem", name="Heads and layers").or_(page.get_by_role("link", name="Heads and layers")).first.click()
    expect(card(page)).to_contain_text("The tour continues on another page.")
    expect(page).to_have_url(re.compile("/heads"))
    card(page).get_by_role("link", name="Go on with the tour").click()
    expect(page).to_have_url(re.compile(r"/vectors\?.*step=5"))
    expect(page.locator("[data-toured='5']")).to_be_in_viewport()


SAME = [number for number, (step, after) in enumerate(pairwise(STEPS), 1) if step.page == after.page]


@LONG
@pytest.mark.parametrize("number", some(SAME, 16))
def test_what_is_done_after_next_on_the_same_page_counts(visit: Visit, number: int) -> None:
    """The step that was left stays in no address, so that the first deed neither goes back nor is lost."""
    page = at_step(visit, number)
    going_on(page).click()
    expect(card(page)).to_contain_text(f"{number + 1} of {len(STEPS)}")
    expect(page).to_have_url(re.compile(rf"step={number + 1}\b"))
    expect(page.locator(f"[data-toured='{number + 1}']")).to_be_attached()
    still(page)
    do(page, STEPS[number])
    expect(card(page)).to_contain_text("Now you know")
    expect(card(page)).to_contain_text(f"{number + 1} of {len(STEPS)}")
    card(page).get_by_role("button", name="Previous step").click()
    expect(card(page)).to_contain_text(f"{number} of {len(STEPS)}")
    still(page)
    going_on(page).click()
    expect(card(page)).to_contain_text(f"{number + 1} of {len(STEPS)}")
    expect(card(page)).to_contain_text("Now you know")


BOXES = ("Your sentence", "Your text, a few sentences", "Your text", "The beginning", "Words to watch", "Word")


@LONG
@pytest.mark.parametrize("number", some(NUMBERS, 12))
def test_a_touch_and_another_sentence_lose_nothing_on_the_smallest_telephone(visit: Visit, number: int) -> None:
    page = at_step(visit, number, width=320, height=568)
    share, covered, _ = seen(page, deeds.selector(STEPS[number - 1].done[0]))
    assert share > 0 and covered <= 0.5 * 320 * 568
    page.locator("h1").click(position={"x": 5, "y": 5}, force=True)
    page.mouse.wheel(0, 200)
    box = next((one for label in BOXES for one in page.get_by_label(label, exact=True).all() if one.is_visible()), None)
    if box is not None:
        box.fill("Tom was tired.")
        box.press("Enter")
        still(page)
        expect(box).to_have_value("Tom was tired.")
    expect(card(page)).to_contain_text(f"{number} of {len(STEPS)}")
    expect(page).to_have_url(re.compile(rf"step={number}\b"))
    assert page.locator("[data-testid=stException]").count() == 0
    expect(card(page)).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@LONG
def test_two_tabs_keep_their_own_steps_and_the_last_card_leads_on(visit: Visit) -> None:
    first, last = at_step(visit, 7), at_step(visit, len(STEPS))
    last.get_by_role("button", name="What now?").click()
    expect(card(last)).to_contain_text("The end")
    expect(card(last)).not_to_contain_text("Send this link")  # nobody else could open an address of this machine
    do(first, STEPS[6])
    expect(card(first)).to_contain_text("Now you know")
    expect(card(first)).to_contain_text(f"7 of {len(STEPS)}")
    other = visit("/?step=1&part=opening")
    expect(card(other)).to_contain_text(f"1 of {len(STEPS)}")
    card(last).get_by_role("link", name="Core hour").click()
    expect(last.get_by_role("button", name="Show everything")).to_be_visible()
    expect(last).to_have_url(re.compile("core=1"))


@pytest.mark.skipif(not ALL, reason="a walk through the whole tour takes a minute: make test-all")
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_tour_is_walked_to_its_end(visit: Visit, mode: str, record_property: Callable[[str, str], None]) -> None:
    took: list[float] = []
    page = visit("/", mode)
    page.get_by_role("link", name="Guided tour").first.click()
    for number, step in enumerate(STEPS, 1):
        expect(page.get_by_text(f"{number} of {len(STEPS)}").first).to_be_visible(timeout=120_000)
        begun = time.perf_counter()
        expect(page.get_by_text(step.mark).first).to_be_attached(timeout=120_000)
        took.append(time.perf_counter() - begun)
        still(page)
        assert page.locator("[data-testid=stException]").count() == 0, step.says
        if number < len(STEPS):
            going_on(page).click()
    record_property(
        TABLE + "seconds",
        f"the tour, {mode}: {len(STEPS)} steps, what to see stands there after {statistics.median(took):.2f} s, longest {max(took):.2f} s",
    )
