"""ELMo in the page: its letters, its two directions and the mix of its layers are held to Python, and so is what its picture says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, SAMPLED, some
from offline import Watch
from offline import opened as opened_page
from playwright.sync_api import Browser, Page, expect
from test_live import CLOSE, TEXTS, gap, opened, page

import explorer as ex
from explorer.errors import ChoiceError

pytestmark = pytest.mark.browser
__all__ = ["page"]  # the page of the engine alone
TEXT, OTHER = "The animal didn't cross the street because it was too tired.", "The old cat did not sleep."
STATES = """(text) => {
  const each = (of, read) => Object.fromEntries(Object.entries(of).map(([name, value]) => [name, read(value)]));
  const { trace, source } = opened.elmo.read(text, null, []);
  return { ids: source.ids, texts: source.texts, outputs: each(trace.outputs, plain), layers: trace.layers.map(plain),
    hidden: each(trace.hidden, (states) => states.map(plain)) };
}"""
CELLS = "all => all.map(row => [...row.cells].map(cell => cell.textContent))"


@SAMPLED
@pytest.mark.parametrize("text", some(TEXTS, *TEXTS[::4]))
def test_every_state_of_an_elmo_is_python_s(page: Page, text: str) -> None:
    model = opened(page, "elmo")
    trace, found = ex.trace(model, text, scores=True), page.evaluate(STATES, text)
    assert found["ids"] == trace.source.ids.tolist() and found["texts"] == list(trace.source.texts)
    assert found["hidden"].keys() == trace.hidden.keys()
    for direction, states in trace.hidden.items():
        assert [gap(mine, one) < CLOSE for mine, one in zip(found["hidden"][direction], states, strict=True)], direction
    for mine, layer in zip(found["layers"], model.layers([text])[0], strict=True):
        assert gap(mine, layer) < CLOSE
    for output, scores in model.outputs(text).items():
        assert gap(found["outputs"][output], scores) < CLOSE, output


@pytest.fixture(scope="module")
def figure(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The saved figure of an ELMo, opened from the disk without a network."""
    file = ex.save(ex.live(ex.load("elmo", device="cpu"), TEXT), tmp_path_factory.mktemp("live") / "elmo.html")
    assert Path(file).stat().st_size < 4_900_000
    watch = Watch()
    shown = opened_page(browser, watch, Path(file).as_uri())
    shown.context.set_offline(True)
    shown.wait_for_function("globalThis.explorerBoards?.length === 1")
    yield shown
    assert watch.faults == []
    shown.context.close()


@LONG
def test_the_picture_says_what_each_direction_expects(figure: Page) -> None:
    model = ex.load("elmo", device="cpu")
    figure.get_by_label("Your sentence").fill(TEXT)
    figure.wait_for_function("(text) => explorerBoards[0].state().text === text", arg=TEXT)
    sides = ex.analysis.both_sides(model, TEXT, top=10)
    words, tables = figure.get_by_role("group", name="Word"), figure.locator(".tables table")
    assert words.get_by_role("button").all_inner_texts() == list(sides.tokens.texts)
    for place in (0, 3, len(sides.tokens) - 1):
        words.get_by_role("button").nth(place).click()
        for side in range(2):
            rows = tables.nth(side).locator("tbody tr").evaluate_all(CELLS)
            if np.isnan(sides.truth[side, place]):
                assert rows == [["nothing read yet", ""]]
                continue
            assert [word for word, _ in rows] == list(sides.texts[side][place])
            for (_, said), share in zip(rows, sides.shares[side, place], strict=True):
                assert said == "< 0.1%" or float(said.rstrip("%")) == pytest.approx(100 * share, abs=0.051)
    words.get_by_role("button").nth(8).click()
    left, right = (f"{100 * share:.1f}%" for share in sides.truth[:, 8])
    line = f"P({sides.tokens.texts[8]}): {left} from the left, {right} from the right."
    expect(figure.locator(".directions [aria-live]")).to_have_text(line)


@LONG
def test_the_mix_of_its_layers_is_that_of_a_task(figure: Page) -> None:
    model, given = ex.load("elmo", device="cpu"), (0.2, 0.0, 0.6)
    figure.get_by_label("Your sentence").fill(OTHER)
    figure.wait_for_function("(text) => explorerBoards[0].state().text === text", arg=OTHER)
    words = figure.get_by_role("group", name="Word").get_by_role("button")
    words.nth(2).click()
    for slider, value in zip(figure.get_by_role("slider").all(), given, strict=True):
        slider.fill(str(value))
    layers, mix = torch.tensor(model.layers([OTHER])[0]), ex.training.ScalarMix(3)
    with torch.no_grad():
        mix.weights.copy_(torch.log(torch.tensor(given) + 1e-12))
        every = torch.nn.functional.normalize(torch.stack([*layers, mix(layers)]), dim=-1)
    alike = (every @ every[:, 2, :, None])[..., 0].numpy()  # [layer or mix, word]
    rows = figure.locator(".alike tbody tr").evaluate_all(CELLS)
    others = [n for n in range(len(model.tokens(OTHER))) if n != 2]
    for (word, *said), n in zip(rows, others, strict=True):
        assert word == words.nth(n).inner_text()
        np.testing.assert_allclose([float(cosine.replace("−", "-")) for cosine in said], alike[:, n], atol=0.0051)


def test_keys_walk_along_the_sentence_and_another_sentence_keeps_the_place(figure: Page) -> None:
    words = figure.get_by_role("group", name="Word")
    words.get_by_role("button").nth(2).focus()
    figure.keyboard.press("Enter")
    figure.keyboard.press("ArrowRight")
    chosen = words.locator("[aria-pressed=true]")
    expect(chosen).to_be_focused()
    assert words.get_by_role("button").nth(3).get_attribute("aria-pressed") == "true"
    figure.get_by_label("Your sentence").fill("A dog ran to the park with Bloxumy.")
    expect(words).to_contain_text("Bloxumy†")
    expect(chosen).to_have_count(1)
    assert words.get_by_role("button").nth(3).get_attribute("aria-pressed") == "true"
    figure.get_by_label("Your sentence").fill("a")
    expect(chosen).to_have_text("</S>")


def test_what_an_elmo_does_not_have_is_refused(figure: Page) -> None:
    model = ex.load("elmo", device="cpu")
    figure.evaluate("explorerBoards[0].edit([{edit: 'NoScale', stream: 'encoder'}])")
    expect(figure.get_by_role("status")).to_contain_text("no layers of attention to edit")
    with pytest.raises(ChoiceError, match="shows attention"):
        ex.board(ex.trace(model, TEXT), model=model)


@LONG
def test_a_figure_follows_its_mode(browser: Browser, tmp_path: Path) -> None:
    model: Any = ex.load("elmo", device="cpu")
    file = ex.save(ex.live(model, OTHER, mode="dark"), tmp_path / "dark.html")
    shown = browser.new_page(color_scheme="light", viewport={"width": 390, "height": 700})
    shown.goto(Path(file).as_uri())
    expect(shown.locator(".directions")).to_have_attribute("data-mode", "dark")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    shown.close()
