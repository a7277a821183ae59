"""The static site: served by Python's own server, walked by every link, on a screen and on a telephone; nobody outside is asked."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import numpy as np
import pytest
from conftest import ALL, LONG, long
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from offline import Watch, free_port, opened, server
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from test_accessibility import audit, judged
from typed import typed

import explorer as ex
from explorer.analysis.architectures import word_prediction
from explorer.app.site import LIMIT, live_pages, notebook_pages, write_site
from explorer.errors import ChoiceError, FileError
from explorer.models.packing import packed_model
from explorer.views.titles import TITLES
from studies import site as notebook_site

SOME = () if ALL else ("elmo", "bert", "gpt2", "bart")
PAGES = ("index.html", "corruption.html", "learning.html", "models/elmo.html", "models/gpt2.html")
OUTSIDE = re.compile(r"""(?:src|href)\s*=\s*["'](?:/|https?:|//)""")


def noted(folder: Path) -> Path:
    """Two notebooks as pages, as `make notebooks` writes them."""
    rng, out = np.random.default_rng(0), io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (40, 60, 3), dtype=np.uint8)).save(out, "PNG")
    image = new_output("display_data", {"image/png": base64.b64encode(out.getvalue()).decode()})
    for name in ("00_one", "01_two"):
        cells = [new_markdown_cell(f"# Notebook {name}\n\nThe softmax of $x$."), new_code_cell("1 + 1", outputs=[image])]
        notebook_site.write(new_notebook(cells=cells), folder / name)
    (folder / "index.html").write_text("not copied")
    (folder / "solutions.html").write_text("not copied")
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    report = write_site(folder, SOME, pages=noted(tmp_path_factory.mktemp("pages")))
    assert report.bytes <= LIMIT and report.files == len([path for path in folder.rglob("*") if path.is_file()])
    return folder


@pytest.fixture(scope="module")
def address(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    place, here = tmp_path_factory.mktemp("log"), f"http://127.0.0.1:{port}/"
    with server(["http.server", str(port), "--bind", "127.0.0.1"], here, place, cwd=site) as outside:
        yield here
        assert outside.read_text() == ""


def readable(page: Page) -> list[str]:
    """What two checkers find wrong."""
    return [fault for fault in (*judged(page), *audit(page)) if "canvas" not in fault]


def links(page: Page) -> list[str]:
    """The addresses that a page leads to."""
    return [
        urldefrag(urljoin(page.url, link))[0].partition("?")[0]
        for link in page.eval_on_selector_all("a[href]", "all => all.map(a => a.getAttribute('href'))")
    ]


@LONG
@pytest.mark.browser
@pytest.mark.parametrize(("width", "mode"), [*long((1280, "light")), (390, "dark")])
def test_every_link_is_followed_and_nobody_outside_is_asked(
    browser: Browser, site: Path, address: str, width: int, mode: str
) -> None:
    todo, seen = [f"{address}index.html"], dict[str, Watch]()
    while todo:
        here = todo.pop()
        if here in seen or not here.startswith(address):
            continue
        watch = seen[here] = Watch()
        requests: list[str] = []
        page = opened(browser, watch, here, mode, width)
        page.on("request", lambda request: requests.append(request.url))  # noqa: B023
        if "/models/" in here or here.endswith(("corruption.html", "learning.html")):
            expect(page.locator("body[data-drawn=yes]")).to_be_attached()
        page.wait_for_timeout(200)
        assert watch.faults == [] and page.title(), here
        if not ALL and here.removeprefix(address) in PAGES:
            assert readable(page) == [], here
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{here} is wider than the screen"
        assert all(request.startswith((address, "blob:", "data:")) for request in requests)
        todo += links(page)
        page.context.close()
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {here.removeprefix(address) for here in seen} == pages, "every page is found, and every link leads to one"


@pytest.mark.long  # in the short run they are judged where every link is followed
@pytest.mark.browser
@pytest.mark.parametrize("mode", ("light", "dark"))
def test_its_pages_are_readable_for_everybody(browser: Browser, address: str, mode: str) -> None:
    for name in PAGES:
        page = opened(browser, Watch(), address + name, mode, 390)
        if name != "index.html":
            expect(page.locator("body[data-drawn=yes]")).to_be_attached()
        page.wait_for_timeout(300)
        assert readable(page) == [], name
        page.context.close()


@LONG
@pytest.mark.browser
def test_a_page_s_model_is_the_shipped_one_to_the_bit_and_answers_as_in_python(browser: Browser, address: str) -> None:
    page = opened(browser, Watch(), f"{address}models/gpt2.html#decoder")
    expect(page.locator("body[data-drawn=yes]")).to_be_attached()
    expect(page.locator(".decoder h3")).to_be_in_viewport()
    text = "The old cat did not sleep."
    page.evaluate("(text) => explorerBoards[0].type(text)", text)
    state = page.evaluate("explorerBoards[0].state()")
    trace = ex.trace(ex.load("gpt2", device="cpu"), text, scores=True)
    assert state["ids"] == trace.source.ids.tolist()
    gap = np.abs(np.reshape(state["logits"], trace.outputs["lm"].shape) - trace.outputs["lm"]).max()
    assert gap < 1e-4 * np.abs(trace.outputs["lm"]).max()
    *_, last = ex.decode(ex.load("gpt2", device="cpu"), text, max_tokens=20)
    page.get_by_label("Prompt").fill(text)
    page.wait_for_timeout(1000)
    page.locator(".decoder").get_by_role("button", name="To the end").click()
    expect(page.locator(".decoder .written strong")).to_have_text(last.text.strip())
    page.context.close()


BARS = "all => all.map(one => [...one.querySelector('.bar').children].map(part => part.textContent))"


@LONG
@pytest.mark.browser
def test_the_opening_plays_answers_as_python_does_and_leads_to_the_row(browser: Browser, address: str) -> None:
    page, requests = opened(browser, Watch(), f"{address}corruption.html", "light", 1280, 640), list[str]()
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{address}index.html")
    expect(page.locator("body[data-drawn=yes]")).to_be_attached()
    assert page.locator(".opening").evaluate("e => e.getBoundingClientRect().bottom <= innerHeight"), "nothing below the fold"
    expect(page.locator(".opening .play")).to_have_attribute("aria-label", "Stop the film")
    assert not [request for request in requests if request.endswith((".bin", "live.js"))], "models come once a reader types"
    read = "The old cat it in the garden."
    page.get_by_label("Your own sentence").fill(read.replace("it", "___"))
    expect(page.locator(".opening:not([data-waiting])")).to_be_attached()
    for (token, _, number), name in zip(page.locator(".opening .lane").evaluate_all(BARS), TITLES, strict=True):
        prediction = word_prediction(ex.load(name, device="cpu"), read, (12, 14), top=1)
        assert token.lstrip("→← ") == prediction.texts[0][0].removeprefix("·"), name
        assert abs(int(number.removesuffix("%")) - 100 * prediction.shares[0][0]) <= 0.6
    page.get_by_role("link", name="Why this word?").click()
    expect(page).to_have_url(re.compile("/models/bert.html[?]"))
    expect(page.locator("body[data-drawn=yes]")).to_be_attached()
    asked = ex.load("bert", device="cpu").tokens("The old cat [MASK] in the garden.")
    assert page.evaluate("explorerBoards[0].state().ids") == asked.ids.tolist()
    expect(page.locator(".board .pair")).to_contain_text("[MASK]")
    page.context.close()


def test_what_travels_is_the_packed_model() -> None:
    data = packed_model(ex.load("bert-tiny", device="cpu"))
    assert data is not None
    sent = gzip.decompress(live_pages.travelling(data))
    head = 4 + int.from_bytes(data[:4], "little")
    half = (len(sent) - head) // 2
    joined = np.empty(2 * half, np.uint8)
    joined[::2], joined[1::2] = np.frombuffer(sent[head:], np.uint8).reshape(2, half)
    assert sent[:head] + joined.tobytes() == data and len(live_pages.travelling(data)) < len(gzip.compress(data))


def test_addresses_are_relative_and_the_front_page_is_small(site: Path) -> None:
    for path in (*site.glob("*.html"), *(site / "models").glob("*.html")):
        assert not OUTSIDE.search(path.read_text("utf-8")), path
    front = sum(
        (site / name).stat().st_size
        for name in ("index.html", "site.css", "opening.css", "opening.js", "opening_page.js", "fetched.js")
    )
    assert front <= 1_000_000
    assert "solutions" not in (site / "index.html").read_text("utf-8") and not list((site / "notebooks").glob("solutions*"))


def test_an_encoder_decoder_opens_with_a_text_of_its_training() -> None:
    for name, strategy, part in (
        ("bart", "bart", "<mask>"),
        ("t5", "t5", "<extra_id_0>"),
        ("transformer", "translation", "animal"),
    ):
        model = ex.load(name, device="cpu")
        text = live_pages.opening_text(model, strategy)
        assert part in text and "</s>" not in text
        if strategy != "translation":
            damaged = ex.corrupt(live_pages.STORY, strategy, tokenizer=model.tokenizer)
            assert model.tokens(text).ids.tolist()[2:] == damaged.source.ids.tolist()[2:], (
                "but for the space before its first word"
            )


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(ChoiceError, match="holds other files"):
        write_site(tmp_path, ["bert-tiny"], notebooks=False)
    assert (tmp_path / "mine.txt").read_text() == "keep"
    with pytest.raises(ChoiceError, match="bert-tiny"):
        write_site(tmp_path / "new", ["bert-tny"], notebooks=False)
    done = typed("site", str(tmp_path), "--models", "bert-tiny", "--no-notebooks", folder=tmp_path)
    assert done.returncode == 2 and "holds other files" in done.stderr


class Links(HTMLParser):
    """Where the links of a page lead, and the names of all attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links, self.names = list[str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {name for name, _ in attrs}
        self.links += [str(value) for name, value in attrs if name == "href"]


@LONG
@pytest.mark.parametrize("name", ['a"onclick="b', "a#b?c%20d", "<img src=x onerror=b>", "é a&amp;b"])
def test_whatever_a_model_or_a_notebook_is_called_its_page_is_found_and_nothing_else_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    shutil.copytree(ex.models()["induction"].folder, tmp_path / "models" / name)
    site, pages = tmp_path / "site", tmp_path / "pages"
    site.mkdir(), pages.mkdir()
    (pages / f"{name}.html").write_text("<html><HEAD lang=en><title>A &amp; B</title></HEAD><body></body></html>", "utf-8")
    cards, _ = live_pages.write(site, (name,), 10_000_000, lambda line: None)
    noted = notebook_pages.written(site, pages, lambda line: None)
    front = Links(live_pages.front(cards, noted.titles))
    targets = [site / unquote(urldefrag(link)[0]) for link in front.links if link.startswith(("models/", "notebooks/"))]
    assert {target.relative_to(site).parts[0] for target in targets} == {"models", "notebooks"}
    assert all(target.is_file() for target in targets) and not front.names & {"onclick", "onerror"}
    (weights,) = (site / "models").glob("*.bin")
    (begin,) = re.findall(r'"file": "([^"]+)"', (site / "models" / f"{name}.html").read_text("utf-8"))
    assert unquote(begin) == weights.name and noted.titles[name] == "A & B"
    assert notebook_pages.POLICY_OF in (site / "notebooks" / f"{name}.html").read_text("utf-8")


@pytest.mark.parametrize(
    "page",
    [
        b"<script>alert(1)</script>",
        b"\xff<head>",
        b'<head><img src="data:image/png;base64,AAA">',
        b'<head>"data:image/png;base64,AAAA"',
    ],
)
def test_a_page_that_no_notebook_was_made_into_is_refused(page: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(page)
    with pytest.raises(FileError, match=r"a\.html cannot be put on the site .* make notebooks"):
        notebook_pages.written(tmp_path / "site", tmp_path, lambda line: None)


@pytest.mark.parametrize("objective", [None, "<b>", []])
def test_a_model_whose_run_was_edited_is_refused(objective: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    shutil.copytree(ex.models()["induction"].folder, folder := tmp_path / "models" / "mine")
    run = json.loads((folder / "run.json").read_text("utf-8"))
    (folder / "run.json").write_text(json.dumps(run | {"plan": run["plan"] | {"objective": objective}}), "utf-8")
    (tmp_path / "site").mkdir()
    with pytest.raises(FileError, match=r"run\.json names no objective that is known"):
        live_pages.write(tmp_path / "site", ("mine",), 10_000_000, lambda line: None)


def test_models_without_room_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    cards, omitted = live_pages.write(tmp_path, ("bert-tiny", "induction", "word2vec"), 300_000, said.append)
    assert omitted == ["bert-tiny"] and [card.page for card in cards] == ["", "models/induction.html", ""]
    front = live_pages.front(cards, {})
    assert front.count("In the app only") == 2 and "<h3>bert-tiny</h3>" in front
