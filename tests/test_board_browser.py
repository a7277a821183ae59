"""The board in a real browser, in its three homes, with the network cut: its numbers, its hands and its eyes."""

from __future__ import annotations

import dataclasses
import itertools
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from conftest import ALL, LONG, SENTENCE, Show, Visit, long, some
from playwright.sync_api import Page, expect

import explorer as ex
from explorer.app.controls import attentive
from explorer.nn.layers import NORM_PLACES
from explorer.nn.positions import POSITIONS
from explorer.records import Trace
from explorer.views.board.pack import pack
from explorer.views.board.page import page as paged

pytestmark = pytest.mark.browser
INSIDE = "[...document.querySelectorAll('*')].map(e => e.shadowRoot?.querySelector('.board')).find(Boolean)"  # a component's of the app
BOARD = f"(document.querySelector('.board') ?? {INSIDE}).board"
NUMBERS = f"([at, head]) => {BOARD}.numbers(at, head)"


def traced(name: str) -> Trace:
    model = ex.load(name, device="cpu")
    target = {"target": "Le chien est fatigué."} if model.family == "encoder-decoder" else {}
    return ex.trace(model, SENTENCE, blocks=True, **target)


def close(values: Any, wanted: np.ndarray) -> None:
    """Within 1e-5 of the model's own, as a share of numbers larger than one; a small sum of large numbers is as exact as those are."""
    given = np.array([np.nan if x is None else x for x in values], np.float64)
    wanted = np.where(np.isfinite(wanted), np.asarray(wanted, np.float64), np.nan).reshape(-1)
    np.testing.assert_array_equal(np.isnan(given), np.isnan(wanted))
    size = np.abs(wanted)
    assert not (np.abs(given - wanted) > 1e-5 * np.maximum(1, size) + 1e-6 * np.nanmax(size)).any()


def check_numbers(page: Page, trace: Trace) -> None:
    """Every stage, sum and norm that the browser derives, against the trace's."""
    sites = page.evaluate(f"{BOARD}.data.sites.map(s => [s.stream, s.layer])")
    for at, (stream, layer) in enumerate(sites):
        attention = trace.at(stream, layer)
        for head in range(attention.heads) if ALL else (0, attention.heads - 1):
            values = page.evaluate(NUMBERS, [at, head])
            for stage in ("scores", "scaled", "capped", "biased", "masked", "weights", "context"):
                close(values[stage], attention.stage(stage, head))
        side = "decoder" if stream == "cross" else stream
        parts = ["cross-attention" if stream == "cross" else "attention", "feed-forward"]
        for block, part in zip(values["blocks"], parts, strict=False):
            own = trace.block(side, layer, part)
            close(block["total"], own.total)
            close(block["leaves"], own.normed if own.place == "post" else own.total)
        assert values["gaps"]["weights"] <= 1e-5 and all(gap <= 1e-4 for gap in values["gaps"]["around"] if gap is not None)


@pytest.mark.parametrize("name", some(attentive(), "t5"))
def test_the_browser_s_numbers_are_the_model_s(show: Show, name: str) -> None:
    trace = traced(name)
    page = show(trace)
    check_numbers(page, trace)
    expect(page.locator(".gap")).to_contain_text("difference from the model's own numbers")


@LONG
@pytest.mark.parametrize("place", some(NORM_PLACES, "inside"))
def test_every_scheme_and_norm_place_is_derived(show: Show, bert: Any, place: str) -> None:
    for scheme in POSITIONS if ALL else ("alibi", "disentangled"):
        choices = {"positions": scheme, "norm_place": place, "dim": 32}
        model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", **choices)
        trace = ex.trace(model, "The dog slept.", blocks=True)
        check_numbers(show(trace), trace)


def pixels(page: Page) -> str:
    return page.evaluate("document.querySelector('.board canvas').toDataURL()")


def station(page: Page) -> str:
    return page.locator(".stations [aria-current]").get_attribute("data-station") or ""


def test_every_station_moves_and_then_stands_still(show: Show) -> None:
    page = show(traced("gpt2"))
    seen, places = [], set()
    for number, name in enumerate(page.evaluate(f"{BOARD}.site.stations")):
        frames = []
        for t in (0.1, 0.5, 1):
            page.evaluate(f"([n, t]) => {{const b = {BOARD}; b.step = n; b.t = t; b.size();}}", [number, t])
            frames.append(pixels(page))
        if name not in ("x", "up"):  # what enters stands there already; what leaves is drawn where it goes
            assert len(set(frames)) == 3, f"{name} moves"
        seen.append(frames[-1])
        places.add(page.evaluate(f"{BOARD}.parts.canvas.getBoundingClientRect().top"))
        assert station(page) == name
    assert len(places) == 1, "what is said above never moves the picture"
    assert len(set(seen)) >= len(seen) - 1


@LONG
def test_it_is_played_and_a_cell_held_by_keyboard_alone(show: Show) -> None:
    page = show(traced("bert"), view={"stream": "encoder", "layer": 0 if ALL else 3, "head": 0, "station": "x"})
    page.evaluate(f"{BOARD}.speed = 20")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "CANVAS":
            break
    page.keyboard.press("Enter")
    expect(page.locator(".holds")).to_contain_text("held:")
    page.keyboard.press("Escape")
    expect(page.locator(".holds")).to_have_text("")
    page.locator("canvas").focus()
    page.keyboard.press("Space")
    expect(page.locator(".stations [aria-current]")).to_have_attribute("data-station", "next")
    expect(page.locator(".play")).to_have_attribute("aria-label", "Play")


@LONG
def test_a_hand_pauses_it_and_it_plays_only_where_it_is_seen(show: Show) -> None:
    page = show(traced("bert"), view={"stream": "encoder", "layer": 0, "head": 0, "station": "x"})
    page.evaluate(f"{BOARD}.speed = 20; {BOARD}.play(true)")
    page.locator("canvas").click(position={"x": 300, "y": 300})
    assert not page.evaluate(f"{BOARD}.playing")
    expect(page.locator(".play")).to_have_attribute("aria-label", "Play")
    page.evaluate(f"{BOARD}.free(); {BOARD}.go(0); {BOARD}.seen = false; {BOARD}.play(true)")
    at = page.evaluate(f"{BOARD}.step")
    page.wait_for_timeout(1000)  # in which twenty stations would pass
    assert page.evaluate(f"[{BOARD}.playing, {BOARD}.step]") == [True, at]
    page.evaluate(f"{BOARD}.seen = true")
    page.wait_for_function(f"{BOARD}.step > {at}")


def middle(page: Page, box: str, i: int, j: int) -> tuple[float, float]:
    """The middle of a cell, on the screen."""
    b = page.evaluate(f"id => {BOARD}.layout.boxes.find(b => b.id === id)", box)
    at = page.locator(".board canvas").bounding_box()
    assert at is not None
    return at["x"] + b["x"] + b["w"] / b["c"] * (j + 0.5), at["y"] + b["y"] + b["h"] / b["r"] * (i + 0.5)


@LONG
@pytest.mark.parametrize(
    ("name", "wide"), [("bert", 1120), *long(("bert", 1900), ("gpt2", 1120))]
)  # gpt2's titles are the longest
def test_a_wide_board_has_its_words_in_two_lines_and_never_moves(show: Show, name: str, wide: int) -> None:
    trace = traced(name)
    view = {"stream": trace.attention[0].stream, "layer": 0, "head": 0, "station": "x"}
    page = show(trace, view=view)
    page.set_viewport_size({"width": wide, "height": 900})
    tops = set()
    for step in range(page.evaluate(f"{BOARD}.site.stations.length")):
        page.evaluate(f"step => {BOARD}.go(step)", step)
        canvas, title, choices = (
            page.locator(f".board {locator}").bounding_box() for locator in ("canvas", ".title", ".choices")
        )
        assert canvas is not None and title is not None and choices is not None
        tops.add(round(canvas["y"]))
        assert title["x"] + title["width"] <= choices["x"] and abs(title["y"] - choices["y"]) < 12, "on one line, side by side"
    assert len(tops) == 1 and max(tops) <= 120


@LONG
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_board_opens_at_the_weights_and_plays_from_the_beginning_past_an_idle_mask(show: Show, name: str) -> None:
    page = show(traced(name))
    expect(page.locator(".stations [aria-current]")).to_have_attribute("data-station", "softmax")
    expect(page.locator(".stations .group")).to_have_text(["Attention", "Feed-forward", ""])
    page.evaluate(
        f"""() => {{ const b = {BOARD}, go = b.go.bind(b); window.seen = []; b.speed = 20;
            b.go = step => {{ window.seen.push(b.site.stations[step]); go(step); }}; b.play(true); }}"""
    )
    page.wait_for_function("() => window.seen.includes('mix')")
    seen = page.evaluate("window.seen")
    assert seen[0] == "x" and ("mask" in seen) == (name == "gpt2"), "an encoder's forbids nothing"


@LONG
def test_a_station_rests_until_its_sentence_is_read_and_what_an_encoder_reads_is_no_prediction(show: Show) -> None:
    page = show(traced("bert"))
    rests = page.evaluate(
        f"""() => {{ const b = {BOARD}, later = setTimeout, rests = []; b.playing = true;
            globalThis.setTimeout = (_, ms) => rests.push(ms) && 0;
            b.site.stations.forEach((_, n) => {{ b.step = n; b.wait(); }});
            globalThis.setTimeout = later; b.playing = false;
            b.choose(b.data.sites.length - 1, 0); b.go(b.site.stations.length - 1);
            const said = b.site.stations.map((name) => b.data.prose[name]);
            return said.map(({{ says, ms }}, n) => [says.split(" ").length, ms + rests[n]]).slice(0, -1); }}"""
    )
    assert all(150 * words <= ms <= 6000 for words, ms in rests), "nobody reads faster than seven words a second"
    expect(page.locator(".operands")).to_contain_text("so this is no prediction")


def shown_share(share: float) -> str:
    """A weight as the line of numbers writes it: in three digits, or as a power of ten where they would all be zero."""
    power = f"{share:.1e}".split("e")
    return f"{share:.3f}" if share >= 0.001 else f"{power[0]}e−{abs(int(power[1]))}"


@LONG
def test_what_is_pointed_at_is_said_and_scaled_scores_share_one_scale(show: Show) -> None:
    trace = traced("bert")
    page, texts = show(trace, view={"stream": "encoder", "layer": 0, "head": 1, "station": "softmax"}), trace.source.texts
    page.mouse.click(*middle(page, "S", 4, 7))
    page.mouse.move(*middle(page, "S", 9, 2))
    expect(page.locator(".pair")).to_have_text(f"{texts[4]} → {texts[7]}")  # held
    expect(page.locator(".operands")).to_contain_text(shown_share(trace.attention[0].weights[1][4][7]))
    page.keyboard.press("Escape")
    page.mouse.move(*middle(page, "q", 3, 5))
    expect(page.locator(".pair")).to_have_text(f"{texts[3]}: q, dimension 5")
    tops = page.evaluate(f"{BOARD}.columns.find(c => c.id === 'S').states.slice(0, -1).map(s => s.m.top)")
    assert len(tops) == 3 and tops[0] > tops[1] == tops[2], "q·k in colours of its own, then one scale up to the mask"


def by_words(trace: Trace) -> np.ndarray:
    """The weights between words, over the tokens that they are made of: the mean of a word's rows, the sum of its columns."""
    weights, words = trace.attention[0].weights[1].astype(np.float64), np.array(trace.source.words)
    same = (words[:, None] == words[None]) & (words[:, None] >= 0) | np.eye(len(words), dtype=bool)
    return (same / same.sum(1, keepdims=True)) @ weights @ same


@LONG
def test_words_specials_and_threshold(show: Show) -> None:
    trace = ex.trace(ex.load("bert", device="cpu"), "Photosynthesis made the walrus tired.", blocks=True)
    page = show(trace, view={"stream": "encoder", "layer": 0, "head": 1, "station": "softmax"})
    page.locator(".looks summary").click()
    page.get_by_role("button", name="words").click()
    drawn = page.evaluate(f"Array.from({BOARD}.shownAs({BOARD}.columns.find(c => c.id === 'S').states.at(-1).m).a)")
    assert np.abs(np.reshape(drawn, trace.attention[0].weights[1].shape) - by_words(trace)).max() < 1e-5
    wanted = by_words(trace)[2, 3]
    page.evaluate(f"{BOARD}.point(2, 3), {BOARD}.draw()")
    expect(page.locator(".operands")).to_contain_text(f"Between their words: α = {shown_share(wanted)}")
    seen = {}
    for faint, hiding in ((0, "false"), (0.3, "false"), (0, "true")):
        page.evaluate(f"faint => {{ const b = {BOARD}; b.faint = faint; b.hiding = {hiding}; b.prepare(); b.size(); }}", faint)
        seen[pixels(page)] = (faint, hiding)
    assert len(seen) == 3, "a threshold and hidden special tokens also between words"


@LONG
def test_the_twin_is_a_grid_that_arrow_keys_walk(show: Show) -> None:
    trace = traced("bert")
    page = show(trace, view={"stream": "encoder", "layer": 0, "head": 0, "station": "softmax", "row": 2, "col": 2})
    page.get_by_role("gridcell", name=re.compile("^animal, animal: ")).focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[role=gridcell]:focus")).to_have_attribute("aria-label", re.compile("^didn, animal: "))
    assert page.get_by_role("grid").get_attribute("aria-rowcount") == "16"
    page.get_by_text("The numbers as a table").click()
    expect(page.locator(".field td")).to_have_count(256)
    assert f"{trace.attention[0].weights[0][0][0]:.3f}" == page.locator(".field td").first.inner_text()


@LONG
@pytest.mark.parametrize(
    ("mode", "width"),
    some(itertools.product(("light", "dark"), (390, 850, 1280, 1920)), ("light", 390), ("dark", 1920)),
)
def test_it_fits_every_screen(show: Show, mode: str, width: int) -> None:
    page = show(traced("t5"), mode=mode, width=width)
    kind = "phone" if width < 600 else "bands" if width < 940 else "wide"
    expect(page.locator(f".board[data-kind={kind}][data-mode={mode}]")).to_be_attached()
    for at, name in ((0, "qk"), (3, "qkv"), (99, "next")):  # the last sublayer is taken where there is no such number
        page.evaluate(f"at => {BOARD}.choose(at, 1)", at)
        page.evaluate(f"name => {{const b = {BOARD}; b.step = b.site.stations.indexOf(name); b.size();}}", name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        boxes, high = page.evaluate(f"[{BOARD}.layout.boxes, {BOARD}.layout.high]")
        assert all(b["x"] >= 0 and b["x"] + b["w"] <= width and b["y"] + b["h"] <= high for b in boxes)


@LONG
def test_the_presenter_fills_the_screen_and_gives_it_back(show: Show) -> None:
    page = show(traced("bert"), width=1920, height=1080)
    page.locator("canvas").focus()
    page.keyboard.press("p")
    expect(page.locator(".board.presenter")).to_be_visible()
    square = page.evaluate(f"{BOARD}.layout.boxes.find(b => b.id === 'S').h")
    assert square >= 0.6 * 1080 - 1 and page.evaluate(f"{BOARD}.layout.font") == 24
    assert page.evaluate(f"{BOARD}.parts.canvas.getBoundingClientRect().bottom") <= 1080, "all of it on one screen"
    page.evaluate(f"{BOARD}.fullscreen()")
    expect(page.locator(".board.presenter")).to_have_count(0)
    page.keyboard.press("p")
    page.keyboard.press("p")  # at once, before the browser has filled the screen
    page.wait_for_timeout(500)
    expect(page.locator(".board.presenter")).to_have_count(0)


def test_odd_numbers_and_tokens_are_drawn(show: Show, trace: Trace) -> None:
    first, second, *others = trace.attention
    q, weights = np.array(first.q), np.array(second.weights)
    q[0, 0, 0], q[0, 1, 1] = np.nan, np.inf
    weights[0, 2, 3], weights[1, 4, :2] = np.nan, np.inf
    view = {"stream": "encoder", "layer": 0, "head": 0, "station": "softmax"}
    with np.errstate(invalid="ignore"):
        page = show(dataclasses.replace(trace, attention=(dataclasses.replace(first, q=q), second, *others)), view=view)
    expect(page.locator(".gap")).to_contain_text("not numbers (NaN or infinite): 2 in q")
    broken = dataclasses.replace(trace, attention=(first, dataclasses.replace(second, weights=weights), *others))
    page = show(pack(broken, budget=2_000), view={"stream": "encoder", "layer": 1, "head": 0})
    expect(page.locator(".gap")).to_contain_text("3 of them are not numbers")
    page.get_by_label("Layer", exact=True).select_option("0")
    expect(page.locator(".gap")).to_contain_text("Only the weights of this layer are in this file")
    expect(page.locator(".gap")).not_to_contain_text("NaN")
    texts = ("<b>x</b>", "</script>", "שלום", "e\u0301\u0302", "\u202e", "\n", "😀") * 3
    source = dataclasses.replace(trace.source, texts=texts[: len(trace.source)])
    page = show(dataclasses.replace(trace, source=source), view=view)
    assert page.locator(".board b b").count() == 0
    page.evaluate(f"{BOARD}.point(0, 1), {BOARD}.draw()")
    expect(page.locator(".pair")).to_have_text("<b>x</b> → </script>")


def draw_every_station(page: Page) -> None:
    """Draw each station in the middle of its motion and at its end."""
    for number in range(page.evaluate(f"{BOARD}.site.stations.length")):
        page.evaluate(f"n => {{const b = {BOARD}; b.step = n; b.t = 0.5; b.size(); b.t = 1; b.draw();}}", number)


@LONG
@pytest.mark.parametrize(("words", "heads", "length"), [(1, 1, 128), (257, 1, 320), *long((8, 96, 128), (505, 4, 512))])
def test_one_token_many_heads_and_a_long_text(show: Show, bert: Any, words: int, heads: int, length: int) -> None:
    shape = {"heads": heads, "dim": 96 * 2, "length": length}
    model = ex.build("gpt2", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", **shape)
    trace = ex.trace(model, " ".join(["dog"] * words), blocks=words < 100, scores=False)
    page = show(trace, view={"stream": "decoder", "layer": 0, "head": heads - 1, "station": "softmax"})
    assert page.evaluate(f"{BOARD}.thumbs.length") == heads * len(trace.attention)
    field, thumbs = page.evaluate(f"[{BOARD}.layout.map, {BOARD}.thumbs]")
    foot, right = field["y"] + field["h"], field["x"] + field["w"]
    assert all(t["y"] + t["s"] <= foot + 8 and t["x"] + t["s"] <= right + 2 for t in thumbs)
    draw_every_station(page)
    page.evaluate(f"{BOARD}.go({BOARD}.site.stations.indexOf('softmax'))")
    page.get_by_text("The numbers as a table").click()
    cut = page.get_by_text(f"The first 256 of {len(trace.source)} rows and 256 of {len(trace.source)} columns.")
    expect(cut).to_have_count(1 if words > 256 else 0)


@LONG
def test_what_cannot_be_read_is_refused_in_a_sentence(visit: Visit, tmp_path: Path, trace: Trace) -> None:
    data = pack(trace)
    newer = data.replace(b'"version": 1', b'"version": 7', 1)
    for damaged, says in (
        (newer, "of version 7"),
        (data[:4] + b"x" * 40, "damaged"),
        (b"", "no data"),
        (data[:-4000], "too early"),
    ):
        (tmp_path / "x.html").write_bytes(paged(damaged, title="x"))
        expect(visit((tmp_path / "x.html").as_uri()).get_by_role("alert")).to_contain_text(says)


@LONG
def test_a_token_is_masked_and_replaced_by_its_menu(visit: Visit) -> None:
    page = visit(f"/attention?text={quote(SENTENCE)}")
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    page.locator(".board canvas").focus()
    page.keyboard.press("m")
    page.get_by_role("menuitem", name="Mask it").click()
    expect(page.get_by_label("Your sentence")).to_have_value("The animal didn't cross the street because [MASK] was too tired.")
    expect(page.locator("[role=rowheader]", has_text="[MASK]")).to_be_attached()
    page.locator(".board canvas").focus()
    page.keyboard.press("m")
    page.get_by_label("Another token").fill("she")
    page.get_by_role("menuitem", name="Replace it").click()
    expect(page.get_by_label("Your sentence")).to_have_value("The animal didn't cross the street because she was too tired.")


@LONG
def test_the_heading_that_a_board_hides_makes_no_telephone_wider(visit: Visit) -> None:
    page = visit("/attention", width=390)
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    assert page.locator(".stMain").evaluate("main => main.scrollWidth") <= 390


@LONG  # so does the front page, in test_browser.py
def test_the_app_s_board_follows_its_theme(visit: Visit) -> None:
    page = visit("/heads?model=t5&part=board", "dark", width=390)
    expect(page.locator(".board[data-state=ready][data-mode=dark][data-kind=phone]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@LONG  # test_every_hand_works_in_every_home moves a series as well
def test_a_series_moves_while_everything_else_stays(visit: Visit, tmp_path: Path, bert: Any) -> None:
    other = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=3, device="cpu")
    board = ex.board(
        [ex.trace(m, SENTENCE, blocks=True) for m in (other, bert)], labels=["step 0", "step 5000"], station="softmax", head=1
    )
    page = visit(ex.save(board, tmp_path / "x.html").as_uri())
    expect(page.locator(".board[data-state=ready] .time b")).to_have_text("step 0")
    page.mouse.click(*middle(page, "S", 4, 7))
    unfaded = f"{BOARD}.fading === null"
    page.wait_for_function(unfaded)
    before = pixels(page)
    page.keyboard.press("t")
    expect(page.locator(".time b")).to_have_text("step 5000")
    page.wait_for_function(unfaded)
    assert pixels(page) != before and station(page) == "softmax" and page.evaluate(f"{BOARD}.held") == [{"row": 4, "col": 7}]
    page.get_by_label("Moment of the series").fill("0")
    expect(page.locator(".time b")).to_have_text("step 0")
    page.wait_for_function(unfaded)
    assert pixels(page) == before


@LONG
@pytest.mark.parametrize(
    "name",
    ["GptOssForCausalLM", *long("PhiForCausalLM", "GPTNeoXForCausalLM", "ModernBertForMaskedLM", "Gemma2ForCausalLM", "FalconForCausalLM")],
)  # fmt: skip
def test_other_architectures_are_drawn_and_derived(show: Show, name: str) -> None:
    from explorer.models.hub.architectures import tiny
    from studies.support import TEXT, words

    tokens = words()
    page = show(trace := ex.trace(ex.load((tiny(name, 64), tokens)), TEXT, blocks=True))
    if trace.attention[0].q is not None:
        check_numbers(page, trace)
    draw_every_station(page)
