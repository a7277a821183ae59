"""A model that writes in the page: every step is that of `ex.decode`, its draws are NumPy's, and a hand or a keyboard can lead it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ALL, LONG, SAMPLED, Visit, long
from offline import Watch, opened
from playwright.sync_api import Browser, Page, expect
from test_board_homes import in_jupyterlab
from test_live import WRITERS
from test_live import opened as opened_model
from test_live import page as page  # the fixture: a page that holds the engine

import explorer as ex
from explorer.errors import ChoiceError
from explorer.views.board.module import LIVE_FOLDER
from explorer.views.tree import placed

pytestmark = pytest.mark.browser
PROMPT = "Anna went to the park with her dog. The dog"
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("greedy", {}), ("sample", {"seed": 3}), ("sample", {"seed": 8, "temperature": 1.4, "top_k": 12}),
    ("sample", {"seed": 1, "top_p": 0.8}), ("beam", {"beams": 3}), ("beam", {"beams": 5}),
    ("greedy", {"force": {0: 300, 1: 12}}), ("sample", {"seed": 2, "force": {0: 300}}),
    ("beam", {"beams": 4, "length_penalty": 0.0, "force": {0: 300}}),
)  # fmt: skip


def test_draws_are_numpy_s(browser: Browser) -> None:
    page, seeds = browser.new_page(), [0, 1, 7, 65_536, 2**32 - 1]
    drawn = page.evaluate(
        """async ([text, seeds]) => {
          const { randomFrom } = await import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
          return seeds.map((seed) => { const next = randomFrom(seed); return Array.from({ length: 50 }, () => next()); }); }""",
        [(LIVE_FOLDER / "draws.js").read_text("utf-8"), seeds],
    )
    assert drawn == [np.random.default_rng(seed).random(50).tolist() for seed in seeds]
    page.close()


@SAMPLED
@pytest.mark.parametrize("way", [0, 1, 2, 6, 8] if not ALL else range(len(WAYS)), ids=lambda n: f"{WAYS[n][0]}-{n}")
@pytest.mark.parametrize("name", WRITERS if ALL else ("gpt2", "t5"))
def test_every_step_is_python_s(page: Page, name: str, way: int) -> None:
    model, (strategy, options) = opened_model(page, name), WAYS[way]
    steps = list(ex.decode(model, PROMPT, strategy, max_tokens=15, **options))
    found = page.evaluate(
        "([name, text, way, settings]) => [...opened[name].write(text, way, settings)]",
        [name, PROMPT, strategy, {"max_tokens": 15, **options, "force": [*options.get("force", {}).values()]}],
    )
    assert [step["text"] for step in found] == [step.text for step in steps]
    for mine, step in zip(found, steps, strict=True):
        known = {(one.parent, one.id): one for one in step.candidates}
        assert mine["total"] == pytest.approx(step.total, abs=1e-3) and mine["stopped"] == step.stopped
        assert [ended["text"] for ended in mine["finished"]] == [ended.text for ended in step.finished]
        for one in mine["candidates"]:
            python = known.get((one["parent"], one["id"]))
            if python is None:  # of the likeliest of all beams Python records ten of each, and the page twice the beams
                continue
            assert (one["text"], one["fate"]) == (python.text, python.fate)
            assert one["logp"] == pytest.approx(python.logp, abs=2e-3) and one["total"] == pytest.approx(python.total, abs=2e-3)
        kept = {(one["parent"], one["id"]) for one in mine["candidates"] if one["fate"] in ("kept", "finished")}
        assert kept == {place for place, one in known.items() if one.fate in ("kept", "finished")}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved figure of a decoder."""
    return ex.save(ex.live(ex.load("gpt2", device="cpu"), PROMPT), tmp_path_factory.mktemp("live") / "gpt2.html")


@pytest.fixture
def figure(browser: Browser, file: Path) -> Iterator[Page]:
    """The figure, opened from the disk."""
    watch = Watch()
    page = opened(browser, watch, file.as_uri())
    page.context.set_offline(True)
    page.wait_for_function("globalThis.explorerDecoders?.length === 1")
    yield page
    assert watch.faults == []
    page.context.close()


def text_of(strategy: str, **options: Any) -> str:
    return str(
        list(ex.decode(ex.load("gpt2", device="cpu"), PROMPT, strategy, **{"max_tokens": 20, **options}))[-1].text
    ).strip()


@LONG
def test_a_hand_leads_it_step_by_step_and_to_the_end(figure: Page) -> None:
    part, status = figure.locator(".decoder"), figure.locator(".decoder .says")
    written = part.locator(".written strong")
    steps = list(ex.decode(ex.load("gpt2", device="cpu"), PROMPT, "greedy", max_tokens=20))
    expect(written).to_have_text(steps[0].text.strip())
    assert part.locator(".candidate").count() == 10
    part.get_by_role("button", name="One token on").click()
    expect(written).to_have_text(steps[1].text.strip())
    shown = part.locator(".candidate").first.inner_text()
    best = next(iter(sorted(steps[1].candidates, key=lambda one: -one.logp)))
    assert best.text in shown and f"{100 * np.exp(best.logp):.1f}%" in shown
    part.get_by_role("button", name="To the end").click()
    figure.wait_for_function("explorerDecoders[0].steps.at(-1).stopped")
    assert part.locator(".written").inner_text() == f"{PROMPT} {steps[-1].text.strip()}"
    part.get_by_label("Token", exact=True).fill("1")
    assert written.inner_text() == steps[0].text.strip() and status.inner_text().startswith("Token 1:")


@LONG
def test_each_strategy_has_its_settings_and_a_seed_draws_what_it_draws_in_python(figure: Page) -> None:
    part = figure.locator(".decoder")
    part.get_by_label("Strategy").select_option("sample")
    part.get_by_label("Top k").fill("5")
    part.get_by_label("Seed").fill("11")
    figure.wait_for_function("explorerDecoders[0].settings().seed === 11 && explorerDecoders[0].steps.length === 1")
    figure.wait_for_timeout(400)
    part.get_by_role("button", name="To the end").click()
    figure.wait_for_function("explorerDecoders[0].steps.at(-1).stopped")
    assert part.locator(".written strong").inner_text() == text_of("sample", seed=11, top_k=5)
    part.get_by_label("Strategy").select_option("beam")
    figure.wait_for_function("explorerDecoders[0].steps.length === 1")
    assert part.get_by_label("Beams").is_visible() and not part.get_by_label("Seed").is_visible()
    part.get_by_role("button", name="To the end").click()
    figure.wait_for_function("explorerDecoders[0].steps.at(-1).stopped")
    assert part.locator(".written strong").inner_text() == text_of("beam", beams=4)
    first = part.locator("table", has_text="Finished texts").locator("tbody tr").first.inner_text()
    assert text_of("beam", beams=4) in first


@LONG  # a token is held by keys below, and a hand leads it above
def test_keys_lead_it(figure: Page) -> None:
    figure.locator(".decoder").get_by_role("button", name="One token on").focus()
    count = "explorerDecoders[0].at"
    for key, at in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0)):
        figure.keyboard.press(key)
        figure.wait_for_function(f"{count} === {at}")
    figure.keyboard.press("End")
    figure.wait_for_function("explorerDecoders[0].steps.at(-1).stopped")
    figure.locator(".decoder").get_by_label("Prompt").press("Home")
    assert figure.evaluate(count) > 0, "in the box, keys write"


EVERY_FRAME = """async ([selectors, steps]) => {
  const decoder = explorerDecoders[0], seen = [], at = (name) => [...decoder.frame.querySelectorAll(name)];
  const shown = (one) => one.getBoundingClientRect().height > 0 && Number(getComputedStyle(one).opacity) > 0.9;
  decoder.player.speed = 4;
  decoder.player.play(true);
  while (decoder.at < steps && decoder.player.playing) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const rows = at(".candidate").filter((one) => Number(getComputedStyle(one).opacity) > 0.1);
    const tops = rows.map((one) => one.getBoundingClientRect().top);
    const close = tops.flatMap((top, n) => tops.slice(n + 1).filter((other) => Math.abs(top - other) < 2)).length;
    seen.push([...selectors.map((name) => at(name).filter(shown).length), close]);
  }
  decoder.player.play(false);
  return seen;
}"""


@LONG
@pytest.mark.parametrize("way", [*long("greedy"), "beam"])
def test_no_moment_of_its_motion_is_without_the_figure(figure: Page, way: str) -> None:
    figure.locator(".decoder").get_by_label("Strategy").select_option(way)
    figure.wait_for_function(
        "(way) => explorerDecoders[0].steps.length === 1 && explorerDecoders[0].way === way && "
        "explorerDecoders[0].stage.moves.every((move) => move.playState === 'finished')",
        arg=way,
    )
    grows = ".written .token" if way == "greedy" else ".node"
    seen = np.array(figure.evaluate(EVERY_FRAME, [[".written", grows, ".play"], 8]))
    assert len(seen) > 20 and (seen[:, [0, 2]] == 1).all(), "the text and the player are always there"
    assert not seen[:, 3].any(), "old candidates are gone before new ones come in their places"
    assert (seen[:, 1] > 0).all() and (np.diff(seen[:, 1]) >= 0).all(), "what is written or searched grows, and never blinks"


@LONG
def test_a_token_flies_from_its_row_and_those_before_it_stay_the_same_objects(figure: Page) -> None:
    figure.wait_for_function("explorerDecoders[0].at === 0")
    moved = figure.evaluate(
        """async () => {
          const decoder = explorerDecoders[0], tokens = () => [...decoder.frame.querySelectorAll(".token[data-key]")], same = [];
          for (let step = 0; step < 3; step++) {
            const before = tokens();
            await decoder.step();
            same.push(...before.map((token, n) => tokens()[n] === token));
          }
          const token = tokens().at(-1);
          const [flight] = token.getAnimations(), { transform, opacity } = flight.effect.getKeyframes()[0];
          const chip = decoder.frame.querySelector(".candidate[data-fate=kept] .token-text").getBoundingClientRect();
          flight.currentTime = 0;
          const begin = token.getBoundingClientRect();
          const long = flight.effect.getTiming().duration;
          return { same, long, transform, opacity,
            off: Math.hypot(chip.left - begin.left, chip.top - begin.top) };
        }"""
    )
    gone = figure.evaluate(
        """async () => {
          const decoder = explorerDecoders[0];
          const list = () => [...decoder.frame.querySelectorAll(".candidate")];
          await decoder.show(0);
          const before = list(), bar = before[0].querySelector(".fill");
          decoder.show(1);
          const shares = list().map((row) => [row.querySelector(".fill").style.width, row.querySelector(".number").textContent]);
          return { names: [...decoder.stage.root.querySelectorAll(":scope > [aria-hidden]")].map((one) => one.className),
            same: list().every((row, n) => row === before[n]), left: !list().some((row) => row.contains(bar)), shares };
        }"""
    )
    assert {"token-text", "number", "fill"} <= {*gone["names"]} <= {"token-text", "token", "number", "fate", "fill"}, (
        "its row stays"
    )
    assert gone["same"] and gone["left"], "a bar leaves with its token"
    for wide, said in gone["shares"]:
        assert abs(float(wide.rstrip("%")) - float(said.split("%")[0].strip("< "))) < 0.11, (
            "no bar has another length than its number"
        )
    assert all(moved["same"]) and len(moved["same"]) >= 3 and 300 <= moved["long"] <= 500
    assert moved["off"] < 1.5 and moved["opacity"] in (None, "", "1", 1), moved


@LONG
def test_reduced_motion_moves_nothing_and_a_touch_pauses(figure: Page) -> None:
    part = figure.locator(".decoder")
    pressed = (
        "() => { const [decoder] = explorerDecoders; decoder.begin(); decoder.player.button.click(); return decoder.count; }"
    )
    assert figure.evaluate(pressed) == 0, "played before its first token is there"
    figure.wait_for_function("explorerDecoders[0].at >= 1")
    part.locator(".written").dispatch_event("pointerdown")
    assert not figure.evaluate("explorerDecoders[0].player.playing")
    figure.emulate_media(reduced_motion="reduce")
    at = figure.evaluate("explorerDecoders[0].at")
    part.get_by_role("button", name="One token on").click()
    figure.wait_for_function("(at) => explorerDecoders[0].at === at + 1", arg=at)
    assert figure.evaluate("explorerDecoders[0].stage.moves.length") == 0


def test_a_token_that_is_held_is_marked_in_every_step_and_can_be_forced(figure: Page) -> None:
    part, model = figure.locator(".decoder"), ex.load("gpt2", device="cpu")
    figure.wait_for_function("explorerDecoders[0].at === 0")
    third = next(iter(ex.decode(model, PROMPT, "greedy", max_tokens=1))).candidates[2]
    part.locator(".candidate").nth(2).hover()
    expect(part.locator(".tip")).to_contain_text(
        f": P = {100 * np.exp(third.logp):.1f}%, log P = {third.logp:.2f}".replace("-", "−")
    )
    part.get_by_role("button", name="One token back").focus()
    figure.keyboard.press("ArrowDown")
    figure.keyboard.press("ArrowDown")
    held = part.locator(".candidate [data-held]")
    chosen = figure.evaluate("explorerDecoders[0].steps[0].candidates[1].id")
    assert held.get_attribute("data-key") == f"chip {chosen}" and "log P" in part.locator(".says").inner_text()
    part.get_by_role("button", name="Write it here").click()
    expect(part.locator(".written strong")).to_have_text(model.tokenizer.decode([chosen]).strip())
    part.get_by_role("button", name="To the end").click()
    figure.wait_for_function("explorerDecoders[0].steps.at(-1)?.stopped")
    assert part.locator(".written strong").inner_text() == text_of("greedy", force={0: chosen})
    part.get_by_role("button", name="Without forced tokens").click()
    figure.wait_for_function("explorerDecoders[0].steps.length === 1 && explorerDecoders[0].force.length === 0")


@LONG
def test_the_tree_keeps_what_python_keeps_and_shows_what_is_pruned(figure: Page) -> None:
    part = figure.locator(".decoder")
    part.get_by_label("Strategy").select_option("beam")
    figure.wait_for_function("explorerDecoders[0].steps.length === 1 && explorerDecoders[0].way === 'beam'")
    part.get_by_role("button", name="To the end").click()
    figure.wait_for_function("explorerDecoders[0].steps.at(-1).stopped")
    steps = tuple(ex.decode(ex.load("gpt2", device="cpu"), PROMPT, "beam", beams=4, max_tokens=20))
    kept = {"node " + ".".join(map(str, node.ids)) for node in placed(steps, 1) if node.candidate.beam >= 0}
    states = {node.get_attribute("data-key"): node.get_attribute("data-state") for node in part.locator(".node").all()}
    assert kept <= set(states)
    best = {f"node {'.'.join(map(str, steps[-1].ids[: n + 1]))}" for n in range(len(steps[-1].ids))}
    assert {key for key, state in states.items() if state == "best"} == best
    tips = [
        node
        for node in placed(steps, 1)
        if node.candidate.fate == "finished" or (node.step == len(steps) - 1 and node.candidate.fate == "kept")
    ]
    alive = {"node " + ".".join(map(str, node.ids[: n + 1])) for node in tips for n in range(len(node.ids))}
    assert {key for key in kept if states[key] == "pruned"} == kept - alive, "a text that nothing goes on from is pruned"


@LONG
def test_a_search_is_run_ahead_so_that_its_tree_keeps_its_scale_and_is_taken_step_by_step(figure: Page) -> None:
    part, tree = figure.locator(".decoder"), figure.locator(".decoder .tree")
    part.get_by_label("Strategy").select_option("beam")
    figure.wait_for_function("explorerDecoders[0].way === 'beam' && explorerDecoders[0].known.at(-1)?.stopped")
    steps = tuple(ex.decode(ex.load("gpt2", device="cpu"), PROMPT, "beam", beams=4, max_tokens=20))
    figure.wait_for_function("explorerDecoders[0].steps.length === 1")
    assert figure.evaluate("explorerDecoders[0].known.map(step => step.text)") == [step.text for step in steps]
    assert part.get_by_label("Token", exact=True).get_attribute("max") == str(len(steps))
    scale = "tree => ['--size', '--column', 'height'].map(name => tree.style.getPropertyValue(name))"
    before, rows = tree.evaluate(scale), part.locator(".tables tr").count()
    assert rows == len(steps[-1].finished) + 1
    for number in range(2, len(steps) + 1):
        part.get_by_role("button", name="One token on").click()
        figure.wait_for_function("(number) => explorerDecoders[0].steps.length === number", arg=number)
        assert tree.evaluate(scale) == before and part.locator(".tables tr").count() == rows


@LONG
def test_what_cannot_go_on_is_said_in_a_sentence(figure: Page) -> None:
    part = figure.locator(".decoder")
    for prompt, sentence in (("", "prompt is empty"), ("dog " * 300, "no room to continue")):
        part.get_by_label("Prompt").fill(prompt)
        figure.wait_for_function("(said) => document.querySelector('.decoder .says').textContent.includes(said)", arg=sentence)
        part.get_by_role("button", name="One token on").click()
        part.get_by_role("button", name="Play").click()
        part.get_by_label("Prompt").fill("A dog")
        figure.wait_for_function("explorerDecoders[0].steps.length === 1")


@LONG
def test_the_board_reads_what_was_written(figure: Page) -> None:
    part = figure.locator(".decoder")
    figure.wait_for_function("explorerDecoders[0].steps.length === 1")
    part.get_by_role("button", name="One token on").click()
    figure.wait_for_function("explorerDecoders[0].steps.length === 2")
    written = figure.evaluate("explorerDecoders[0].steps.at(-1).text")
    part.get_by_role("button", name="Show on the board").click()
    expect(figure.get_by_label("Your sentence")).to_have_value(PROMPT + written)
    figure.wait_for_function("(text) => explorerBoards[0].state().text === text", arg=PROMPT + written)


@LONG
@pytest.mark.parametrize(
    ("name", "text"),
    [*long(("transformer", "The cat slept in the garden.")), ("t5", "The<extra_id_0> did not cross the<extra_id_1>.")],
)
def test_the_board_of_an_encoder_decoder_reads_what_its_decoder_writes(
    browser: Browser, tmp_path: Path, name: str, text: str
) -> None:
    model = ex.load(name, device="cpu")
    page = browser.new_page()
    page.goto(ex.save(ex.live(model, text), tmp_path / "x.html").as_uri())
    page.wait_for_function("globalThis.explorerBoards?.length === 1")
    *_, last = ex.decode(model, text, "greedy", max_tokens=16)
    written = page.get_by_label("The decoder's sentence").input_value()
    ids = page.evaluate("(text) => explorerBoards[0].encode(text)", written)["ids"]
    assert ids[:-1] == [token for token in last.ids if token != ids[-1]], "all but the end token"
    assert name == "t5" or written == last.text
    page.close()


@LONG
def test_in_the_app_python_s_steps_are_drawn_first_and_the_page_takes_its_own_after_a_change(visit: Visit) -> None:
    page, model = visit("/decoding?part=greedy&beginning=The+dog"), ex.load("gpt2", device="cpu")
    part, text = page.locator(".decoder"), page.locator(".decoder .written strong")

    def written(strategy: str, **options: Any) -> str:
        return str(list(ex.decode(model, "The dog", strategy, max_tokens=14, **options))[-1].text).strip()

    part.get_by_role("button", name="To the end").click()
    expect(text).to_have_text(written("greedy"))
    assert page.evaluate(
        "!globalThis.explorerDecoders[0].writing.address.startsWith('http') && explorerDecoders[0].writing.steps.length > 0"
    )
    part.get_by_label("Strategy").select_option("sample")
    part.get_by_label("Top k").fill("5")
    expect(page).to_have_url(re.compile("write=sample.*top_k(=|%3D)5"))
    page.wait_for_function("explorerDecoders[0].settings().top_k === 5 && explorerDecoders[0].steps.length > 0")
    part.get_by_role("button", name="To the end").click()
    expect(text).to_have_text(written("sample", seed=0, top_k=5))


@LONG
def test_a_notebook_s_figure_writes_what_python_writes(visit: Visit, tmp_path: Path) -> None:
    with in_jupyterlab(visit, tmp_path, f"ex.live(ex.load('gpt2', device='cpu'), {PROMPT!r})") as page:
        page.wait_for_function("globalThis.explorerDecoders?.[0]?.steps.length === 1")
        page.locator(".decoder").get_by_role("button", name="To the end").click()
        expect(page.locator(".decoder .written strong")).to_have_text(text_of("greedy"))


def test_what_does_not_run_in_a_page_is_refused() -> None:
    with pytest.raises(ChoiceError, match="Transformer"):
        ex.live(ex.load("glove"), "A dog ran.")
    with pytest.raises(ChoiceError, match="mode"):
        ex.live(ex.load("bert"), "A dog ran.", mode="blue")
