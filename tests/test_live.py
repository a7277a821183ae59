"""The model in the page: the engine in JavaScript is held to Python, model by model, station by station, in a browser."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ALL, LONG, TABLE, long, sample
from offline import address_of, empty_page
from playwright.sync_api import Browser, Page

import explorer as ex
from explorer.app.controls import attentive
from explorer.errors import ExplorerError
from explorer.models.packing import packed_model
from explorer.models.presets import PRESETS
from explorer.views.board.module import module

pytestmark = pytest.mark.browser
TRANSFORMERS = attentive()  # by their cards: nobody waits for twenty models before the first test


def family_of(name: str) -> str:
    return str(PRESETS[ex.models()[name].about()["preset"]].architecture["family"])


TEXTS = (
    "The animal didn't cross the street because it was too tired.", "A dog ran.", "it", "!",
    "Anna was hungry, so she ate some soup.", "Who is in the garden?", "The keys to the house are on the table.",
    "Élan vital 123 …", "מה שלומך", "She said: \"No!\"", "Ben gave the old man his coat because he was cold.",
    "After the storm the children ran into the dark house .", "Zürich straße 日本", "the the the the", "What?! Why — how?",
    "The bank of the river was wet, so the boy sat on a bench.", "x = f(y) + 3.14", "Two cats and three dogs slept under one table.",
    "supercalifragilistic", "I gave it to her yesterday; she gave it back.",
)  # fmt: skip
WRITERS = [name for name in TRANSFORMERS if family_of(name) != "encoder"]
CLOSE = 1e-4  # of the largest number of a station
ODD = (
    "naïve café", "e\u0301a\u0300 n\u0303", "مرحبا بالعالم", "日本語 漢字テスト 한국어",
    "👩‍👩‍👧 😀🏽", "x = 3.14; def f(n): return n**2",
    "  many   spaces\t\ttabs\nnew\r\nlines ",
    "[MASK] is <mask> here <|endoftext|> and [SEP]", "\u00a0\u2003\u200b\ufeffzero\u200dwidth", "a" * 120,
    "½ ² ①", "“quotes” — dash… ‘x’", "\x00\x01", "ﬁ ligature", "क्षि हिन्दी தமிழ்",
    "<extra_id_0> and <extra_id_1>", "a\u0085b", "▁ Ġ ##ing",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page that holds the engine and nothing else."""
    page = empty_page(browser, "<div id=at></div>")
    page.evaluate(
        """async (text) => { globalThis.engine = await import(URL.createObjectURL(new Blob([text], {type: "text/javascript"})));
        globalThis.opened = {};
        globalThis.plain = (x) => { let text = "";
          for (const byte of new Uint8Array(Float32Array.from(x).buffer)) text += String.fromCharCode(byte);
          return btoa(text); };
        globalThis.bytesAt = async (address) => new Uint8Array(await (await fetch(address)).arrayBuffer());
        globalThis.openModel = async (name, address) => { opened[name] = new engine.LiveModel(await bytesAt(address)); }; }""",
        module(live=True),
    )
    yield page
    page.close()


def opened(page: Page, name: str) -> Any:
    """The model in Python, and in the page under its name."""
    model = ex.load(name, device="cpu")
    if not page.evaluate("(name) => name in opened", name):
        data = packed_model(model)
        assert data is not None
        page.evaluate("([name, address]) => openModel(name, address)", [name, address_of(data)])
    return model


def gap(mine: Any, model: np.ndarray) -> float:
    """The largest difference, as a share of the largest number; of a tenth, where all are smaller: sums of terms near one round by 1e-6."""
    numbers = np.frombuffer(base64.b64decode(mine), "<f4") if isinstance(mine, str) else np.asarray(mine, np.float64)
    numbers = numbers.reshape(np.shape(model))
    return float(np.abs(numbers - model).max() / max(np.abs(model).max(), 0.1))


def targets(model: Any) -> dict[str, str]:
    return {"target": "The cat slept in the garden."} if model.family == "encoder-decoder" else {}


READ = """([name, text, target, edits]) => {
  const model = opened[name], found = model.read(text, target, edits), {trace} = found;
  const each = (of, read) => Object.fromEntries(Object.entries(of).map(([k, v]) => [k, read(v)]));
  const stations = ({ q, k, v, weights, context, output }) => each({ q, k, v, weights, context, output }, plain);
  return { ids: found.source.ids, texts: found.source.texts, outputs: each(trace.outputs, plain),
    hidden: each(trace.hidden, (states) => states.map(plain)),
    attention: trace.attention.map((a) => ({ ...stations(a), scale: a.scale })),
    blocks: trace.blocks.map((b) => ({ out: plain(b.out), total: plain(b.total) })) };
}"""


@pytest.mark.parametrize("name", TRANSFORMERS if ALL else ("deberta", "llama", "t5"))
def test_every_station_of_every_model_is_python_s(page: Page, name: str, record_property: Any) -> None:
    model, worst = opened(page, name), dict[str, float]()

    def meets(station: str, mine: Any, wanted: np.ndarray) -> None:
        worst[station] = max(worst.get(station, 0.0), gap(mine, wanted))
        assert worst[station] < CLOSE, (text, station)

    for text in TEXTS[: len(sample(len(TEXTS), 1))]:
        trace = ex.trace(model, text, blocks=True, scores=True, **targets(model))
        found = page.evaluate(READ, [name, text, targets(model).get("target"), []])
        assert found["ids"] == trace.source.ids.tolist() and found["texts"] == list(trace.source.texts), text
        for mine, attention in zip(found["attention"], trace.attention, strict=True):
            assert mine["scale"] == pytest.approx(attention.scale)
            for station in ("q", "k", "v", "weights", "output"):
                meets(station, mine[station], getattr(attention, station))
            meets("context", mine["context"], np.stack([attention.stage("context", head) for head in range(attention.heads)]))
        for mine, block in zip(found["blocks"], trace.blocks, strict=True):
            meets("block", mine["out"], block.out)
            meets("sum", mine["total"], block.total)
        for stream, states in trace.hidden.items():
            for state, wanted in zip(found["hidden"][stream], states, strict=True):
                meets("state", state, wanted)
        for output, scores in trace.outputs.items():
            meets("scores", found["outputs"][output], scores)
    row = ", ".join(f"{station} {share:.0e}" for station, share in worst.items())
    record_property(f"{TABLE}the engine of the page against Python, largest difference as a share", f"{name}: {row}")


def test_a_model_without_feed_forward_layers_keeps_their_norms(page: Page) -> None:
    model = ex.build("bert", tokenizer=ex.load("bert", device="cpu").tokenizer, feed_forward=False, device="cpu")
    data = packed_model(model)
    assert data is not None
    page.evaluate("([name, address]) => openModel(name, address)", ["attention alone", address_of(data)])
    trace = ex.trace(model, TEXTS[1], blocks=True, scores=True)
    found = page.evaluate(READ, ["attention alone", TEXTS[1], None, []])
    assert len(found["blocks"]) == len(trace.blocks) and gap(found["outputs"]["lm"], trace.outputs["lm"]) < CLOSE


def edits_for(model: Any, stream: str, queries: int, keys: int) -> list[tuple[ex.Edit, dict[str, Any]]]:
    """Each kind of edit, as Python and as the page has it."""
    wide = model.config.dim // model.config.heads
    mask, row, order = np.tril(np.ones((queries, keys), bool)), np.eye(keys)[0], [0, *range(queries - 2, 0, -1), queries - 1]
    values = np.linspace(-1, 1, wide)
    every = [
        (ex.SilenceHead(stream, 0, 1), {"layer": 0, "head": 1}), (ex.NoScale(stream), {}),
        (ex.SetMask(stream, mask), {"allowed": mask.tolist()}),
        (ex.SilenceLayer(stream, 1, "feed-forward"), {"layer": 1, "part": "feed-forward"}),
        (ex.NoNorm(stream, 1, None), {"layer": 1, "part": None}),
        (ex.NoResidual(stream, 0, "attention"), {"layer": 0, "part": "attention"}), (ex.Uniform(stream, 1, 0), {"layer": 1, "head": 0}),
        (ex.ReplaceRow(stream, 0, 0, 1, row), {"layer": 0, "head": 0, "query": 1, "row": row.tolist()}),
        (ex.NoPositions(stream), {}),
        (ex.MovePositions(stream, np.array(order)), {"order": order}),
        (ex.SetUnit(stream, 0, 7, 0.0), {"layer": 0, "unit": 7, "factor": 0.0}),
        (
            ex.SetVector("q", stream, None, None, 2, values),
            {"which": "q", "layer": None, "head": None, "position": 2, "values": values.tolist()},
        ),
        (ex.SetVector("v", stream, 0, 0, 1, values), {"which": "v", "layer": 0, "head": 0, "position": 1, "values": values.tolist()}),
    ]  # fmt: skip
    other = ex.trace(model, "A cat slept in the park.", **targets(model))
    if stream in other.hidden:
        state = other.hidden[stream][1][2]  # after layer 0
        vector = np.linspace(-1, 1, len(state))
        every.append((ex.AddVector(stream, 1, vector, -2.0), {"layer": 1, "values": vector.tolist(), "factor": -2.0}))
        every.append((ex.PatchHidden(stream, 0, 2, other), {"layer": 0, "position": 2, "values": state.tolist()}))
    return [(edit, {"edit": type(edit).__name__, "stream": stream, **fields}) for edit, fields in every]


@LONG
@pytest.mark.parametrize("name", TRANSFORMERS if ALL else ["t5"])
def test_every_edit_changes_what_it_changes_in_python(page: Page, name: str) -> None:
    model, text = opened(page, name), "The dog ran home because it was tired."
    plain, tried = ex.trace(model, text, **targets(model)), 0
    for stream in model.streams:
        rows, columns = (len(tokens) for tokens in plain.axes(stream))
        for edit, fields in edits_for(model, stream, rows, columns):
            try:
                trace = ex.trace(model, text, edits=[edit], scores=True, **targets(model))
            except ExplorerError:
                continue  # what this model does not have
            found = page.evaluate(READ, [name, text, targets(model).get("target"), [fields]])
            tried += 1
            for output, scores in trace.outputs.items():
                assert gap(found["outputs"][output], scores) < CLOSE, (stream, edit)
    assert tried >= 10


@pytest.mark.parametrize("name", WRITERS if ALL else ("gpt2", "bart"))
def test_it_writes_what_python_writes(page: Page, name: str) -> None:
    model = opened(page, name)
    for text in ("Anna was hungry, so", "The dog ran home. It", "My sister")[: len(sample(3, 1))]:
        for strategy, options in (("greedy", {}), ("beam", {"beams": 4})):
            last = list(ex.decode(model, text, strategy, max_tokens=30, **options))[-1]
            found = page.evaluate(
                "([name, text, way, settings]) => [...opened[name].write(text, way, settings)].at(-1)",
                [name, text, strategy, {"max_tokens": 30, **options}],
            )
            mine = found["finished"][0]["text"] if strategy == "beam" else found["text"]
            assert mine == (last.finished[0].text if strategy == "beam" else last.text), (text, strategy)


@pytest.mark.parametrize("name", ("bert", "gpt2", "t5", "elmo", *long("gpt", "roberta")))
def test_tokens_are_those_of_the_tokenizers_library(page: Page, name: str) -> None:
    model, rng = opened(page, name), np.random.default_rng(5)
    words = " ".join((*TEXTS, *ODD)).split(" ")
    texts = [*TEXTS, *ODD, *(" ".join(rng.choice(words, rng.integers(1, 9))) for _ in sample(470, 60))]
    found = page.evaluate(
        """([name, texts]) => { const { tokenizer } = opened[name]; return texts.map((text) => {
          const { ids, texts, words, unseen } = tokenizer.encode(text); return [ids, texts, words, unseen, tokenizer.decode(ids)]; }); }""",
        [name, texts],
    )
    for text, (ids, shown, numbers, unseen, decoded) in zip(texts, found, strict=True):
        tokens = model.tokenizer.encode(text)
        assert (ids, shown, numbers) == (tokens.ids.tolist(), list(tokens.texts), list(tokens.words)), text
        assert unseen == (None if tokens.unseen is None else [bool(new) for new in tokens.unseen]), text
        assert decoded == model.tokenizer.decode(tokens.ids), text


def saved(tmp_path: Path, name: str, text: str) -> Path:
    model = ex.load(name, device="cpu")
    trace = ex.trace(model, text, blocks=True, **targets(model))
    return Path(ex.save(ex.board(trace, model=model), tmp_path / f"{name}.html"))


@LONG
@pytest.mark.parametrize("name", (*long("bert", "gpt2"), "bart"))
def test_a_saved_board_reads_what_is_typed_from_the_disk_without_network(browser: Browser, tmp_path: Path, name: str) -> None:
    file = saved(tmp_path, name, "A dog ran home.")
    assert file.stat().st_size < (6_500_000 if name == "bart" else 4_200_000)
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.context.set_offline(True)
    page.goto(file.as_uri())
    page.wait_for_function("globalThis.explorerBoards?.length === 1")
    text = "The old cat did not sleep."
    page.get_by_label("Your sentence").fill(text)
    page.wait_for_function("(text) => explorerBoards[0].state().text === text", arg=text)
    model = ex.load(name, device="cpu")
    target = page.evaluate("explorerBoards[0].state()") and targets(model)
    if target:
        page.get_by_label("The decoder's sentence").fill(target["target"])
        page.wait_for_timeout(300)
    trace, state = ex.trace(model, text, scores=True, **target), page.evaluate("explorerBoards[0].state()")
    assert state["model"] == name and state["ids"] == trace.source.ids.tolist()
    for stream in model.streams:
        mine = [attention.weights for attention in trace.attention if attention.stream == stream]
        assert gap(state["weights"][stream], np.stack(mine)) < CLOSE
    assert gap(state["logits"], trace.outputs["lm"]) < CLOSE
    for odd in ("", "x " * 600, "\x00", "</script><script>throw 1</script>"):
        page.evaluate("(text) => explorerBoards[0].type(text)", odd)
    page.get_by_label("Your sentence").fill(text)
    assert faults == []
    page.close()


@LONG  # test_every_hand_works_in_every_home moves them, and test_every_edit_changes_what_it_changes_in_python holds their numbers
def test_hands_have_the_engine_run_the_model_again(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(saved(tmp_path, "bert", "The dog was hungry.").as_uri())
    page.wait_for_function("globalThis.explorerBoards?.length === 1")
    page.evaluate("explorerBoards[0].answer({what: 'mask', row: 2})")
    state = page.evaluate("explorerBoards[0].state()")
    assert state["tokens"][2] == "[MASK]" and page.get_by_label("Your sentence").input_value().count("[MASK]") == 1
    page.evaluate("explorerBoards[0].edit([{edit: 'SilenceHead', stream: 'encoder', layer: 0, head: 1}])")
    model = ex.load("bert", device="cpu")
    text = page.evaluate("explorerBoards[0].state().text")
    trace = ex.trace(model, text, edits=[ex.SilenceHead("encoder", 0, 1)], scores=True)
    assert gap(page.evaluate("explorerBoards[0].state().logits"), trace.outputs["lm"]) < CLOSE
    page.evaluate("explorerBoards[0].answer({what: 'undo'})")
    page.evaluate("explorerBoards[0].answer({what: 'undo'})")
    assert page.evaluate("explorerBoards[0].state().tokens") == state["tokens"][:2] + ["dog"] + state["tokens"][3:]
    page.close()


@pytest.mark.parametrize("fault", ("cut", "lacks", "infinite"))
def test_a_damaged_model_is_refused_in_a_sentence(page: Page, fault: str) -> None:
    data = packed_model(ex.load("bert", device="cpu"))
    assert data is not None
    if fault == "cut":
        data = data[:-1000]
    elif fault == "lacks":
        data = data.replace(b'"layers.0.attention.query.weight"', b'"layers.0.attention.query.weighs"')
    else:
        data = data[:-20_000] + b"\xff\x7f" * 10_000
    said = page.evaluate(
        """async (address) => { try { await openModel('damaged', address); opened.damaged.read('A dog ran.', null, []); return ''; }
          catch (error) { return error.message; } }""",
        address_of(data),
    )
    assert {"cut": "cut off", "lacks": "lacks the tensor", "infinite": "not all finite"}[fault] in said


EDITED: tuple[tuple[str, str], ...] = (  # what somebody wrote into the header of a saved model, or into that of its weights
    ("header.config.vocab = null", "vocab is null"), ("header.config.vocab = 7", "vocab is 7"), ("header.config.layers = 1e9", "layers is"),
    ("header.config.heads = 3", "heads is 3"), ("header.config.length = 0.5", "length is 0.5"),
    ("header.config = null", "vocab is missing"),
    ("header.config.kv_heads = 3", "kv_heads is 3"), ("header.tokenizer.model.type = '__proto__'", "could not be computed"),
    ("header.seen.words = 3", "could not be computed"), ("header.tokenizer.added_tokens[4] = 3", "could not be computed"),
    ("first.dtype = 'F64'", "16 or 32 bits"), ("first.data_offsets = 'ab'", "damaged at"), ("first.shape = [3]", "damaged at"),
    ("first.data_offsets = [-8, 8]", "damaged at"), ("delete first.shape", "damaged at"),
    ("header.config.norm_epsilon = 'x'", "not finite numbers"),
)  # fmt: skip


@LONG
def test_a_model_that_was_edited_by_hand_is_refused_in_a_sentence_and_keeps_no_page_busy(page: Page) -> None:
    data = packed_model(ex.load("bert-tiny", device="cpu"))
    assert data is not None
    said = page.evaluate(
        """async ([address, edits]) => { const bytes = await bytesAt(address), said = [];
        const read = (from, size) => JSON.parse(new TextDecoder().decode(bytes.subarray(from, from + size)));
        const view = new DataView(bytes.buffer);
        const head = view.getUint32(0, true), listed = Number(view.getBigUint64(4 + head, true));
        const rest = bytes.subarray(12 + head + listed);
        for (const edit of edits) {
          const header = read(4, head), weights = read(12 + head, listed), first = weights["layers.0.attention.query.weight"];
          new Function("header", "first", edit)(header, first);
          const [text, list] = [header, weights].map((content) => new TextEncoder().encode(JSON.stringify(content)));
          const parts = [new Uint32Array([text.length]), text, new BigUint64Array([BigInt(list.length)]), list, rest];
          const model = engine.engineAt(URL.createObjectURL(new Blob(parts)));
          const asked = model.header.then(() => model.ask("read", { text: "A dog ran.", target: null, edits: [] }));
          said.push(await asked.then(() => "read", (error) => error.message));
          model.end(); }
        return said; }""",
        [address_of(data), [edit for edit, _ in EDITED]],
    )
    for (edit, why), answer in zip(EDITED, said, strict=True):
        assert why in answer and answer.endswith("."), (edit, answer)
