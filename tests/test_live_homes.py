"""A board whose model runs in the page, at home: in the app, in JupyterLab, twice on a page, without workers, and without its weights."""

from __future__ import annotations

import gzip
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LONG, Visit, long
from offline import address_of, empty_page
from playwright.sync_api import Browser, Page, Route, expect
from test_board_homes import in_jupyterlab
from test_live import CLOSE, gap

import explorer as ex
from explorer.app import weights
from explorer.app.call import Call
from explorer.app.controls import model_of
from explorer.app.frame import addressed
from explorer.models.packing import packed_model
from explorer.views.board.module import module
from explorer.views.board.reading import texts_of
from explorer.views.board.request import NOTE
from explorer.views.board.stations import STATIONS, prose

pytestmark = pytest.mark.browser
FIRST, SECOND = "The old cat did not sleep.", "Anna was hungry, so she ate some soup."
LACKING = {"bert": b'"layers.0.attention.query.weight"', "elmo": b'"onward.layers.0.weight_hr_l0"'}
NO_WORKERS = (  # a browser without them, and a page that may have none
    "delete globalThis.Worker",
    "globalThis.Worker = class { postMessage() { this.onerror?.(new Event('error', { cancelable: true })); } terminate() {} }",
)


def pack(name: str) -> bytes:
    data = packed_model(ex.load(name, device="cpu"), prose=prose(list(STATIONS)))
    assert data is not None
    return data


def status(address: str, mark: str = "") -> int:
    """The status of an answer, to a browser that has the content under this mark."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers={"If-None-Match": mark})) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def shown(page: Page, text: str) -> dict[str, Any]:
    """The state of the first board, once it has read this text."""
    page.wait_for_function("(text) => globalThis.explorerBoards?.[0]?.state().text === text", arg=text)
    state: dict[str, Any] = page.evaluate("explorerBoards[0].state()")
    return state


@LONG
def test_a_sentence_that_is_typed_on_a_page_is_read_without_the_server(visit: Visit) -> None:
    page = visit("/attention?part=walk")
    page.wait_for_function("globalThis.explorerBoards?.length === 1")
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)
    asked = list[str]()
    page.on("request", lambda request: "/static/js/" not in request.url and asked.append(request.url))
    page.evaluate("() => { const send = WebSocket.prototype.send, held = [];"
                  " WebSocket.prototype.send = function (data) { held.push([this, data]); };"
                  " globalThis.release = () => { WebSocket.prototype.send = send;"
                  " held.forEach(([socket, data]) => socket.send(data)); }; }")  # fmt: skip
    box = page.get_by_label("Your sentence")
    box.fill(FIRST)
    state = shown(page, FIRST)
    assert asked == [], "what was asked for before the board had its answer"
    page.evaluate("release()")
    trace = ex.trace(ex.load("bert", device="cpu"), FIRST, scores=True)
    assert state["ids"] == trace.source.ids.tolist()
    assert gap(state["logits"], trace.outputs["lm"]) < CLOSE
    expect(page.get_by_role("group", name="Tokens of the sentence")).to_contain_text("sleep")  # the page follows
    assert "sleep" in page.url and shown(page, FIRST) == state
    page.evaluate("async () => { const [board] = explorerBoards; await board.answer({what: 'mask', row: 3});"
                  " globalThis.masked = board.state().text; await board.answer({what: 'undo'}); }")  # fmt: skip
    assert page.evaluate("masked") == FIRST.replace("cat", "[MASK]") and shown(page, FIRST) == state
    page.evaluate("explorerBoards[0].answer({what: 'mask', row: 3})")
    expect(box).to_have_value(FIRST.replace("cat", "[MASK]"))  # and the page follows what a hand changed


@LONG
def test_what_is_typed_before_the_board_has_come_is_read_by_it(browser: Browser, app: tuple[str, Path]) -> None:
    page, held = browser.new_context().new_page(), list[Route]()
    page.route("**/*-board.js", lambda route: held.append(route))
    with page.expect_request("**/*-board.js"):
        page.goto(f"{app[0]}/attention?part=walk")
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    page.get_by_label("Your sentence").fill(FIRST)
    assert held and not page.evaluate("globalThis.explorerBoards?.length")
    for route in held:
        route.continue_()
    assert shown(page, FIRST)["text"] == FIRST
    expect(page).to_have_url(re.compile("text=.*sleep"))  # the page follows
    page.context.close()


def at_part(page: Page, name: str) -> None:
    """Another part of the page, once it is there."""
    page.get_by_role("radio", name=name).click(force=True)
    expect(page).to_have_url(re.compile(f"part={addressed(name)}"))
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()


@LONG
def test_a_board_that_is_drawn_anew_holds_what_a_hand_changed_and_takes_it_back(visit: Visit) -> None:
    page = visit("/attention?part=walk")
    page.wait_for_function("globalThis.explorerBoards?.length === 1")
    state, box = "explorerBoards[0].state()", page.get_by_label("Your sentence")
    edited = page.get_by_text("Edited: head 1 of layer 0 silenced.", exact=True)
    undo = page.get_by_role("button", name="Undo the last change")
    first, text = page.evaluate(state), box.input_value()
    page.evaluate("explorerBoards[0].answer({what: 'mask', row: 2})")
    expect(box).to_have_value(re.compile(r"\[MASK\]"))  # the page follows
    masked = shown(page, box.input_value())
    page.evaluate("explorerBoards[0].answer({what: 'silence', stream: 'encoder', layer: 0, head: 1})")
    expect(edited).to_be_visible()
    silenced = page.evaluate(state)
    assert silenced["logits"] != masked["logits"]
    page.evaluate("globalThis.before = explorerBoards[0]")
    at_part(page, "Both masks")
    at_part(page, "Walk")
    page.wait_for_function("explorerBoards.length === 1 && explorerBoards[0] !== before")
    assert page.evaluate(state) == silenced
    expect(edited).to_be_visible()
    undo.click()
    expect(edited).to_be_hidden()
    assert page.evaluate(state) == masked
    undo.click()
    expect(box).to_have_value(text)
    expect(undo).to_be_hidden()
    assert page.evaluate(state) == first


@LONG
def test_weights_have_an_address_that_browsers_keep(visit: Visit, app: tuple[str, Path]) -> None:
    page = visit("/heads?part=board")
    page.wait_for_function("globalThis.explorerBoards?.length === 1")
    address = page.evaluate(
        "performance.getEntriesByType('resource').map((entry) => entry.name).find((name) => name.endsWith('.bin'))"
    )
    held = (
        "(address) => fetch(address, { cache: 'only-if-cached', mode: 'same-origin' }).then((answer) => answer.ok, () => false)"
    )
    assert page.evaluate(held, address), "the browser has it"
    with urllib.request.urlopen(address) as answer:
        assert "immutable" in answer.headers["Cache-Control"] and gzip.decompress(answer.read()).startswith(pack("bert")[:4])
        mark = answer.headers["ETag"]
    assert status(address, mark) == 304
    script = page.evaluate(
        "performance.getEntriesByType('resource').map(({ name }) => name).find((name) => name.endsWith('-board.js'))"
    )
    with urllib.request.urlopen(script) as answer:
        assert "immutable" in answer.headers["Cache-Control"] and answer.headers["Content-Type"].startswith("text/javascript")
        assert gzip.decompress(answer.read()).decode() == module(live=True)
        assert status(script, answer.headers["ETag"]) == 304
    for odd in ("0-board.js", "bert-0.bin", "glove-0.bin", "..%2f..%2fetc%2fpasswd", "bert", f"{'x' * 300}.bin"):
        assert status(f"{app[0]}/weights/{odd}") in (400, 404), odd


@LONG
def test_a_move_brings_the_board_s_script_no_second_time(visit: Visit) -> None:
    """Streamlit sends the script of a component with every change of what it is told: a board's is 300 kB."""
    page, sizes = visit("/glossary"), list[int]()
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sizes.append(len(data))))
    page.goto(page.url.replace("/glossary", "/attention?part=walk"))
    page.wait_for_function("globalThis.explorerBoards?.length === 1")
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    assert sum(sizes) > 10_000, "the page arrived"
    sizes.clear()
    page.locator(".board canvas").focus()
    page.keyboard.press("ArrowUp")
    expect(page).to_have_url(re.compile("board=encoder"))
    assert 0 < sum(sizes) < 60_000


@LONG  # nor do the weights, below
def test_where_the_script_does_not_arrive_one_sentence_says_so(browser: Browser, app: tuple[str, Path]) -> None:
    page = browser.new_context().new_page()
    page.route("**/*-board.js", lambda route: route.abort())
    page.goto(f"{app[0]}/attention?part=walk")
    expect(page.get_by_text("The script of this picture did not arrive. Load this page again.")).to_be_visible()
    page.context.close()


@LONG
def test_where_the_weights_do_not_arrive_the_board_is_recorded_and_says_so(browser: Browser, app: tuple[str, Path]) -> None:
    page = browser.new_context().new_page()
    page.route("**/weights/*.bin", lambda route: route.abort())
    page.goto(f"{app[0]}/attention?part=walk")
    expect(page.locator(".board[data-state=ready] .gap")).to_contain_text(NOTE.format(where="the server"))
    for tries_left in (2, 1, 0):  # a board that is drawn anew at this moment may have lost the first key
        page.locator(".board canvas").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("m")
        page.get_by_role("menuitem", name="Mask it").click()
        with suppress(AssertionError) if tries_left else nullcontext():
            expect(page.get_by_label("Your sentence")).to_have_value(re.compile(r"\[MASK\]"), timeout=15_000)
            break
    page.context.close()


@contextmanager
def boards_in(browser: Browser) -> Iterator[Any]:
    """What makes a page of boards of these models, with something done to the page first; no error may be left in its console."""
    made, faults = list[Page](), list[str]()

    def page_of(*models: tuple[str, str], first: str = "") -> Page:
        page = empty_page(browser, "<div id=b0></div><div id=b1></div>")
        made.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.evaluate(
            """async ([text, models, first]) => { (0, eval)(first);
            globalThis.engine = await import(URL.createObjectURL(new Blob([text], {type: "text/javascript"})));
            for (const [n, [address, sentence]] of models.entries())
              await engine.mountLive(document.getElementById(`b${n}`), new Uint8Array(await (await fetch(address)).arrayBuffer()),
                { text: sentence, target: null }); }""",
            [module(live=True), [[address_of(packs(name)), text] for name, text in models], first],
        )
        return page

    yield page_of
    assert faults == []
    for page in made:
        page.close()


@pytest.fixture
def pages(browser: Browser) -> Iterator[Any]:
    with boards_in(browser) as page_of:
        yield page_of


@pytest.fixture(scope="module")
def both(browser: Browser) -> Iterator[Page]:
    """A page with a board of an encoder and one of a decoder."""
    with boards_in(browser) as page_of:
        yield page_of(("bert", FIRST), ("gpt2", FIRST))


def packs(name: str) -> bytes:
    """A model as a page reads it, or a damaged one: "bert cut"."""
    name, _, fault = name.partition(" ")
    data = pack(name)
    if fault == "cut":
        return data[:-1000]
    if fault == "lacks":
        return data.replace(LACKING[name], LACKING[name][:-2] + b's"')
    return data[:-20_000] + b"\xff\x7f" * 10_000 if fault else data


@LONG
def test_two_models_on_a_page_answer_for_themselves(both: Page) -> None:
    for n, name in enumerate(("bert", "gpt2")):
        trace = ex.trace(ex.load(name, device="cpu"), FIRST, scores=True)
        state = both.evaluate(f"explorerBoards[{n}].state()")
        assert state["model"] == name and gap(state["logits"], trace.outputs["lm"]) < CLOSE


@pytest.mark.parametrize("first", ("", *long(*NO_WORKERS)))
def test_the_sentence_that_was_typed_last_wins_with_and_without_workers(pages: Any, first: str) -> None:
    page = pages(("bert", FIRST), first=first)
    texts = [f"{SECOND} {'dog ' * n}" for n in range(6)]
    done = page.evaluate("(texts) => Promise.all(texts.map((text) => explorerBoards[0].type(text)))", texts)
    assert done == [False] * 5 + [True]
    state = page.evaluate("explorerBoards[0].state()")
    assert state["text"] == texts[-1] and state["ids"] == ex.load("bert", device="cpu").tokens(texts[-1]).ids.tolist()
    expect(page.get_by_label("Your sentence")).to_be_visible()


@LONG
@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("bert cut", "cut off"),
        *long(
            ("elmo lacks", "lacks the tensor"),
            ("bert lacks", "lacks the tensor"),
            ("bert infinite", "not all finite"),
            ("elmo infinite", "not all finite"),
        ),
    ],
)
def test_a_damaged_model_is_one_sentence_on_its_page(pages: Any, model: str, why: str) -> None:
    page = pages((model, FIRST), ("gpt2", FIRST))
    expect(page.locator("#b0 [role=status]")).to_contain_text(why)
    expect(page.locator("#b1 .board[data-state=ready]")).to_be_visible()


@LONG
@pytest.mark.parametrize("name", ("bert", *long("elmo", "bart")))
def test_odd_sentences_have_an_answer_or_a_sentence(pages: Any, name: str) -> None:
    page = pages((name, FIRST))
    count = ex.load(name, device="cpu").tokenizer.count("dog " * 600)
    cut = f"{count} tokens; this model reads 128"
    for text, said in (("", "Type a sentence"), (" ", "Type a sentence"), ("dog " * 600, cut)):
        page.get_by_label("Your sentence").evaluate(
            "(box, text) => { box.value = text; box.dispatchEvent(new Event('input')); }", text
        )
        expect(page.locator("[role=status]")).to_contain_text(said)
    page.get_by_label("Your sentence").fill(SECOND)
    assert shown(page, SECOND)["text"] == SECOND
    expect(page.locator("[role=status]")).to_be_hidden()


@LONG
def test_a_long_text_never_holds_its_page_up(both: Page) -> None:
    """The longest wait for a frame within each of five readings of 128 tokens. A busy machine holds one of them up; a reading
    that ran in the page itself would hold up all five."""
    readings = both.evaluate(
        """async (text) => { const { engine } = explorerBoards[0], readings = [];
        let last = performance.now(), worst = 0, on = true;
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => { const now = performance.now(); worst = Math.max(worst, now - last); last = now;
          if (on) port2.postMessage(0); };
        port2.postMessage(0);
        for (let n = 0; n < 5; n++) {
          const begin = performance.now(); worst = 0;
          await engine.ask("read", { text, target: null, edits: [] });
          readings.push(worst / (performance.now() - begin));
        }
        on = false; return readings; }""",
        "dog " * 126,
    )
    assert sorted(readings)[2] < 0.5, readings


@LONG  # the pages of a site are looked at on a telephone, too
def test_a_live_file_fits_a_telephone(visit: Visit, tmp_path: Path) -> None:
    model = ex.load("bart", device="cpu")
    trace = ex.trace(model, SECOND, target="The soup was warm.", blocks=True)
    page = visit(ex.save(ex.board(trace, model=model), tmp_path / "x.html").as_uri(), width=390, height=800)
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@LONG
def test_what_a_trace_read_is_written_as_texts(bert: Any) -> None:
    assert texts_of(ex.trace(bert, FIRST), bert) == {"text": FIRST.lower(), "target": None}
    assert texts_of(ex.trace(bert, FIRST), bert, FIRST) == {"text": FIRST, "target": None}
    assert texts_of(ex.trace(bert, FIRST, edits=[ex.NoScale("encoder")]), bert) is None
    assert texts_of(ex.trace(bert, [5, 6, 7]), bert) is None, "no text has these tokens alone"
    hidden = texts_of(ex.trace(bert, "The old [MASK] slept."), bert)
    assert hidden == {"text": "the old [MASK] slept.", "target": None}
    marks = {"text": "The<extra_id_0> did not sleep.", "target": "<extra_id_0> cat<extra_id_1>"}
    t5 = ex.load("t5", device="cpu")
    assert texts_of(ex.trace(t5, marks["text"], target=marks["target"]), t5) == marks
    translator = ex.load("transformer", device="cpu")
    steps = list(ex.decode(translator, FIRST, "greedy", max_tokens=8))
    whole = ex.trace(translator, FIRST, target=steps[-1].ids.tolist())
    texts = texts_of(whole, translator)
    if texts is not None:
        again = ex.trace(translator, str(texts["text"]), target=texts["target"])
        assert again.target is not None and whole.target is not None
        np.testing.assert_array_equal(again.target.ids, whole.target.ids)


def test_only_a_shipped_model_by_its_name_has_weights_at_an_address() -> None:
    call = Call(ex.trace, model_of("bert"), FIRST)
    assert weights.name_in(call) == "bert" and weights.address_of("bert") == "", "there is no server here"
    steps = Call(ex.trace, Call(ex.load, "bert", step=100, device="cpu"), FIRST)
    assert weights.name_in(steps) == weights.name_in(Call(list)) == weights.name_in(None) == ""
    assert weights._answer("bert-0.bin", "")[0] == weights._answer("/etc/passwd", "")[0] == 404


@LONG
def test_a_notebook_s_board_reads_on_when_its_kernel_is_gone(visit: Visit, tmp_path: Path) -> None:
    cell = f"model = ex.load('bert', device='cpu')\nex.board(ex.trace(model, {FIRST!r}, blocks=True), model=model)"
    with in_jupyterlab(visit, tmp_path, cell) as page:
        shown(page, FIRST.lower())
        page.evaluate("async () => { for (const { id } of await (await fetch('/api/kernels')).json())"
                      " await fetch(`/api/kernels/${id}`, { method: 'DELETE', headers: { 'X-XSRFToken':"
                      " document.cookie.match(/_xsrf=([^;]+)/)[1] } }); }")  # fmt: skip
        page.get_by_label("Your sentence").fill(SECOND)
        assert shown(page, SECOND)["ids"] == ex.load("bert", device="cpu").tokens(SECOND).ids.tolist()
