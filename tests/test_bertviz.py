"""BertViz's views of our traces: the same data that BertViz itself would draw, smaller, and without a network."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import ALL, LONG, SENTENCE, Visit, long
from opening import opened as opened_page
from playwright.sync_api import Page

import explorer as ex
from explorer.models.transformer import TransformerModel
from explorer.records import Attention, Tokens, Trace
from explorer.views import bertviz as shell
from explorer.views.letters import unpacked

HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"


@pytest.fixture(scope="module")
def uneven(bert: TransformerModel) -> Trace:
    """Three layers in the encoder and one in the decoder: BertViz itself stops there with an IndexError."""
    model = ex.build("transformer", tokenizer=bert.tokenizer, encoder_layers=3, layers=1, device="cpu", seed=1)
    return ex.trace(model, "The dog was very tired.", target="It slept all day.")


def named(*texts: str) -> Tokens:
    n, none = len(texts), (0,) * len(texts)
    return Tokens(np.arange(n), texts, tuple(range(n)), none, none, ((0, 0),) * n, (False,) * n)


def random_trace(layers: int, heads: int, length: int, dim: int = 8) -> Trace:
    """Weights at random, as an untrained model would make them."""
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(length), (layers, heads, length)).astype(np.float32)
    q = rng.normal(size=(layers, heads, length, dim)).astype(np.float32)
    seen = np.ones((length, length), bool)
    attentions = tuple(Attention("encoder", n, q[n], q[n], q[n], dim**-0.5, seen, weights[n]) for n in range(layers))
    return Trace("random", "encoder", named(*(f"w{n}" for n in range(length))), None, attentions, {})


def own(view: str, **given: Any) -> str:
    """What BertViz itself makes of this attention: its whole HTML, which asks a CDN for its libraries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import bertviz

        return str(getattr(bertviz, f"{view}_view")(html_action="return", **given).data)


def held_in(page: str) -> dict[str, Any]:
    """The data in our page."""
    packed = re.search(r'id="held">(.*?)</script>', page, re.S)[1]  # type: ignore[index]
    return json.loads(unpacked(packed))


def tensors(trace: Trace, stream: str) -> list[torch.Tensor]:
    return [torch.tensor(a.weights)[None] for a in trace.attention if a.stream == stream]


def asked_of_bertviz(trace: Trace, view: str) -> dict[str, Any]:
    """BertViz's own data for the same attention and the same names."""
    given: dict[str, Any]
    if trace.target is None:
        cut = trace.source.segments.index(1) if 1 in trace.source.segments else None
        given = {"attention": tensors(trace, trace.family), "tokens": shell.names(trace.source), "sentence_b_start": cut}
    else:
        given = {"encoder_tokens": shell.names(trace.source), "decoder_tokens": shell.names(trace.target)}
        given |= {f"{stream}_attention": tensors(trace, stream) for stream in ("encoder", "decoder", "cross")}
    return json.JSONDecoder().raw_decode(own(view, **given).partition("const params = ")[2])[0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("view", ["head", "model", "neuron"])
def test_the_numbers_in_the_page_are_the_trace_s(uneven: Trace, view: str) -> None:
    content = held_in(ex.bertviz(uneven, view=view).page())
    assert [choice["name"] for choice in content["choices"]] == ["Encoder", "Decoder", "Cross"]
    assert [stream["layers"] for stream in content["streams"]] == [[0, 1, 2], [0], [0]]
    for stream, name in zip(content["streams"], ("encoder", "decoder", "cross"), strict=True):
        rows, columns = uneven.axes(name)
        assert stream["left"] == shell.names(rows) and stream["right"] == shell.names(columns)
        for n, layer in enumerate(stream["layers"]):
            attention = uneven.at(name, layer)
            np.testing.assert_allclose(np.array(stream["attn"][n]) / 1000, attention.weights, atol=5.01e-4)
            if view == "neuron":
                np.testing.assert_allclose(np.array(stream["queries"][n]) / 1000, attention.q, atol=5.1e-4)
                np.testing.assert_allclose(np.array(stream["keys"][n]) / 1000, attention.k, atol=5.1e-4)
                assert stream["scales"][n] == attention.scale
        assert ("queries" in stream) == (view == "neuron")


def of_bertviz(trace: Trace, view: str) -> str:
    """BertViz's own HTML for an encoder; of its neuron view, which asks for one of its own models, the data alone."""
    if view != "neuron":
        return own(view, attention=tensors(trace, "encoder"), tokens=list(trace.source.texts))
    parts = ("weights", "q", "k")
    return json.dumps([[getattr(layer, part).astype(float).tolist() for part in parts] for layer in trace.attention])


@LONG
def test_a_page_is_a_seventh_of_bertviz_s_own_or_less() -> None:
    """Whole HTML against whole HTML, but for libraries: BertViz's loads its own from a CDN, ours are taken out before counting."""
    trace = random_trace(12 if ALL else 4, 12, 64)
    for view in ("head", "model", "neuron") if ALL else ("neuron",):
        theirs = of_bertviz(trace, view)
        ours = re.sub(r'(id="packed">)[^<]*', r"\1", ex.bertviz(trace, view=view).page())
        assert len(ours) * 7 <= len(theirs), f"{view}: {len(ours):,} against {len(theirs):,}"
        assert len(ex.bertviz(trace, view=view).page()) - len(ours) < 160_000, "the libraries and BertViz's script"


def test_a_pair_without_segments_is_parted_where_its_first_sentence_ends() -> None:
    roberta = ex.load("roberta", device="cpu")
    both = ex.trace(roberta, ("The dog was tired.", "It slept."), layers=[0])
    alone = ex.trace(roberta, "The dog was <mask>.", layers=[0])
    content = held_in(ex.bertviz(both).page())
    named = {choice["name"]: choice for choice in content["choices"]}
    assert set(named) == {"All", *(f"Sentence {name} -> Sentence {other}" for name in "AB" for other in "AB")}
    inner = roberta.tokenizer.encode("It slept.", special=False).texts
    rows = slice(*named["Sentence B -> Sentence B"]["rows"])
    assert both.source.texts[rows][: len(inner)] == inner and both.source.texts[rows.start - 1] == both.source.texts[-1]
    assert len(held_in(ex.bertviz(alone).page())["choices"]) == 1, "a mask ends no sentence"


def test_what_cannot_be_drawn_is_refused(trace: Trace, tmp_path: Path) -> None:
    first = trace.attention[0]
    bare = replace(first, q=None, k=None, v=None)
    for wrong, choice, says in (
        (trace, {"view": "haed"}, r"no view of BertViz 'haed'. Did you mean 'head'\? .*head, model, neuron"),
        (trace, {"mode": "dusk"}, "no mode 'dusk'"),
        ("text", {}, r"must be a trace, for example ex\.trace.* this is str"),
        (replace(trace, attention=()), {}, "has no attention"),
        (replace(trace, attention=(bare,)), {"view": "neuron"}, "holds only weights. Choose 'head' or 'model'"),
        (
            replace(trace, attention=(bare, replace(bare, layer=1, weights=first.weights[:2]))),
            {},
            r"equally many heads.*layers=\[0\]",
        ),
        (replace(trace, attention=(replace(bare, weights=first.weights * np.nan),)), {}, "not numbers"),
        (
            random_trace(6, 12, 100),
            {"view": "model"},
            r"6 layers × 12 heads × 100 × 100 tokens.*texts of 91 tokens.*layers=\[0\]",
        ),
        (random_trace(1, 12, 130), {}, "texts of 129 tokens. Shorten the text.$"),
    ):
        with pytest.raises(ex.ExplorerError, match=says):
            ex.bertviz(wrong, **choice)  # type: ignore[arg-type]
    assert ex.bertviz(replace(trace, attention=(bare,)), view="model").page()
    assert ex.bertviz(random_trace(6, 12, 100), view="head").view == "head"
    for ending in ("png", "csv"):
        with pytest.raises(ex.ExplorerError, match=r"Choose one of: \.html"):
            ex.save(ex.bertviz(trace), tmp_path / f"x.{ending}")


def test_another_bertviz_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(shell.CHANGES, "head", {"no such words": ""})
    with pytest.raises(ex.ExplorerError, match="is not 1.4.1"):
        shell._script("head")
    with pytest.raises(ex.ExplorerError, match="pip install no-such-package"):
        shell._file("no-such-package", "x.js")


@pytest.fixture
def draw(visit: Visit, tmp_path: Path) -> Visit:
    """What opens a view in a file of its own."""

    def drawn(shown: Any, *mode: str) -> Page:
        page = visit(ex.save(shown, tmp_path / "page.html").as_uri(), *mode)
        page.wait_for_selector("body[data-drawn]")
        return page

    return drawn


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("view", ["head", *long("model")])
def test_bertviz_s_script_is_given_what_bertviz_would_give_it(
    draw: Visit, trace: Trace, bert: TransformerModel, uneven: Trace, view: str
) -> None:
    even = replace(uneven, attention=tuple(a for a in uneven.attention if a.layer == 0))
    for record in (trace, ex.trace(bert, ("The dog was tired.", "It slept.")), even):
        page, theirs = draw(ex.bertviz(record, view=view)), asked_of_bertviz(record, view)
        for n, expected in enumerate(theirs["attention"]):
            if n:  # with one choice only, none is offered
                page.select_option("#choice", str(n))
            given = page.evaluate("window.bertviz_params")
            from_ours = given["attention"][0]
            assert (from_ours["left_text"], from_ours["right_text"]) == (expected["left_text"], expected["right_text"])
            np.testing.assert_allclose(from_ours["attn"], np.rint(np.array(expected["attn"]) * 1000) / 1000, atol=1e-9)
            assert expected["name"] in (None, from_ours["name"])
        for name in ("include_layers", "include_heads", "total_heads"):
            assert theirs.get(name, given[name]) == given[name]


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", *long("dark")])
def test_every_view_draws_every_stream(draw: Visit, uneven: Trace, mode: str) -> None:
    for view in ("head", "model", "neuron"):
        page = draw(ex.bertviz(uneven, view=view), mode)
        for number, stream in enumerate(("encoder", "decoder", "cross")):
            page.select_option("#choice", str(number))
            layers = [a for a in uneven.attention if a.stream == stream]
            if view != "model":
                assert page.locator("#layer option").all_text_contents() == [str(a.layer) for a in layers]
                page.select_option("#layer", index=len(layers) - 1)
            lines = page.locator("#vis line[stroke-opacity]")
            drawn = lines.evaluate_all("all => all.map(e => +e.getAttribute('stroke-opacity'))")
            last = layers[-1].weights
            expected = {"head": last / len(last), "model": np.stack([a.weights for a in layers]), "neuron": last[0]}[view]
            np.testing.assert_allclose(np.array(drawn)[-expected.size :], expected.ravel(), atol=6e-4)
        ink = page.locator("#vis text").first.evaluate("e => getComputedStyle(e).fill")
        assert (sum(map(int, re.findall(r"\d+", ink)[:3])) > 450) == (mode == "dark"), "light text on dark and dark on light"


@LONG
@pytest.mark.browser
def test_the_neuron_view_shows_q_k_and_their_scaled_product(draw: Visit, gpt2: TransformerModel) -> None:
    trace = ex.trace(gpt2, SENTENCE)
    page = draw(ex.bertviz(trace, view="neuron"))
    page.select_option("#layer", "1")
    page.select_option("#att_head", "2")
    page.locator("#collapsed #leftText g").nth(4).hover()
    page.locator("#collapsed #leftText g").nth(4).locator("rect").last.click()
    page.locator("#expanded #leftText g").nth(5).hover()
    attention = trace.at("decoder", 1)
    values = "all => all.map(e => +e.getAttribute('data-value'))"
    q = np.array(page.locator("#queries .element").evaluate_all(values)).reshape(attention.q[2].shape)  # type: ignore[index]
    np.testing.assert_allclose(q, attention.q[2], atol=5.1e-4)  # type: ignore[index]
    scaled = page.locator("#dotproducts rect").evaluate_all(values)
    np.testing.assert_allclose(scaled, attention.stage("scaled", 2)[5], atol=0.02)
    seen = page.locator("#dotproducts rect").evaluate_all("all => all.map(e => +getComputedStyle(e).opacity)")
    assert seen == [float(n <= 5) for n in range(len(seen))], "a decoder looks only back"


@LONG
@pytest.mark.browser
def test_a_hostile_token_is_written_and_not_run(draw: Visit, tmp_path: Path) -> None:
    bad = replace(random_trace(1, 1, 2), model=HOSTILE, source=named("<b>x</b>", f"{HOSTILE}@DATA@"), notes=(HOSTILE,))
    for view in ("head", "model", "neuron"):
        page, frame = draw(ex.bertviz(bad, view=view)), ex.bertviz(bad, view=view).frame()
        assert "<script" not in frame and frame.count("<") == 2 and 'sandbox="allow-scripts"' in frame
        assert page.title() != "broken" and page.locator("img, #vis b").count() == 0
        if view != "model":
            assert page.locator("#vis text", has_text="<b>x</b>").count() >= 1
    (tmp_path / "notebook.html").write_text(f"<body>{ex.bertviz(bad).frame()}</body>", "utf-8")
    page.goto((tmp_path / "notebook.html").as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("body[data-drawn]").wait_for()
    assert inside.locator("#vis line").count() == 4 and page.title() != "broken"


@LONG
@pytest.mark.usefixtures("unfolded")
def test_the_lesson_offers_every_view() -> None:
    at = opened_page("heads", part="bertviz")
    for view in ("head", "neuron"):
        at.session_state["bertviz"] = view
        at.run()
        assert not at.exception and f"view='{view}'" in next(block.value for block in at.code if "ex.bertviz(" in block.value)
        assert "sandbox" in at.get("iframe")[0].proto.srcdoc
