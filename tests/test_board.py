"""The board without a browser: what travels to it, what is refused, and the files that it is written to."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from base64 import b64decode
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SENTENCE
from opening import opened
from test_bertviz import own

import explorer as ex
from explorer.app import board as on_a_page
from explorer.nn.layers import NORM_PLACES
from explorer.nn.positions import POSITIONS
from explorer.records import Trace
from explorer.views import theme
from explorer.views.board import pack as packing
from explorer.views.board.module import ENGINE, FILES, FOLDER, HOMES, LIVE_FOLDER, module, style
from explorer.views.board.pack import IN_A_FILE, pack, with_host
from explorer.views.board.place import addressed, placed
from explorer.views.board.request import NOTE
from explorer.views.board.stations import STATIONS
from explorer.views.board.still import still
from explorer.views.lab import THEME
from explorer.views.learning.module import FOLDER as LEARNING_FOLDER

ROOT = Path(__file__).parent.parent
TYPES = {"f4": "<f4", "f2": "<f2", "u1": "u1", "d1": "u1"}


def header(data: bytes) -> dict[str, Any]:
    return json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])


def board_of(at: Any) -> bytes:
    """The numbers that travelled to a page's board; the tokens in the bar and buttons beside it have none."""
    return next(bytes(component.proto.bytes) for component in at.get("bidi_component") if component.proto.bytes)


def array(data: bytes, ref: list[Any]) -> np.ndarray:
    begin = 4 + int.from_bytes(data[:4], "little")
    kind, offset, shape = ref  # numbers in steps have a fourth part, and their own tests (test_letters.py)
    values = np.frombuffer(data, TYPES[kind], int(np.prod(shape)), begin + offset).reshape(shape)
    return np.cumsum(values, axis=1, dtype=np.uint8) if kind == "d1" else values


def refs(value: Any) -> list[list[Any]]:
    if isinstance(value, list) and len(value) == 3 and value[0] in TYPES:
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [ref for entry in inner for ref in refs(entry)]


def test_the_buffer_holds_what_the_model_computed(trace: Trace) -> None:
    data = with_host(pack(trace), mode="dark")
    head = header(data)
    assert (4 + int.from_bytes(data[:4], "little")) % 8 == 0 and all(ref[1] % 8 == 0 for ref in refs(head["sites"]))
    assert head["host"]["mode"] == "dark" and data == with_host(pack(trace), mode="dark")
    for before, following in itertools.pairwise(head["sites"]):
        assert before["after"] == following["blocks"][0]["given"], "what is handed on and taken is kept once"
    assert head["tokens"]["source"]["texts"] == list(trace.source.texts) and not head["rounded"]
    for site, attention in zip(head["sites"], trace.attention, strict=True):
        for name in ("q", "k", "v", "weights"):
            np.testing.assert_array_equal(array(data, site[name]), getattr(attention, name))
        block = trace.block("encoder", attention.layer, "feed-forward")
        np.testing.assert_array_equal(array(data, site["blocks"][1]["units"]), block.units)
        np.testing.assert_array_equal(array(data, site["after"]), trace.hidden["encoder"][attention.layer + 1])
        assert site["steps"] == 255
        maps = array(data, site["map"]) / 255 * site["highest"]
        assert np.abs(maps - attention.weights).max() <= site["highest"] / 510 + 1e-7
    assert trace.top is not None
    np.testing.assert_allclose(array(data, head["top"]["p"]), np.exp(trace.top.logp))


def test_module_page_and_buffer_stay_small(trace: Trace) -> None:
    assert len(module().encode()) <= 160_000 and len(style().encode()) <= 11_200
    assert len(ex.board(trace).page().encode()) <= 285_000
    small = ex.trace(ex.load("bert-tiny", device="cpu"), SENTENCE, blocks=True)
    assert len(small.source) >= 16 and len(ex.board(small).page().encode()) <= 285_000


def test_the_stations_stand_in_the_order_of_the_model(bert: Any) -> None:
    head, read = "qkv qk scale mask softmax mix concat wo", "units narrow"
    around = {
        "post": f"x {head} add1 post1 {read} add2 post2",
        "pre": f"x norm1 {head} add1 norm2 {read} add2",
        "inside": f"x {head} inner1 add1 {read} inner2 add2",
    }
    for place in NORM_PLACES:
        model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=3, device="cpu", norm_place=place, dim=32)
        sites = header(pack(ex.trace(model, SENTENCE, blocks=True)))["sites"]
        assert [site["stations"] for site in sites] == [[*around[place].split(), last] for last in ("up", "next")]


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_the_numpy_lines_of_the_stations_make_the_model_s_numbers(name: str) -> None:
    attention = ex.trace(ex.load(name, device="cpu"), "The dog did not cross the road.").attention[1]
    assert attention.q is not None and attention.k is not None and attention.v is not None
    heads = []
    for head, wanted in enumerate(attention.weights):
        scope: dict[str, Any] = {"np": np, "q": attention.q[head], "k": attention.k[head], "v": attention.v[head]}
        scope |= {"scale": attention.scale, "allowed": attention.allowed}
        for station in ("qk", "scale", "mask", "softmax", "mix"):
            exec(STATIONS[station].numpy, scope)
        np.testing.assert_allclose(scope["weights"], wanted, atol=1e-5)
        heads.append(scope["z"])
    block = ex.trace(ex.load(name, device="cpu"), "The dog did not cross the road.", blocks=True).blocks[-1]
    scope = {"np": np, "epsilon": 1e-12, "gain": block.gain, "shift": block.shift}
    scope |= {"total": block.norm_input, "x": block.norm_input}
    exec(STATIONS["post2" if block.place == "post" else "norm2"].numpy, scope)
    np.testing.assert_allclose(scope["x" if block.place == "post" else "h"], block.normed, atol=1e-4)
    assert all(len(station.numpy.splitlines()) <= 3 for station in STATIONS.values())
    scope = {"np": np, "every_head": heads}
    exec(STATIONS["concat"].numpy, scope)
    np.testing.assert_allclose(scope["z"], np.concatenate(list(attention.weights @ attention.v), axis=1), atol=1e-5)


@pytest.mark.parametrize(("name", "station"), [("electra", "replaced"), ("bert-tiny", "next")])
def test_the_last_station_says_what_this_model_answers(name: str, station: str) -> None:
    trace = ex.trace(ex.load(name, device="cpu"), SENTENCE, blocks=True)
    detects_prose = header(pack(trace))["prose"]["next"]
    assert detects_prose["formula"] == STATIONS[station].formula
    scope: dict[str, Any] = {"np": np, "x": np.eye(3), "w": np.array([0.5, -1.0, 2.0]), "b": 0.25, "vocabulary": np.eye(3)}
    exec(detects_prose["numpy"], scope)
    wanted = torch.sigmoid(torch.tensor([0.75, -0.75, 2.25])) if station == "replaced" else torch.softmax(torch.eye(3), -1)
    np.testing.assert_allclose(scope["p"], wanted, atol=1e-6)


def test_every_position_scheme_has_its_stations(bert: Any) -> None:
    for scheme in POSITIONS:
        model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", positions=scheme)
        stations = header(pack(ex.trace(model, "A dog.", blocks=True)))["sites"][0]["stations"]
        assert ("turn" in stations) == (scheme == "rope")
        assert ("bias" in stations) == (scheme in ("t5", "alibi", "disentangled"))


def test_source_and_target_are_walked_one_after_the_other(bert: Any) -> None:
    model = ex.build("t5", size="tiny", tokenizer=bert.tokenizer, seed=1, device="cpu")
    trace = ex.trace(model, "The dog slept because it was tired.", target="It slept.", blocks=True)
    sites = header(pack(trace))["sites"]
    walk = ["encoder 0", "encoder 1", "decoder 0", "cross 0", "decoder 1", "cross 1"]
    assert [f"{site['stream']} {site['layer']}" for site in sites] == walk
    assert [(site["rows"], site["cols"]) for site in sites[2:4]] == [("target", "target"), ("target", "source")]
    assert "units" not in sites[2]["stations"] and "units" in sites[3]["stations"] and sites[-1]["stations"][-1] == "next"
    assert sites[2]["allowed"] == "causal" and sites[3]["allowed"] == "all"


def test_what_a_trace_lacks_is_left_out(trace: Trace) -> None:
    def packed(**given: Any) -> bytes:
        attention = tuple(dataclasses.replace(attention, **given) for attention in trace.attention)
        return pack(dataclasses.replace(trace, attention=attention, blocks=()))

    whole = ["x", "qkv", "qk", "scale", "mask", "softmax", "mix", "concat", "wo", "up"]
    assert header(packed())["sites"][0]["stations"] == whole
    bare = header(packed(q=None, k=None, v=None, output=None))["sites"][0]
    assert bare["stations"] == ["x", "softmax", "up"] and bare["weights"]
    q = np.array(trace.attention[0].q)
    q[0, 0, 0], q[0, 1, 1] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        data = packed(q=q)
    assert np.isnan(array(data, header(data)["sites"][0]["q"])[0, 0, 0])


def test_what_does_not_fit_is_rounded_and_then_left_out(trace: Trace) -> None:
    first = header(pack(trace, budget=100_000, first=("encoder", 1)))
    assert first["rounded"] and first["sites"][1]["blocks"] and not first["sites"][0]["blocks"]
    least = header(pack(trace, budget=2_000))
    assert [site["stations"] for site in least["sites"]] == [["softmax"]] * len(trace.attention)


def test_what_is_no_board_is_refused_in_a_sentence(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("text", 3, None):
        with pytest.raises(ex.ExplorerError, match="must be a trace"):
            ex.board(wrong)
    for choice, says in (
        ({"held": [[1]]}, "row and column"),
        ({"held": [[-1, 2]]}, "row and column"),
        ({"words": 3}, "True or False"),
        ({"model": 3}, "one trace"),
        ({"mode": "purple"}, "mode"),
        ({"colour": 3}, "choice of the board"),
    ):
        with pytest.raises(ex.ExplorerError, match=says):
            ex.board(trace, **choice)
    with pytest.raises(ex.ExplorerError, match="holds none"):
        pack(dataclasses.replace(trace, attention=()))
    monkeypatch.setattr(packing, "LIMIT", 10)
    with pytest.raises(ex.ExplorerError, match="at most 10 tokens"):
        pack(trace)


def test_a_file_asks_for_nothing_and_no_token_breaks_out_of_it(bert: Any, tmp_path: Path) -> None:
    trace = ex.trace(bert, "</script><script>alert(1)</script> <img src=x onerror=alert(2)> @DATA@ dog", blocks=True)
    board = ex.board(trace, station="softmax", head=1)
    text = ex.save(board, tmp_path / "x.html").read_text("utf-8")
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", text) and "alert(" not in text and "<img" not in text
    assert '"station": "softmax"' in text
    assert "<script>" not in board.svg() and "<img" not in board.svg()


def test_a_saved_notebook_shows_the_weights(trace: Trace) -> None:
    bundle, _ = ex.board(trace, head=2, layer=1)._repr_mimebundle_()
    assert "encoder layer 1, head 2" in bundle["image/svg+xml"] and "animal" in bundle["image/svg+xml"]
    _, _, image = bundle["text/html"].partition("base64,")  # what a notebook that is not trusted shows
    assert b64decode(image.partition('"')[0]).decode() == bundle["image/svg+xml"]
    shares = trace.attention[1].weights[2]
    assert still(trace, {"stream": "encoder", "layer": 1, "head": 2}).count("<rect") == 1 + int((shares >= 1e-3).sum())


def test_every_station_says_what_it_does_and_what_may_not_be_concluded() -> None:
    for station in STATIONS.values():
        assert station.says.endswith(".") and "may not conclude" in station.concludes and 300 <= station.ms <= 1500
        assert "darker" not in station.says and len(station.title) < 60


@LONG
def test_the_module_is_joined_from_readable_files_without_imports() -> None:
    text = module()
    assert not re.search(r"^import |^export (?!default|\{)", text, re.MULTILINE) and "https://" not in text
    assert not re.search(r"\b(return|await|typeof|case)\w+(=>|\()", text), "two words that ran into one"
    sources = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.js")}
    files = "\n".join(sources[name] for name in FILES)
    names = re.findall(r"^(?:export )?(?:function|class|const) (\w+)", files, re.MULTILINE)
    assert len(names) == len(set(names)) > 50
    handed = re.findall(r"^export (?:function|class|const) (\w+)", files, re.MULTILINE)
    beside = {path.stem: path.read_text("utf-8") for path in LIVE_FOLDER.glob("*.js")}
    training = [path.read_text("utf-8") for path in LEARNING_FOLDER.glob("*.js")]  # which asks for some of the live engine
    every = "\n".join([files, *beside.values(), *training])
    assert [name for name in handed if len(re.findall(rf"\b{name}\b", every)) < 2] == [], "what no other file asks for"
    assert set(sources) == set(FILES) and set(beside) == {*ENGINE, *HOMES, "element"}
    assert all(len(source.splitlines()) <= 560 for source in sources.values())
    assert all(colour in text for colour in theme.DIVERGING["dark"])
    sources |= {path.name: path.read_text("utf-8") for path in FOLDER.parent.parent.glob("*.py")}
    assert [name for name, source in sources.items() if "jpThemeLight" in source] == ["mode"], (
        "one place asks whether it is dark"
    )
    assert "jpThemeLight" in THEME


def test_every_test_that_the_table_of_interactions_names_is_there() -> None:
    rows = [line for line in (ROOT / "docs/board.md").read_text("utf-8").splitlines() if line.startswith("| ")][1:]
    tests = "\n".join(
        path.read_text("utf-8") for kind in ("board", "live") for path in (ROOT / "tests").glob(f"test_{kind}*.py")
    )
    named = [re.findall(r"`(\w+)`", row.rsplit("|", 2)[1]) for row in rows]
    assert len(rows) > 12 and all(named)
    assert all(f"def {name}(" in tests for names in named for name in names)


def test_a_system_is_walked_on_the_board_from_what_it_changed() -> None:
    for system, station, place in [("gpt2", "norm1", "pre"), ("olmo2", "inner1", "inside")][: 2 if ALL else 1]:
        head = header(board_of(opened("training", part="systems", system=system)))
        assert head["model"] == system and head["host"]["view"]["station"] == station
        assert all(site["place"] == place and station in site["stations"] for site in head["sites"])


def test_an_address_leads_back_to_the_same_cell_and_an_odd_one_is_forgotten() -> None:
    view = {"stream": "encoder", "layer": 0, "head": 2, "station": "softmax", "row": 10, "col": 3}
    assert placed("encoder.0.2.softmax.10.3") == view and addressed(view) == "encoder.0.2.softmax.10.3"
    looked = {"moment": 3, "written": 5, "words": True, "hidden": True, "threshold": 0.29, "held": [[4, 7], [9, 2]]}
    assert placed(addressed(view | looked)) == view | looked
    assert addressed(view | {"held": [], "moment": 0, "words": False}) == addressed(view)
    ends = ["qk.-1.2", "qk.².2", "qk.1.2.", "qk.1.2.x", "qk.1.2.w.s", "qk.1.2.h4", "qk.1.2.n²"]
    for text in ("", "x", "a.b.c.d.e.f", ".....", "encoder.0.99999.qk.1.2", *(f"encoder.0.0.{end}" for end in ends)):
        assert placed(text) == {}, text


def test_tokens_are_changed_only_in_the_sentence_that_the_board_reads(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    other = SENTENCE.replace("didn't", "did not")
    for box, text in (("text", SENTENCE), ("source", SENTENCE), ("text", other), ("none", None)):
        reads = text == SENTENCE
        session = {"b": SimpleNamespace(edit={"what": "replace", "row": 2, "text": "dog"}), **({box: text} if text else {})}
        monkeypatch.setattr("explorer.app.board.st.session_state", session)
        assert on_a_page._is_on_page(trace, box) is reads
        on_a_page._edited("b", trace, ("[MASK]", box), None)
        assert session.get(box) == (SENTENCE.replace("animal", "dog") if reads else text)


def test_the_board_of_a_translation_changes_the_box_that_it_was_written_in() -> None:
    at = opened("decoding", part="translation", source="The dog was tired.")
    assert header(board_of(at))["host"]["replace"] is True and at.text_input("source").value == "The dog was tired."


def test_a_token_is_replaced_where_it_stands(trace: Trace) -> None:
    assert on_a_page.replaced(SENTENCE, trace, 2, "dog") == SENTENCE.replace("animal", "dog")
    assert on_a_page.mask_of(trace) == "[MASK]"
    for row, word in ((0, "dog"), (99, "dog"), (-1, "dog"), ("2", "dog"), (None, "dog"), (2, " ")):
        assert on_a_page.replaced(SENTENCE, trace, row, word) == SENTENCE


def test_a_notebook_s_board_runs_its_model_again(bert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.records.again.packed_of", lambda *_, **__: None)  # as one that the page cannot run
    board = ex.board(ex.trace(bert, SENTENCE, blocks=True), model=bert)
    offered = {"asks": True, "mask": "[MASK]", "force": True, "silence": True, "replace": True}
    assert board.asks == offered | {"note": NOTE.format(where="Python")}
    board.answer({"what": "mask", "row": 2})
    np.testing.assert_array_equal(board.traces[0].hidden["encoder"], states(bert, SENTENCE.replace("animal", "[MASK]")))
    board.answer({"what": "replace", "row": 2, "text": "dog"})
    np.testing.assert_array_equal(board.traces[0].hidden["encoder"], states(bert, SENTENCE.replace("animal", "dog")))
    board.answer({"what": "silence", "stream": "encoder", "layer": 1, "head": 2})
    assert not board.traces[0].attention[1].stage("context", 2).any() and header(board.data)["notes"]
    board.answer({"what": "row", "stream": "encoder", "layer": 0, "head": 0, "row": 3, "shares": [0.0] * 15 + [1.0]})
    assert board.traces[0].attention[0].weights[0, 3, -1] == 1 and len(board.traces[0].edits) == 2
    for _ in range(9):
        board.answer({"what": "undo"})
    np.testing.assert_array_equal(board.traces[0].hidden["encoder"], states(bert, SENTENCE))
    gpt2 = ex.load("gpt2", device="cpu")
    onward = ex.board(ex.trace(gpt2, "The dog", blocks=True), model=gpt2)
    onward.answer({"what": "force", "row": 2, "rank": 1})
    top = ex.trace(gpt2, "The dog").top
    assert top is not None and onward.traces[0].source.texts == ("<|endoftext|>", "The", "·dog", top.texts[2][1])


def test_what_is_read_in_the_page_is_traced_when_it_is_asked_for(bert: Any) -> None:
    board = ex.board(ex.trace(bert, SENTENCE, blocks=True), model=bert)
    assert board.live and not board.data and board.reads["text"] == SENTENCE.lower()
    silent = {"edit": "SilenceHead", "stream": "encoder", "layer": 1, "head": 2}
    shares = [0.0] * 5 + [1.0]
    row = {"edit": "ReplaceRow", "stream": "encoder", "layer": 0, "head": 0, "query": 3, "row": shares}
    odd = [{"edit": "SilenceHead", "stream": "encoder", "layer": 9, "head": 0}, {"edit": "Uniform", "stream": "encoder"}]
    board.reads = {"text": "A dog ran.", "target": None, "edits": [silent, row, *odd]}
    edits = [ex.SilenceHead("encoder", 1, 2), ex.ReplaceRow("encoder", 0, 0, 3, np.array(shares))]
    own = ex.trace(bert, "A dog ran.", edits=edits, blocks=True)
    np.testing.assert_array_equal(board.traces[0].hidden["encoder"], own.hidden["encoder"])
    assert len(board.traces[0].edits) == 2 and len(board.traces[0].blocks) == len(own.blocks)
    edited = ex.board(own, model=bert)
    assert not edited.live and edited.asks["asks"], "what Python edited stays as it was recorded"


def states(model: Any, text: str) -> np.ndarray:
    return ex.trace(model, text).hidden["encoder"]


@pytest.mark.parametrize(
    "wish",
    [{"what": "row", "shares": [0.5] * 16}, {"what": "silence", "head": 99}, {"what": "mask", "row": 99}, {"what": "replace", "row": 2},
     {"what": "force", "row": 2, "rank": -1}, {"what": "wish", "row": 2}, {}],
)  # fmt: skip
def test_what_cannot_be_done_in_a_notebook_is_said_on_its_board(
    bert: Any, wish: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("explorer.records.again.packed_of", lambda *_, **__: None)
    board, refused = ex.board(ex.trace(bert, SENTENCE), model=bert), []
    monkeypatch.setattr(board, "send", refused.append)
    before = board.data
    board.answer({"stream": "encoder", "layer": 0, "head": 0, "row": 1, **wish})
    assert len(refused) == 1 and refused[0]["refused"].startswith("The model was not run: ") and board.data == before


def test_a_series_is_several_buffers_in_one(bert: Any) -> None:
    traces = [ex.trace(bert, text, blocks=True) for text in ("A dog.", "A dog slept.")]
    board = ex.board(traces, labels=[100, 200])
    head = header(board.data)
    begin = 4 + int.from_bytes(board.data[:4], "little")
    assert [entry["label"] for entry in head["series"]] == ["100", "200"]
    for entry, trace in zip(head["series"], traces, strict=True):
        assert entry["begin"] % 8 == 0
        assert header(board.data[begin + entry["begin"] :])["tokens"]["source"]["texts"] == list(trace.source.texts)
    with pytest.raises(ex.ExplorerError, match="2 traces and 1 labels"):
        ex.board(traces, labels=[100])
    with pytest.raises(ex.ExplorerError, match="at least one"):
        ex.board([])


@LONG
def test_a_file_of_many_heads_stays_below_a_megabyte(bert: Any) -> None:
    shape: dict[str, Any] = {"dim": 768, "heads": 12, "layers": 12, "hidden": 256}
    model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=1, device="cpu", **shape)
    trace = ex.trace(model, "The animal didn't cross the street because it was too tired. " * 4, blocks=True, scores=False)
    assert len(trace.source) >= 56
    size = len(ex.board(trace).page().encode())
    weights = [torch.tensor(attention.weights)[None] for attention in trace.attention]
    theirs = own("model", attention=weights, tokens=list(trace.source.texts))
    assert size <= 600_000 and 25 * size <= len(theirs)
    assert header(pack(trace, budget=IN_A_FILE))["sites"][0]["close"]
