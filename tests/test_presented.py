"""Presenting: one picture a screen, whole at every size of a projector, which an answer does not move; the keys of the presenter."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from conftest import LONG, Visit, some
from playwright.sync_api import Page, expect
from test_frame_browser import rested

from explorer.app.lessons import LESSONS

pytestmark = pytest.mark.browser
SIZES = ("1920 × 1080", "1280 × 720", "1024 × 768")
PARTS = ("start?part=another-sentence", "attention?part=why-d", "elmo?part=mix-by-hand", "heads?part=exercises",
         "positions?part=length", "training?part=in-the-page")  # fmt: skip
OUTSIDE = (Path(__file__).parent / "outside.js").read_text("utf-8").partition("\n")[2]
PLACE = """() => [...document.querySelectorAll("[data-scene=picture] .main-svg")].slice(0, 1)
  .map(one => one.getBoundingClientRect()).map(box => [box.left, box.top, box.right].map(Math.round))"""
SMALL = """() => [...document.querySelectorAll("[data-scene=picture] .main-svg :is(text, tspan)")]
  .filter(({ style, textContent, ownerSVGElement: drawn }) => style.fontSize && textContent.trim()
    && parseFloat(style.fontSize) * drawn.getBoundingClientRect().width / drawn.width.baseVal.value
      < 22 * Math.min(1, innerHeight / 1080) - 0.1)
  .map(one => [one.style.fontSize, one.textContent])"""
AGAIN = """() => [...document.querySelectorAll("[data-scene=words] [class*='st-key-card-guess'] :is(div, p)")]
  .filter(one => getComputedStyle(one).visibility === 'visible').map(one => one.textContent)"""
FIRST = """() => /^(1 of|$)/.test(document.querySelector('[data-count]').textContent)
  && !document.querySelector('[data-scene=words]')?.scrollLeft"""


def settled(page: Page) -> None:
    """Wait until a scene is on the screen and fits."""
    expect(page.locator("[data-scene=picture], [data-scene=words]").first).to_be_attached()
    rested(page)
    page.wait_for_function(f"() => document.querySelector('[data-scene]') && !({OUTSIDE})().length", timeout=20_000)


def fits(page: Page, where: str) -> None:
    """Whether nothing of any scene of this part is outside of the screen."""
    pictured = False
    for number in count(1):  # words may take several screens of one scene
        try:
            settled(page)
        except Exception:  # noqa: BLE001  whatever was waited for: the assertion says what is outside
            assert page.evaluate(OUTSIDE) == [], f"{where}, screen {number}"
        assert page.evaluate(SMALL) == [], f"{where}, screen {number}: small type"
        assert not pictured or page.evaluate(AGAIN) == [], f"{where}, screen {number}: a question that stood beside a picture"
        pictured |= page.locator("[data-scene=picture]").count() > 0
        page.keyboard.press("n")
        if page.evaluate(FIRST):
            return
        assert number < 50, f"{where}: no way back to the first scene"


def place(page: Page) -> list[Any]:
    """Where the picture is, once its chart has the size that the screen gave it."""
    before, now = None, page.evaluate(PLACE)
    while now != before:
        page.wait_for_timeout(400)
        before, now = now, page.evaluate(PLACE)
    return list(now)


def presented(visit: Visit, lesson: str, size: str, more: str = "present=1") -> Page:
    name, _, query = lesson.partition("?")
    width, height = map(int, size.split(" × "))
    page = visit(f"/{name}?{query}&{more}".replace("?&", "?").replace("/start?", "/?"), width=width, height=height)
    expect(page.locator(".st-key-shown")).to_be_attached()
    rested(page)
    return page


@LONG
@pytest.mark.parametrize("size", some(SIZES, "1280 × 720"))
@pytest.mark.parametrize("lesson", some([*LESSONS, *PARTS], PARTS[1]))
def test_every_picture_is_whole_before_and_after_its_answer_which_does_not_move_it(
    visit: Visit, lesson: str, size: str
) -> None:
    page = presented(visit, lesson, size)
    while True:
        fits(page, page.url)
        before = place(page)
        page.keyboard.press("a")
        rested(page)
        fits(page, f"{page.url}, answered")
        assert not before or place(page) == before, page.url
        page.keyboard.press("a")
        rested(page)
        here = page.url
        page.keyboard.press("PageDown")
        page.wait_for_timeout(1000)
        rested(page)
        if "?part=" in lesson or page.url == here:
            return


@LONG
def test_the_keys_of_the_presenter_work_after_typing_and_bring_back_the_controls(visit: Visit) -> None:
    page = presented(visit, "attention?part=both-masks", "1280 × 720")
    settled(page)
    box = page.get_by_label("Your sentence")
    expect(box).to_be_hidden()
    expect(page.locator("[data-scene=picture] .main-svg").first).to_be_attached()
    before = place(page)
    page.keyboard.press("c")
    expect(box).to_be_visible()
    assert place(page) == before, "the picture stays where it is"
    box.fill("The dog saw a")
    page.keyboard.type("n")
    expect(box).to_have_value("The dog saw an")  # a letter in a box is no key of the presenter
    box.press("Enter")
    expect(page.locator("[data-line]")).to_contain_text("The dog saw an")
    rested(page)
    expect(box).to_be_focused()
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("part=why-d"))


@LONG
def test_a_short_question_stands_in_a_line_above_its_figure_which_has_the_whole_width(visit: Visit) -> None:
    page = presented(visit, "training", "1920 × 1080")
    settled(page)
    expect(page.locator("[data-scene=side][data-above]")).to_contain_text("Predict.")
    [(left, top, right)] = place(page)
    assert left < 20 and right > 1890 and top < 240


@LONG
def test_a_part_whose_words_all_stand_beside_its_pictures_has_no_screen_of_words(visit: Visit) -> None:
    page = presented(visit, "start?part=another-sentence", "1024 × 768")
    settled(page)
    expect(page.locator("[data-scene=side]")).to_contain_text("Predict.")
    expect(page.locator("[data-count]")).to_be_empty()


@LONG
def test_a_chart_that_missed_a_change_of_its_size_is_told_of_it_once_more(visit: Visit) -> None:
    page = presented(visit, "attention?part=why-d", "1280 × 720")
    settled(page)
    before = place(page)
    widen = "document.querySelectorAll('[data-scene=picture] .main-svg').forEach(one => one.setAttribute('width', 2000))"
    assert page.evaluate(f"() => {{ {widen}; return ({OUTSIDE})(); }}") != []
    page.keyboard.press("n")
    page.wait_for_function(f"before => JSON.stringify(({PLACE})()) === JSON.stringify(before)", arg=before, timeout=20_000)


@LONG
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_folded_part_is_whole(visit: Visit, lesson: str, size: str) -> None:
    from test_frame_browser import folded_of, to_folded

    width, height = map(int, size.split(" × "))
    page = visit(f"/{'' if lesson == 'start' else lesson}", width=width, height=height)
    rested(page)
    for title in folded_of(page):
        to_folded(page, title)
        page.get_by_role("button", name="Present").click()
        rested(page)
        fits(page, f"{lesson}: {title}")
        page.get_by_role("button", name="Leave").click()
        rested(page)


@LONG
@pytest.mark.parametrize(
    "lesson",
    some(
        ("tokens", "families?part=masks", "training?part=snapshots", "decoding?part=greedy", "positions?part=shuffle"),
        "tokens",
        "decoding?part=greedy",
    ),
)
def test_a_figure_that_moves_fills_the_screen(visit: Visit, lesson: str) -> None:
    page = presented(visit, lesson, SIZES[0])
    settled(page)
    page.wait_for_function("""() => { const box = document.querySelector("[data-scene=picture]")?.getBoundingClientRect();
        return box && box.height > 0.75 * innerHeight && box.bottom <= innerHeight; }""")


def test_the_stations_of_a_board_are_named_on_the_wall(visit: Visit) -> None:
    page = presented(visit, "attention", SIZES[0])
    names = page.locator(".board[data-state=ready] .stations button")
    expect(names.last).to_be_in_viewport(ratio=0.99)
    assert names.count() > 10 and all(
        float(one.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")) >= 18 for one in names.all()
    )
    here = page.locator(".board[data-state=ready] .stations [aria-current]")
    before = here.inner_text()
    page.keyboard.press("ArrowRight")  # before anything on the page was clicked
    expect(here).not_to_have_text(before)
    page.keyboard.press("ArrowLeft")
    expect(here).to_have_text(before)


@LONG
def test_a_presented_what_if_has_its_matrix_beside_the_effect_which_a_click_changes(visit: Visit) -> None:
    page = presented(visit, "whatif", SIZES[0])
    settled(page)
    effect = page.locator("[data-scene=picture] .gtitle")
    expect(effect).to_contain_text("head 0 of layer 2")
    matrix = page.locator("[data-scene=side] [data-cells]")
    expect(matrix.get_by_role("button").first).to_be_in_viewport(ratio=1)
    matrix.get_by_role("button", name="layer 1, attention").click()
    expect(effect).to_contain_text("attention of layer 1")
    expect(matrix.get_by_role("button", name="layer 1, attention")).to_have_attribute("aria-pressed", "true")


@LONG
@pytest.mark.parametrize("size", [SIZES[0], "1920 × 1080"])
def test_a_tree_on_the_wall_has_its_last_scale_from_the_beginning_and_fills_the_wall_in_the_end(
    visit: Visit, size: str
) -> None:
    """Nothing of it moves while columns come, nor when texts end: their table is there before them."""
    page = presented(visit, "decoding?part=beams", size)
    settled(page)
    says = page.locator(".decoder .says").first
    expect(says).to_contain_text("token 4:")
    places = """frame => Object.fromEntries([...frame.querySelectorAll(".node, .tables table")].map(one => {
        const { x, y, width, height } = one.getBoundingClientRect(); return [one.dataset.key ?? "table", [x, y, width, height]]; }))"""
    page.wait_for_timeout(1000)  # the screen gives it its room
    before = page.locator(".decoder").evaluate(places)
    page.get_by_role("button", name="To the end").first.click()
    expect(says).to_contain_text("0 texts go on")
    page.wait_for_timeout(1000)
    after = page.locator(".decoder").evaluate(places)
    assert len(after) > len(before) > 10 and "table" in before
    for key, place in before.items():
        kept = slice(0, 2) if key != "table" else slice(0, 4)  # the best text has a thicker border
        assert after[key][kept] == pytest.approx(place[kept], abs=1.5), key
    width, height = map(int, size.split(" × "))
    assert max(x + wide for x, _, wide, _ in after.values()) > 0.9 * width
    assert 0.75 * height < max(y + high for _, y, _, high in after.values()) < height
    page.get_by_role("button", name="Again", exact=True).click()
    expect(says).to_contain_text("token 1:")


@LONG
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("part", ["tokens?part=learn", "positions?part=shuffle"])
def test_a_figure_that_moves_fills_the_height_of_the_wall_before_and_after_an_answer(
    visit: Visit, part: str, size: str
) -> None:
    page, height = presented(visit, part, size), int(size.split(" × ")[1])
    settled(page)
    for key in ("", "a"):
        if key:
            page.keyboard.press(key)
            settled(page)
        page.wait_for_timeout(1200)
        lowest = max(
            one.bounding_box()["y"] + one.bounding_box()["height"] for one in page.locator(".staged .moving > *").all()
        )
        assert 0.78 * height < lowest < height


@LONG
def test_a_shuffled_text_on_the_wall_has_a_line_from_each_token_to_its_new_place(visit: Visit) -> None:
    page = presented(visit, "positions?part=shuffle", SIZES[0])
    settled(page)
    page.get_by_role("button", name="To the end").first.click()
    expect(page.locator(".staged .title")).to_have_text("The tokens shuffled")
    page.wait_for_timeout(900)
    ends = page.locator(".both .ways").evaluate("""svg => { const { left, width } = svg.getBoundingClientRect();
        return [...svg.children].map(way => left + way.getAttribute("d").split(" ").at(-2) / 100 * width); }""")
    chips = page.locator(".both .chips").last.locator(".chip")
    places = {chip.get_attribute("data-key"): chip.bounding_box() for chip in chips.all()}
    for number, end in enumerate(ends):
        box = places[f"chip {number}"]
        assert box is not None and abs(box["x"] + box["width"] / 2 - end) < 3


TYPE = """() => [...document.querySelectorAll(":is([data-scene=side] [class*='st-key-card-guess'], "
  + "[class*='st-key-card-guess'][data-scene=side]) :is(.stMarkdown, [data-testid=stRadioOption]) p")]
  .filter(one => one.offsetHeight).map(one => { const side = one.closest("[data-scene=side]");
  return parseFloat(getComputedStyle(one).fontSize) * side.getBoundingClientRect().width / side.offsetWidth; })"""


@LONG
@pytest.mark.parametrize("lesson", ["families", "training"])
def test_the_last_row_reads_a_question_and_its_options(visit: Visit, lesson: str) -> None:
    page = visit(f"/{lesson}?present=1", width=1920, height=1080)
    page.wait_for_selector("[data-scene=side]")
    page.wait_for_function(f"() => {{ const sizes = ({TYPE})(); return sizes.length > 2 && Math.min(...sizes) > 23.9; }}")
