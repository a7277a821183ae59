"""The opening of the front page: its numbers against Python's, its film, the hands that stop it, and what is typed into it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from conftest import ALL, LONG, Visit, long, some
from offline import address_of, empty_page
from playwright.sync_api import BrowserContext, Page, expect
from test_accessibility import audit, judged

import explorer as ex
from explorer.analysis.architectures import span_of, word_offsets, word_prediction
from explorer.app import tour
from explorer.app.lessons.start import questions as lesson
from explorer.app.opening_record import opening_record
from explorer.models.packing import packed_model
from explorer.records import WordPrediction, softmax
from explorer.views.board.module import module
from explorer.views.opening.module import opening_module, opening_style

NAMES = ("bert", "gpt2", "bart", "elmo")
CLOSE = 1e-3  # of a probability: weights travel in 16 bits, as they are shipped
TEXTS = (
    lesson.TEXT,
    "My sister didn't find the key, so she was sad.",
    "Zebra photosynthesis and “Zürich”",
    "مرحبا بالعالم يا صديقي",
    "Hello",
    "The " + "very " * 58 + "tired dog.",
)
WINDOWS = ((1280, 640), (390, 700), (320, 568), (1920, 1080))
BEATS = (0.5, 4.0, 12.0, 14.5, 18.0, 22.0, 26.0, 30.0, 35.0)
O = "globalThis.explorerOpening"  # noqa: E741


@cache
def record() -> dict[str, Any]:
    return opening_record(
        {name: ex.load(name, device="cpu") for name in NAMES}, dict.fromkeys(NAMES, ""), lesson.TEXT, lesson.WORD
    )


@cache
def packed(name: str) -> str:
    """The address of a model."""
    data = packed_model(ex.load(name, device="cpu"))
    assert data is not None
    return address_of(data)


SHOWN = """async ([record, script, board, models, told]) => {
  const address = (letters, type) => URL.createObjectURL(new Blob([letters], { type }));
  record.script = address(board, "text/javascript");
  for (const lane of record.lanes) lane.address = models[lane.name] ?? "blob:nothing";
  const { Opening } = await import(address(script, "text/javascript"));
  globalThis.typed = [];
  globalThis.explorerOpening = new Opening(document.getElementById("here"), record, told, { typed: (now) => typed.push(now) });
}"""


DRAWN = """() => explorerOpening.lanes.lanes.map(({ model, bars, says, line }) => {
  const bar = ({ children: [token, track, number] }) => ({ text: token.textContent, right: token.classList.contains("right"),
    share: Number(track.style.getPropertyValue("--share")), number: number.textContent });
  return { name: model.name, says: says.textContent, read: [...line.querySelectorAll(".word.read")].map((word) => word.textContent),
    sides: [...bars.children].map((list) => [...list.children].map(bar)) };
})"""
OUTSIDE = """() => [...explorerOpening.root.querySelectorAll("*")].filter((one) => {
  const { bottom, right, left, width } = one.getBoundingClientRect();
  const seen = one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  if (one.closest(".unheard, clipPath, [opacity='0']")) return false;
  return seen && width && (bottom > innerHeight + 1 || right > innerWidth + 1 || left < -1);
}).map((one) => one.outerHTML.slice(0, 90))"""


@contextmanager
def openings(window: BrowserContext) -> Iterator[Callable[..., Page]]:
    """What shows the opening on a page of its own, whose models run in it; no error may be left in its console."""
    pages, faults = list[Page](), list[str]()

    def shown(
        width: int = 1280, height: int = 640, *, mode: str = "light", motion: str = "no-preference", models: tuple[str, ...] = NAMES
    ) -> Page:  # fmt: skip
        page = empty_page(
            window,
            f"<style>{opening_style()} body {{ margin: 0; padding: 0 16px; }} h1 {{ margin: 0; height: 58px; }}</style>"
            "<main><h1>A sentence</h1><div id=here></div></main>",
        )
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=mode, reduced_motion=motion)  # type: ignore[arg-type]
        page.on("pageerror", lambda error: faults.append(str(error)))
        begin = {"text": lesson.TEXT, "word": lesson.WORD, "film": True, "mode": mode, "known": {"text": "", "words": []}}
        sent = {name: packed(name) for name in models}
        page.evaluate(SHOWN, [record(), opening_module(), module(live=True), sent, begin])
        return page

    yield shown
    assert faults == []
    for page in pages:
        page.close()


@pytest.fixture
def shown(window: BrowserContext) -> Iterator[Callable[..., Page]]:
    with openings(window) as show:
        yield show


@pytest.fixture(scope="module")
def typing(window: BrowserContext) -> Iterator[Page]:
    """One opening for all that is typed."""
    with openings(window) as show:
        yield show()


def typed(page: Page, text: str, gap: int | None = None) -> list[dict[str, Any]]:
    """What the four lanes answer to a sentence, with the gap on a word of it."""
    page.evaluate(
        f"""async ([text, gap]) => {{ const o = {O}; o.box.value = text; o.type(text); if (gap !== null) o.move(gap);
        await new Promise((rested) => setTimeout(rested)); while (o.root.dataset.waiting) await new Promise((r) => setTimeout(r, 5)); }}""",
        [text, gap],
    )
    return lanes(page)


def lanes(page: Page) -> list[dict[str, Any]]:
    """The bars of each lane, as they are drawn."""
    drawn: list[dict[str, Any]] = page.evaluate(DRAWN)
    return drawn


def agrees(lane: dict[str, Any], prediction: WordPrediction) -> None:
    """The bars of a lane are a prediction's: its most probable tokens, and the hidden one."""
    assert len(lane["sides"]) == len(prediction.shares)
    for rows, shares, truth in zip(lane["sides"], prediction.shares, prediction.truth, strict=True):
        wanted = (
            shares[:3] if any(row["right"] for row in rows[:2]) else [*shares[:2], truth if rows[2]["right"] else shares[2]]
        )
        np.testing.assert_allclose([row["share"] for row in rows], wanted, atol=CLOSE)
        for row in rows:
            assert row["number"] == ("< 1%" if 0 < row["share"] < 0.005 else f"{int(100 * row['share'] + 0.5)}%")


def predictions(text: str, span: tuple[int, int]) -> dict[str, WordPrediction]:
    return {name: word_prediction(ex.load(name, device="cpu"), text, span, top=3) for name in NAMES}


@LONG
def test_the_record_is_what_python_computes() -> None:
    spans = word_offsets(lesson.TEXT)
    for n in range(len(spans)) if ALL else (0, 2, 9):
        for name, prediction in predictions(lesson.TEXT, spans[n]).items():
            answer = record()["answers"][name][n]
            assert answer["right"] == prediction.right
            for side, texts, shares, truth in zip(
                answer["sides"], prediction.texts, prediction.shares, prediction.truth, strict=True
            ):
                assert tuple(side["texts"]) == texts
                np.testing.assert_allclose([*side["shares"], side["truth"]], [*shares, truth], rtol=1e-4, atol=1e-7)


@LONG
def test_a_guess_is_as_probable_as_the_word_itself_would_be() -> None:
    span = span_of(lesson.WORD, lesson.TEXT)
    assert span is not None and lesson.WORD in record()["chips"] and len(set(record()["chips"])) == 4
    for chip, guessed in enumerate(record()["chips"]):
        text = lesson.TEXT[: span[0]] + guessed + lesson.TEXT[span[1] :]
        for name in NAMES:
            prediction = word_prediction(ex.load(name, device="cpu"), text, (span[0], span[0] + len(guessed)))
            if shares := record()["yours"][name][chip]:
                np.testing.assert_allclose(shares, prediction.truth, rtol=1e-3, atol=1e-6)


@LONG
def test_the_film_shows_one_row_of_the_formula_of_attention() -> None:
    film = record()["inside"]
    text = lesson.TEXT.replace(lesson.WORD, "[MASK]")
    trace = ex.trace(ex.load("bert", device="cpu"), text)
    attention, row, head = trace.attention[film["layer"]], film["row"], film["head"]
    assert (
        trace.source.texts[row] == "[MASK]" and attention.q is not None and attention.k is not None and attention.v is not None
    )
    scores = attention.q[head, row] @ attention.k[head].T / np.sqrt(attention.q.shape[-1])
    np.testing.assert_allclose(film["scores"], scores, atol=1e-3)
    np.testing.assert_allclose(film["weights"], softmax(scores[None])[0], atol=1e-3)
    for one, mixed in enumerate(film["mixed"]):
        np.testing.assert_allclose(mixed, attention.weights[one, row] @ attention.v[one], atol=1e-3)
    best = trace.outputs["lm"][row].argmax()
    without = {
        (layer, head): softmax(ex.trace("bert", text, edits=[ex.SilenceHead("encoder", layer, head)]).outputs["lm"])[row, best]
        for layer in range(len(trace.attention))
        for head in range(attention.heads)
    }
    assert min(without, key=lambda one: without[one]) == (film["layer"], film["head"]), "the one that matters most"
    assert film["without"] == pytest.approx(without[film["layer"], film["head"]], abs=1e-5) and film["without"] < 0.5
    for weights, attention in zip(film["all"], trace.attention, strict=True):
        assert attention.q is not None and attention.k is not None
        every = softmax(attention.q @ attention.k.swapaxes(-1, -2) / np.sqrt(attention.q.shape[-1]))
        np.testing.assert_allclose(weights, 100 * every, atol=0.51)
    top, bert = record()["floors"][-1], predictions(lesson.TEXT, word_offsets(lesson.TEXT)[record()["gap"]])["bert"]
    assert [guess["text"] for guess in top] == list(bert.texts[0])
    np.testing.assert_allclose([guess["share"] for guess in top], bert.shares[0], rtol=1e-4)


@LONG  # the bars of a film are those of a typed sentence, which test_what_is_typed_is_answered_as_python_answers holds
@pytest.mark.browser
def test_within_five_seconds_every_lane_has_its_bars(shown: Callable[..., Page]) -> None:
    page = shown()
    page.wait_for_function(f"{O}.film.time >= 4.8")
    assert page.evaluate(f"{O}.film.time") < 5 or page.evaluate(f"{O}.film.playing"), "a slow machine's film is slow as well"
    page.evaluate(f"{O}.film.stop(true)")
    spans = word_offsets(lesson.TEXT)
    for lane, prediction in zip(lanes(page), predictions(lesson.TEXT, spans[record()["gap"]]).values(), strict=True):
        agrees(lane, prediction)
        before = [lesson.TEXT[slice(*span)] for span in spans[: record()["gap"]]]
        after = [lesson.TEXT[slice(*span)] for span in spans[record()["gap"] + 1 :]]
        assert lane["read"] == before + (after if lane["name"] != "gpt2" else []), "dark is what it may read"


@pytest.mark.browser
@pytest.mark.parametrize("touch", ("pointer", *long("key", "tap")))
def test_a_touch_stops_the_film_in_every_beat_and_it_stays_stopped(shown: Callable[..., Page], touch: str) -> None:
    page = shown()
    for time in BEATS if ALL else BEATS[1::3]:
        page.evaluate(f"(time) => {{ {O}.own = false; {O}.film.time = time; {O}.film.play(); }}", time)
        page.wait_for_function(f"{O}.film.time > {time}")
        if touch == "key":
            page.keyboard.press("Shift")
        else:
            page.mouse.click(2, 2)
        stopped = page.evaluate(f"[{O}.film.playing, {O}.film.time, {O}.root.dataset.view]")
        assert not stopped[0] and stopped[2] == ("lanes" if time < 11 else "inside")
        page.wait_for_timeout(150)
        assert page.evaluate(f"[{O}.film.playing, {O}.film.time]") == stopped[:2]
    play = page.get_by_role("button", name="Play the film")
    play.click()
    expect(page.get_by_role("button", name="Stop the film")).to_be_visible()
    page.get_by_role("button", name="Stop the film").click()
    expect(play).to_be_visible()


@pytest.mark.browser
def test_the_film_waits_after_the_four_answers_and_the_button_looks_inside(shown: Callable[..., Page]) -> None:
    page = shown()
    page.evaluate(f"{O}.film.time = 10.5")
    page.wait_for_function(f"!{O}.film.playing")
    assert 10.5 < page.evaluate(f"{O}.film.time") < 11.1 and page.evaluate(f"{O}.root.dataset.view") == "lanes"
    for choose in (False, True):
        if choose:
            page.locator(".chips .chip").first.click()
        page.get_by_role("button", name="Play the film").click()
        page.wait_for_function(f"{O}.root.dataset.view === 'inside' && {O}.film.playing")
        page.evaluate(f"{O}.film.stop(true)")
        page.get_by_role("button", name="Four answers").click()


QUESTION = "Language models learn by guessing a missing word. What is your guess?"


def another_chip() -> str:
    """A word to guess that is not the one in the sentence."""
    return str(next(chip for chip in record()["chips"] if chip != lesson.WORD))


@pytest.mark.browser
def test_the_question_stays_until_the_answer_which_stands_in_the_gap(shown: Callable[..., Page]) -> None:
    page = shown()
    gap, line = page.locator(".gap"), page.locator(".opening .line")
    for time in (0.1, 4, 5.5, 9.4):
        page.evaluate(f"{O}.show({time})")
        assert (line.inner_text(), gap.inner_text().strip("↔")) == (QUESTION, "")
    for time in (9.6, 20, 45):
        page.evaluate(f"{O}.show({time})")
        expect(gap).to_have_text(lesson.WORD)
    blue = page.locator(".lane .fills").first.evaluate("(e) => getComputedStyle(e).color")
    assert gap.evaluate("(e) => getComputedStyle(e).color") == blue
    guess = another_chip()
    page.get_by_role("button", name=guess, exact=True).click()
    expect(gap).to_have_text(guess)
    assert gap.evaluate("(e) => getComputedStyle(e).color") != blue, "a guess has the colour of the hand"
    typed(page, "The dog ran home.")
    expect(gap).to_have_text("")


BARS = """() => {
  const { svg, inside } = explorerOpening.picture;
  return [...svg.querySelectorAll(".score")].map((bar, n) => {
    const of = (name) => Number(bar.getAttribute(name)), numbers = [];
    for (let e = bar.nextElementSibling; e.matches(".told"); e = e.nextElementSibling)
      if (Number(e.getAttribute("opacity"))) numbers.push(e.textContent);
    const { tokens, scores, weights } = inside, drawn = { x: of("x"), width: of("width"), fill: bar.getAttribute("fill"), numbers };
    return { token: tokens[n], score: scores[n], weight: weights[n], ...drawn };
  });
}"""


@LONG
@pytest.mark.browser
def test_scores_below_zero_are_gone_before_weights_grow_and_a_number_is_that_of_its_bar(shown: Callable[..., Page]) -> None:
    page, line = shown(), ".opening .line"
    said = dict[float, str]()
    for time in (19.5, 20.4, 20.85, 21.4, 22.4):
        page.evaluate(f"{O}.show({time})")
        bars, said[time] = page.evaluate(BARS), page.locator(line).inner_text()
        left = min(bar["x"] for bar in bars)
        zero = next(bar["x"] for bar in bars if bar["score"] > 0)
        if time > 20.8:
            assert all(bar["x"] >= zero - 0.01 for bar in bars if bar["width"] > 0.01), (time, "nothing is left of zero")
            assert {bar["fill"] for bar in bars if bar["score"] < 0} <= {bar["fill"] for bar in bars if bar["score"] > 0}
        numbers = {bar["token"]: bar["numbers"] for bar in bars if bar["numbers"]}
        if time == 19.5:
            assert numbers and all(
                numbers[bar["token"]] == [f"{bar['score']:.1f}".replace("-", "−")] for bar in bars if bar["numbers"]
            )
            assert left < zero
        elif time == 22.4:
            wide = {bar["token"]: bar["width"] / bar["weight"] for bar in bars}
            assert np.ptp([*wide.values()]) < 1 and numbers
            shares = {bar["token"]: "< 1%" if bar["weight"] < 0.005 else f"{int(100 * bar['weight'] + 0.5)}%" for bar in bars}
            assert all(numbers[token] == [shares[token]] for token in numbers)
        else:
            assert numbers == {}, "a bar on its way has no number"
    assert said[20.85].startswith("Compare") and said[21.4] == "Weigh: scores become weights that sum to one."
    assert said[22.4].startswith(said[21.4])


@LONG
@pytest.mark.browser
def test_the_film_follows_the_word_that_the_gap_weighs_most(shown: Callable[..., Page]) -> None:
    page, film = shown(), record()["inside"]
    words = [n for n, token in enumerate(film["tokens"]) if n != film["row"] and token.isalpha() and len(token) >= 4]
    follows = max(words, key=lambda n: film["weights"][n])
    word = film["tokens"][follows]
    page.evaluate(f"{O}.show(18.5)")
    assert page.locator(".opening .line").inner_text().endswith(f"“{word}”: {film['scores'][follows]:.1f}.")
    page.evaluate(f"{O}.show(22.5)")
    assert page.locator(".opening .line").inner_text().endswith(f"“{word}” gets {100 * film['weights'][follows]:.0f}%.")
    colour = page.evaluate(f"{O}.paint.follow")
    for time in (18.5, 22.5, 27):
        page.evaluate(f"{O}.show({time})")
        assert [bar["token"] for bar in page.evaluate(BARS) if bar["fill"] == colour] == [word]
    assert page.locator(f".inside path[fill='{colour}']").count() == len(film["values"][follows])


WAITED = f"Number({O}.play.style.getPropertyValue('--waited'))"


@pytest.mark.browser
@pytest.mark.parametrize("hand", ("", "move", *long("key", "wheel", "choose", "moved before", "tour")))
def test_the_film_goes_on_by_itself_only_where_no_hand_was(shown: Callable[..., Page], hand: str) -> None:
    """It waits a while, which its button shows; whatever a visitor does ends that for good."""
    page = shown()
    if hand == "moved before":
        page.mouse.move(300, 300)
        page.mouse.move(320, 320)
    page.evaluate(f"{O}.film.time = Math.max({O}.film.time, 10.5)")
    page.wait_for_function(f"!{O}.film.playing")
    if hand != "moved before":
        page.wait_for_function(f"{WAITED} > 0.2")
    if not hand:
        page.wait_for_function(f"{O}.film.playing && {O}.root.dataset.view === 'inside'")
        assert page.evaluate(WAITED) == 0
        return
    does: dict[str, Callable[[], object]] = {
        "move": lambda: [page.mouse.move(x, 300) for x in (300, 320)],
        "key": lambda: page.keyboard.press("Shift"),
        "wheel": lambda: page.mouse.wheel(0, 1),
        "choose": lambda: page.locator(".chips .chip").first.click(),
        "moved before": lambda: None,
        "tour": lambda: page.evaluate(f"{O}.hear({{ ...{O}.told, film: false }})"),
    }
    does[hand]()
    page.wait_for_function(f"{WAITED} === 0")
    time = page.evaluate(f"{O}.film.time")
    page.evaluate(f"{O}.film.wait(0.1)")
    page.wait_for_timeout(500)
    assert page.evaluate(f"[{O}.film.playing, {O}.film.time, {O}.root.dataset.view]") == [False, time, "lanes"]


SETS_OUT = """() => {
  const box = (e) => { const { right, top, bottom } = e.getBoundingClientRect(); return [right, (top + bottom) / 2]; };
  const { lanes, picture } = explorerOpening, { line } = lanes.lanes.find(({ model }) => model.name === "bert");
  const at = new Map([...line.querySelectorAll(".word")].map((e) => [e.textContent.toLowerCase(), box(e)]));
  const names = [...picture.svg.querySelectorAll("text[text-anchor=end]")].filter((e) => at.has(e.textContent));
  return names.map((e) => box(e).map((value, n) => value - at.get(e.textContent)[n]));
}"""


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("width", (1280, 390))
def test_the_words_of_the_lane_go_into_the_column(shown: Callable[..., Page], width: int) -> None:
    page = shown(width, 700)
    page.evaluate(f"{O}.show(11.05)")
    away = page.evaluate(SETS_OUT)
    assert len(away) >= 5 and np.abs(away).max() < 4, "each sets out where it stands in the sentence"
    seen = page.locator(".lane .words").evaluate_all("(lines) => lines.map((e) => getComputedStyle(e).visibility)")
    assert seen == ["hidden", "visible", "visible", "visible"], "and is not there twice"
    page.evaluate(f"{O}.show(12.5)")
    assert np.abs(page.evaluate(SETS_OUT)).max() > 40


@LONG
@pytest.mark.browser
def test_it_plays_only_while_it_is_seen_and_once(shown: Callable[..., Page]) -> None:
    page = shown()
    page.wait_for_function(f"{O}.film.time > 0.2")
    page.evaluate(f"{O}.root.style.marginTop = '3000px'")
    page.wait_for_function(f"!{O}.film.seen")
    time = page.evaluate(f"{O}.film.time")
    page.wait_for_timeout(300)
    assert page.evaluate(f"{O}.film.time") == time
    page.evaluate(f"{O}.root.style.marginTop = ''")
    page.wait_for_function(f"{O}.film.time > {time}")
    page.evaluate(f"""() => {{ const o = {O}, told = o.told; o.end();
        globalThis.explorerOpening = new o.constructor(document.getElementById("here"), o.record, told); }}""")
    assert page.evaluate(f"[{O}.film.playing, {O}.own]") == [False, True], "it came back to a page that had seen it"


@LONG
@pytest.mark.browser
def test_reduced_motion_has_four_stills(shown: Callable[..., Page]) -> None:
    page = shown(motion="reduce")
    page.evaluate(f"{O}.film.wait(0.1)")
    page.wait_for_timeout(300)
    assert not page.evaluate(f"{O}.film.playing")
    seen = []
    for name in ("Four answers", "One head", "Layer by layer", "Your turn"):
        page.get_by_role("button", name=name).click()
        seen.append((page.evaluate(f"{O}.root.dataset.view"), page.locator(".line").inner_text()))
    page.wait_for_timeout(200)
    assert page.locator(".line").inner_text() == seen[-1][1] and len(set(seen)) == 4
    assert [view for view, _ in seen] == ["lanes", "inside", "inside", "lanes"]


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), some(WINDOWS, WINDOWS[1], WINDOWS[2]))
def test_nothing_is_below_the_fold_or_beside_the_window(shown: Callable[..., Page], width: int, height: int) -> None:
    page = shown(width, height, mode="dark" if width == 390 else "light")
    for time in (0, 4.4, 7.8, 9.2, 11, 15, 18.5, 24, 27, 39, 45):
        page.evaluate(f"{O}.show({time})")
        out = page.evaluate(OUTSIDE)
        assert out == [], time
        letters = page.locator(".line").inner_text()
        assert len(letters.split()) <= 13 and sum(any(c.isdigit() for c in word) for word in letters.split()) <= 1, letters
    assert page.evaluate(
        "document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth"
    )


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("mode", ("dark", *long("light")))
def test_it_is_readable_for_everybody(shown: Callable[..., Page], mode: str) -> None:
    page = shown(390, 700, mode=mode)
    for time in (4.4, 9.2, 24, 45):
        page.evaluate(f"{O}.show({time})")
        page.wait_for_timeout(400)  # words become dark
        assert [*judged(page), *audit(page)] == [], time


@pytest.mark.browser
@pytest.mark.parametrize("text", some(TEXTS, *TEXTS[2:4]))
def test_what_is_typed_is_answered_as_python_answers(typing: Page, text: str) -> None:
    spans = word_offsets(text)
    for gap in {0, len(spans) - 1, len(spans) // 2} if ALL else {len(spans) - 1}:
        answers = typed(typing, text, gap)
        for lane, (name, prediction) in zip(answers, predictions(text, spans[gap]).items(), strict=True):
            assert lane["says"] == "", name
            agrees(lane, prediction)
    shown = typing.evaluate(
        f"[...{O}.sentence.spans].filter((e) => e.querySelector('.dagger')).map((e) => e.firstChild.textContent)"
    )
    strange = {spot for name in NAMES for spot in ex.load(name, device="cpu").tokens(text).unseen_spans}
    wanted = [text[slice(*span)] for span in spans if any(from_ < span[1] and to > span[0] for from_, to in strange)]
    assert shown == wanted and ("never in the training texts" in typing.locator(".line").inner_text()) == bool(wanted)


@pytest.mark.browser
def test_a_word_that_is_pointed_at_goes_into_the_gap_of_its_lane(typing: Page) -> None:
    """The gaps of the other lanes keep what their models expect most."""
    answers, lane = typed(typing, "Anna was thirsty, so she drank a glass of water.", 2), typing.locator(".lane")
    best = [" / ".join(side[0]["text"].lstrip("←→ ") for side in answer["sides"]) for answer in answers]
    lane.nth(0).locator(".bar").nth(1).hover()
    expect(lane.locator(".fills")).to_have_text([answers[0]["sides"][0][1]["text"], *best[1:]])
    expect(lane.nth(0).locator(".lit .token")).to_have_text([answers[0]["sides"][0][1]["text"]])
    typing.mouse.move(1, 1)
    expect(lane.locator(".fills")).to_have_text(best)


SEEN = "(e) => e.checkVisibility({ visibilityProperty: true })"
FITS = """() => {
  const { handle, spans, gap } = explorerOpening.sentence, letters = document.createRange(), box = handle.getBoundingClientRect();
  letters.selectNodeContents(handle);
  const { left, right } = letters.getBoundingClientRect(), neighbour = spans[gap + 1].getBoundingClientRect();
  return { lines: letters.getClientRects().length, wide: handle.scrollWidth <= handle.clientWidth && left > box.left && right < box.right,
    high: box.height >= parseFloat(getComputedStyle(handle).fontSize) * 1.2, seen: box.left >= 0 && box.right <= innerWidth,
    alone: neighbour.left >= box.right || neighbour.top >= box.bottom - 8 };
}"""


STALE = """(text) => {
  const { root } = explorerOpening, seen = (one) => one.checkVisibility({ visibilityProperty: true });
  explorerOpening.type(text);
  const sides = ({ left, right, top, bottom }) => [left, right, top, bottom], over = (one) => sides(one.getBoundingClientRect());
  const held = explorerOpening.sentence, track = getComputedStyle(root.querySelector(".track"), "::before");
  const said = [...root.querySelectorAll(".token, .share, .fills, .key")].filter(seen).map((one) => one.textContent);
  return { waits: root.dataset.waiting, words: said, question: getComputedStyle(root.querySelector(".token"), "::before").content,
    bars: track.transitionProperty === "opacity" || track.opacity === "0",
    away: over(held.handle).map((value, n) => value - over(held.spans[held.gap])[n]) };
}"""


@pytest.mark.browser
@pytest.mark.parametrize("width", (1280, *long(390)))
def test_another_sentence_has_no_answer_of_the_one_before_and_its_gap_is_on_its_word(
    shown: Callable[..., Page], width: int
) -> None:
    page = shown(width, 700)
    page.evaluate(f"{O}.choose('hungry')")
    for text in ("T", "The", "The s", "The small dog"):
        now = page.evaluate(STALE, text)
        assert max(map(abs, now.pop("away"))) < 1.5, "neither beside its word nor on its way to it"
        assert now == {"waits": "yes", "words": [], "question": '"?"', "bars": True}, text
    page.wait_for_function(f"!{O}.root.dataset.waiting")
    expect(page.locator(".lane .share").first).to_be_visible()


SLID = f"Promise.all({O}.sentence.handle.getAnimations().map((one) => one.finished.catch(() => {{}}))).then(() => true)"


@LONG
@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), some(WINDOWS, WINDOWS[2]))
def test_the_gap_is_as_wide_as_the_word_that_is_chosen(shown: Callable[..., Page], width: int, height: int) -> None:
    page = shown(width, height)
    for chip in page.locator(".chips .chip").all_inner_texts():
        page.get_by_role("button", name=chip, exact=True).click()
        page.wait_for_timeout(300)
        page.evaluate(SLID)
        fits = page.evaluate(FITS)
        assert fits.pop("lines") == 1 and all(fits.values()), (chip, fits)
    page.evaluate(f"{O}.choose('incomprehensibility')")
    page.wait_for_timeout(300)
    page.evaluate(SLID)
    assert all(page.evaluate(FITS).values()) and page.evaluate(OUTSIDE) == []
    for gap in (2, 3):
        typed(page, f"The {'long' * 8} was {'longer' * 9}.", gap)
        page.wait_for_timeout(300)
        (wide, room), box = (
            page.locator(".head").evaluate("(e) => [e.scrollWidth, e.clientWidth]"),
            page.locator(".gap").bounding_box(),
        )
        assert wide <= room and box is not None and box["x"] + box["width"] <= width, "a word longer than a line"


@LONG
@pytest.mark.browser
def test_what_holds_no_answer_gets_one_sentence(shown: Callable[..., Page]) -> None:
    page, line = shown(), ".opening .line"
    own = lanes(page)
    typed(page, "Dogs")
    expect(page.locator(line)).to_have_text("Your only word is the gap: no model has another to read. Type more.")
    typed(page, "… 😀")
    expect(page.locator(line)).to_have_text("There is no word in this sentence. Write one.")
    assert page.locator(".sentence .gap, .lane .bar, .lane .words").evaluate_all(f"all => !all.some({SEEN})")
    assert typed(page, " ")[0]["sides"] == own[0]["sides"], "an empty box is the opening's own sentence"
    expect(page.locator(line)).to_have_text("Drag the gap, or type your own.")
    expect(page.get_by_role("button", name="thirsty", exact=True)).to_be_visible()
    typed(page, "word " * 80)  # and gpt2 never read its last space
    expect(page.locator(line)).to_have_text("Drag the gap, or type your own.")
    typed(page, "zyxqw 9081726 ###")
    assert page.locator(line).inner_text().startswith("† zyxqw, 9081726, ###: never in the training texts.")


@LONG
@pytest.mark.browser
def test_who_types_fast_is_answered_at_the_last_letter(shown: Callable[..., Page]) -> None:
    page = shown()
    typed(page, "The dog")  # the models are there
    page.evaluate("""() => { const { models } = explorerOpening, ask = models.expected.bind(models);
      globalThis.questions = 0;
      models.expected = (...given) => { questions++; return ask(...given); }; }""")
    text = "The " + "very " * 58 + "tired dog."
    page.evaluate(f"(text) => {{ for (let n = 1; n <= text.length; n++) {O}.type(text.slice(0, n)); }}", text)
    page.wait_for_function(f"!{O}.root.dataset.waiting")
    assert page.evaluate("questions") <= 2 * len(NAMES), "not one for each letter, which it would answer minutes later"
    agrees(lanes(page)[0], predictions(text, word_offsets(text)[page.evaluate(f"{O}.gap")])["bert"])
    page.evaluate(f"() => {{ {O}.type('The dog was here.'); {O}.type(''); }}")
    page.wait_for_timeout(50)
    assert page.evaluate(f"{O}.root.dataset.waiting ?? ''") == "", "nothing waits where nothing is asked"
    box = page.locator(".own input")
    box.fill(text[:-12])
    box.press_sequentially(text[-12:])  # all of it takes half a minute on a busy machine
    scrolled = box.evaluate("(box) => box.scrollLeft")
    box.press("Enter")
    assert scrolled > box.evaluate("(box) => box.scrollLeft") == 0, "a sentence from its start"


@pytest.mark.browser
def test_a_lane_of_a_sentence_from_the_right_goes_from_the_right(typing: Page) -> None:
    typed(typing, TEXTS[3], 0)
    blank, word = (typing.locator(f".lane .words {part}").first.bounding_box() for part in (".blank", ".word"))
    assert blank is not None and word is not None and blank["x"] > word["x"]
    typed(typing, TEXTS[0], 0)
    blank, word = (typing.locator(f".lane .words {part}").first.bounding_box() for part in (".blank", ".word"))
    assert blank is not None and word is not None and blank["x"] < word["x"]


@LONG
@pytest.mark.browser
def test_a_gap_that_nobody_filled_and_a_sentence_without_words(typing: Page) -> None:
    lane = typed(typing, "The dog ___ home.")[0]
    assert typing.evaluate(f"{O}.gap") == 2 and not any(row["right"] for row in lane["sides"][0])
    agrees(lane, predictions("The dog it home.", (8, 10))["bert"])
    typed(typing, "… 😀")
    expect(typing.locator(".line")).to_have_text("There is no word in this sentence. Write one.")
    assert typed(typing, "The dog ran.", 2)[0]["says"] == ""


@LONG
@pytest.mark.browser
def test_the_gap_is_moved_by_hand_and_by_keys_and_a_guess_stays(shown: Callable[..., Page]) -> None:
    page, gap = shown(), record()["gap"]
    guess = another_chip()
    page.get_by_role("button", name=guess, exact=True).click()
    handle = page.get_by_role("slider", name="The gap")
    expect(handle).to_have_text(guess)
    for lane, name in zip(page.locator(".lane").all(), NAMES, strict=True):  # whether it is among the most probable or not
        shares = record()["yours"][name][record()["chips"].index(guess)]
        wanted = ["< 1%" if 0 < share < 0.005 else f"{int(100 * share + 0.5)}%" for share in shares]
        assert lane.locator(".guessed .share").all_inner_texts() == wanted, name
    handle.focus()
    page.keyboard.press("ArrowLeft")
    expect(handle).to_have_attribute("aria-valuenow", str(gap))
    agrees(lanes(page)[0], predictions(lesson.TEXT, word_offsets(lesson.TEXT)[gap - 1])["bert"])
    page.keyboard.press("ArrowRight")
    expect(handle).to_have_text(guess)
    handle.hover(position={"x": 5, "y": 5})  # which waits until the gap has slid to its word
    end = page.locator(".sentence .word").first.bounding_box()
    assert end is not None
    page.mouse.down()
    page.mouse.move(end["x"] + 5, end["y"] + 5, steps=4)
    page.mouse.up()
    expect(handle).to_have_attribute("aria-valuenow", "1")
    expect(page.get_by_role("status")).to_contain_text("GPT: The")
    page.wait_for_function("typed.at(-1)?.word === 'Anna'")  # the page follows when the hand rests


@LONG
@pytest.mark.browser
def test_without_its_weights_a_lane_says_so(shown: Callable[..., Page]) -> None:
    page = shown(models=("bert",))
    answers = typed(page, "The dog ran home.")
    assert answers[0]["says"] == "" and "did not arrive" in answers[1]["says"]


@LONG
@pytest.mark.browser
def test_known_words_take_the_place_of_a_strange_one(shown: Callable[..., Page]) -> None:
    text = "The zyzzyva ran home."
    page = shown()
    typed(page, text)
    told = {
        "text": text,
        "word": "zyzzyva",
        "film": True,
        "mode": "light",
        "known": {"text": text, "words": [["zyzzyva", ["dog"]]]},
    }
    page.evaluate(f"(told) => {O}.hear(told)", told)
    page.get_by_role("button", name="dog", exact=True).click()
    expect(page.locator(".sentence .words")).to_contain_text("dog ran home.")


@LONG
@pytest.mark.browser
def test_the_front_page_opens_with_it_and_its_doors_lead_on(visit: Visit) -> None:
    page = visit("/", height=640)
    page.wait_for_function(f"{O}?.film.time > 0 && !globalThis.explorerEarly")  # taken over, where it came before its page
    fetched = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/weights/'))"
    # a browser tells this size of what it had kept as well
    sizes = page.evaluate(f"{fetched}.map(({{ name, encodedBodySize: size }}) => [name, size])")
    assert [name.rpartition("-")[2] for name, _ in sizes] == ["opening.js"], "no model before anything is typed"
    assert 0 < sizes[0][1] < 100_000 and page.evaluate(f"{O}.models.engines === null"), "nor one on its way"
    assert page.evaluate(f"{O}.root.getBoundingClientRect().bottom <= innerHeight")
    assert page.locator(".opening").get_by_role("link", name="Guided tour").get_attribute("href") == tour.address()
    page.get_by_role("textbox", name="Your own sentence").fill("The dgo ran home.")
    expect(page.get_by_text("never in the training texts").first).to_be_visible()
    page.wait_for_function(
        f"{fetched}.filter(({{ name, encodedBodySize: size }}) => name.endsWith('.bin') && size > 1e6).length === 4"
    )
    ((_, offered),) = ex.analysis.known_words(ex.load("elmo", device="cpu"), "The dgo ran home.")
    expect(page.get_by_role("button", name=offered[0], exact=True)).to_be_visible()  # the server knows words like it
    expect(page).to_have_url(re.compile("dgo"))
    ways = [door.get_attribute("href") for door in page.get_by_role("navigation", name="Go on").get_by_role("link").all()]
    begins, why, *others = ways
    assert [str(way).partition("?")[0] for way in (why, *others)] == ["attention", "training", "decoding"]
    own = urlencode({"text": "The dgo ran home.", "chosen": "ran"})
    assert begins == f"{tour.address()}&{own}" and "step=1" in tour.address(), "the tour begins on the first screen as well"
    front = page.url
    for door, picture in (("How was it learned?", ".st-key-over-steps-figure"), ("Let it write", ".st-key-chain-figure")):
        page.get_by_role("link", name=door).click()  # it opens with a picture, of the sentence that was typed
        expect(page.locator(picture)).to_be_visible()
        expect(page.get_by_label(re.compile("A sentence that|beginning"))).to_have_value(re.compile(r"^The dgo"))
        page.goto(front)
        expect(page.get_by_role("textbox", name="Your own sentence")).to_have_value("The dgo ran home.")
    page.get_by_role("link", name="Why “ran”?").click()
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    expect(page.get_by_label("Your sentence")).to_have_value(re.compile(r"\[MASK\]"))
    film = record()["inside"]
    assert f"board=encoder.{film['layer']}.{film['head']}.softmax." in page.url


@LONG
@pytest.mark.browser
def test_old_addresses_of_the_front_page_lead_on(visit: Visit) -> None:
    page = visit("/?part=board&text=The+dog+ran+home.&start.board=encoder.1.2.softmax.3.3")
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    assert "/attention" in page.url and "encoder.1.2.softmax.3.3" in page.url
    expect(page.get_by_label("Your sentence")).to_have_value("The dog ran home.")
