"""What a visitor opened in *Your model* is in their lists on every page, and in nobody else's; so are real models from the shelf."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import LONG, SAMPLED, some
from hub_served import Hub, asks, checkpoint, served
from opening import opened
from transformers import BertConfig, BertForSequenceClassification, pipeline

import explorer as ex
from explorer.app import brought, hosted
from explorer.app.cached import KEPT
from explorer.models.hub import archive, fetching
from explorer.models.hub.architectures import tiny

LISTS = {  # the list of each page, and the part that is drawn: one that computes little
    "attention": ("model", "both-masks"), "heads": ("model", "combined"), "families": ("model", "blueprint"),
    "whatif": ("model", "information-flow"), "decoding": ("writer", "greedy"), "prompting": ("prompted", "ask"),
    "finetuning": ("tuned", "inputs"), "yours": ("alike.first", "layers"),
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the visitor's own."""
    folder = tmp_path_factory.mktemp("runs") / "mine"
    list(ex.fit("gpt2", corpus="microworld:400", pieces=400, steps=4, batch=4, folder=folder, device="cpu"))
    return folder


@LONG
@pytest.mark.parametrize("page", some(LISTS, "attention", "decoding", "finetuning"))
def test_a_run_is_in_the_lists_of_its_visitor_alone(page: str, run: Path) -> None:
    key, part = LISTS[page]
    name = str(run)
    mine = opened(page, part=part)
    assert name not in mine.selectbox(key=key).options
    mine.session_state[brought.AGREED] = name
    mine.run()
    assert not mine.exception and name in mine.selectbox(key=key).options
    mine.selectbox(key=key).set_value(name).run()
    assert not mine.exception and not mine.warning, [box.value for box in mine.warning]
    assert mine.selectbox(key=key).value == name
    other = opened(page, part=part)
    assert name not in other.selectbox(key=key).options


@LONG
def test_a_run_is_among_the_trainings(run: Path) -> None:
    at = opened("training", part="measures")
    at.session_state[brought.AGREED] = str(run)
    at.run()
    at.selectbox(key="kept").set_value(str(run)).run()
    assert not at.exception and not at.warning and at.get("plotly_chart")
    at.query_params["part"] = "snapshots"
    at.run()
    assert not at.exception and not at.warning


def test_what_is_opened_on_one_page_follows_to_the_next(run: Path) -> None:
    at = opened("yours", part="models")
    at.text_input(key="yours").set_value(str(run)).run()
    assert not at.exception and not at.warning
    at.query_params.clear()
    at = opened("attention", at=at, part="both-masks")
    assert str(run) in at.selectbox(key="model").options


def test_a_checkpoint_is_opened_as_it_is_stored_and_the_page_says_what_it_takes(tmp_path: Path) -> None:
    folder = ex.export(ex.load("gpt2", device="cpu"), tmp_path / "half")
    module = tiny("Qwen3ForCausalLM", ex.load("gpt2", device="cpu").tokenizer.vocabulary.size).bfloat16()
    module.save_pretrained(folder)
    at = opened("yours", part="models")
    at.text_input(key="yours").set_value(str(folder)).run()
    assert not at.exception and not [box.value for box in at.warning if "never trained" not in box.value]
    said = " ".join(box.value for box in at.markdown)
    taken = sum(2 * part.numel() for part in module.parameters()) / 1e6
    assert f"weights take **{taken:.1f} MB**, 2 bytes each, in bfloat16, as they are stored" in said
    assert "4 bytes each, in float32, in which everything is computed here" in said, "the shipped model beside it"


def test_what_a_classifier_answers_is_what_the_pipeline_of_transformers_says(tmp_path: Path) -> None:
    model = ex.load("bert", device="cpu")
    folder = ex.export(model, tmp_path / "kinds")
    torch.manual_seed(3)
    names = {0: "e*mail", 1: "files", 2: "numbers"}
    config = BertConfig.from_pretrained(folder, id2label=names, label2id={name: n for n, name in names.items()})
    module = BertForSequenceClassification(config)
    module.classifier.weight.data.mul_(40)
    module.save_pretrained(folder)
    at = opened("yours", part="models")
    at.text_input(key="yours").set_value(str(folder)).run()
    said = " ".join(box.value for box in at.markdown)
    rows = pipeline("text-classification", model=str(folder), top_k=None)([at.text_input(key="text").value])[0]
    shown = [f"**{row['label'].replace('*', chr(92) + '*')}** {100 * row['score']:.1f}%" for row in rows]
    assert not at.exception and f"classifies the text: {', '.join(shown)}." in said, said


@pytest.mark.parametrize("address", [{"yours": ""}, {"model": ""}])
def test_an_address_names_it_and_opens_nothing_before_a_click(address: dict[str, str], run: Path) -> None:
    at = opened("attention", part="both-masks", **dict.fromkeys(address, str(run)))
    assert not at.exception and at.selectbox(key="model").value == "bert" and str(run) not in at.selectbox(key="model").options
    assert any("Nothing is opened or fetched" in box.value for box in at.info)
    (button,) = (button for button in at.button if button.key.startswith("yours.open"))
    button.click().run()
    assert not at.exception and at.selectbox(key="model").value == str(run)
    assert not [button for button in at.button if button.key.startswith("yours.open")]


def test_in_a_room_without_uploads_nothing_is_brought(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "room", lambda: hosted.Classroom())
    at = opened("attention", part="both-masks", yours=str(run), model=str(run))
    assert not at.exception and not [button for button in at.button if button.key.startswith("yours.open")]
    at.session_state[brought.AGREED] = str(run)
    at.run()
    assert str(run) not in at.selectbox(key="model").options and str(run) not in " ".join(box.value for box in at.info)


def upload(at: Any, content: bytes) -> str:
    """The name under which an upload is offered."""
    at.file_uploader[0].upload("mine.zip", content, "application/zip").run()
    assert not at.exception and not at.warning
    return str(at.session_state[brought.UPLOADED].name)


@LONG
def test_two_visitors_upload_models_of_one_name_and_each_sees_their_own(tmp_path: Path) -> None:
    sessions, names = [], []
    for number, system in enumerate(("bert", "gpt2")):
        folder = ex.export(ex.load(system, device="cpu"), tmp_path / str(number) / "mine")
        sessions.append(opened("yours", part="models"))
        names.append(upload(sessions[-1], archive.pack(folder)))
    assert len(set(names)) == 2 and all(name.startswith("mine") for name in names)
    tokens = []
    for at, name, other in zip(sessions, names, names[::-1], strict=True):
        at = opened("attention", at=at, part="both-masks")
        box = at.selectbox(key="model")
        assert name in box.options and other not in box.options
        box.set_value(name).run()
        assert not at.exception and not at.warning
        tokens.append(at.get("plotly_chart")[0].proto.spec)
        at.query_params["model"] = other
        at = opened("attention", at=at, part="both-masks")
        assert at.selectbox(key="model").value != other, "an address with another visitor's upload is forgotten"
    assert "[CLS]" in tokens[0] and "[CLS]" not in tokens[1]
    first = sessions[0].session_state[brought.UPLOADED]
    place, kept = first.folder, [key for key in KEPT._kept if names[0] in map(str, key)]
    assert kept, "its results are kept while it is there"
    del first, sessions[0].session_state[brought.UPLOADED]
    gc.collect()
    assert not place.exists() and not [key for key in KEPT._kept if names[0] in map(str, key)]


def test_an_upload_stays_when_its_visitor_comes_back(tmp_path: Path) -> None:
    at = opened("yours", part="models")
    name = upload(at, archive.pack(ex.export(ex.load("bert", device="cpu"), tmp_path / "mine")))
    at = opened("attention", at=at, part="both-masks")
    at = opened("yours", at=at, part="models")
    (button,) = (button for button in at.button if button.key == "upload.close")
    assert name in button.label.replace("\\", "")
    button.click().run()
    assert not at.exception and brought.UPLOADED not in at.session_state


REAL = {"org/gpt2": ("GPT2LMHeadModel", "gpt2"), "org/neox": ("GPTNeoXForCausalLM", "gpt2"), "org/bert": ("BertModel", "bert"),
        "distilbert/distilbert-base-uncased": ("DistilBertForMaskedLM", "bert"),
        "google-t5/t5-small": ("T5ForConditionalGeneration", "t5")}  # fmt: skip
WHERE = {"org/gpt2": "attention heads whatif families decoding prompting finetuning",
         "org/neox": "attention heads whatif families decoding prompting", "org/bert": "attention heads whatif families",
         "distilbert-base-uncased": "attention heads whatif families corruption finetuning",
         "t5-small": "attention heads whatif families prompting"}  # fmt: skip
BOXES = {page: key for page, (key, _) in LISTS.items() if page != "yours"} | {"corruption": "masked"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """Real models, fetched from a hub of this machine."""
    folder = tmp_path_factory.mktemp("shelf")
    with served() as hub, pytest.MonkeyPatch.context() as patch:
        for number, (name, (kind, tokenizer)) in enumerate(REAL.items()):
            hub.folders[name] = checkpoint(kind, folder / str(number), tokenizer)
        asks(hub, patch, folder / "home")
        for name in REAL:
            fetching.fetch_model(name)
        yield hub


@LONG
@pytest.mark.parametrize("page", some(BOXES, "corruption", "decoding", "finetuning"))
def test_a_fetched_model_is_in_every_list_that_it_fits(page: str, shelf: Hub) -> None:
    part = LISTS[page][1] if page in LISTS else "how-much"
    options = set(opened(page, part=part).selectbox(key=BOXES[page]).options)
    assert options & set(WHERE) == {name for name, pages in WHERE.items() if page in pages.split()}


PARTS = {
    "attention": ["walk", "both-masks", "without-parameters"],
    "heads": ["board", "all-layers", "combined", "contribution", "many-texts", "gradients", "lens", "bertviz", "exercises"],
    "families": ["blueprint", "masks", "input", "residual-stream", "cost", "exercises"],
    "whatif": ["change-one-thing", "each-part-alone", "find-the-fault", "patches", "writes", "information-flow", "exercises"],
    "decoding": ["next-token", "greedy", "beams", "contest", "strategies", "all-texts", "cache", "exercises"],
    "prompting": ["ask", "at-scale", "exercises"],
    "finetuning": ["inputs", "exercises"],
    "corruption": ["hide-a-word", "every-strategy", "one-strategy", "how-much", "thousand", "sentences", "exercises"],
    "yours": ["models", "side-by-side", "layers", "space", "random-twin", "files", "exercises"],
}
CASES = [
    (page, part, name)
    for page, parts in PARTS.items()
    for part in parts
    for name, pages in WHERE.items()
    if page in pages.split() or page == "yours"
]
FEW = [("heads", "contribution", "org/neox"), ("heads", "lens", "org/bert"), ("families", "masks", "t5-small"),
       ("whatif", "change-one-thing", "distilbert-base-uncased"), ("corruption", "hide-a-word", "distilbert-base-uncased"),
       ("decoding", "next-token", "org/neox"), ("finetuning", "inputs", "org/gpt2"), ("yours", "files", "org/gpt2")]  # fmt: skip


@SAMPLED
@pytest.mark.parametrize(("page", "part", "name"), some(CASES, *FEW))
def test_a_part_shows_a_fetched_model_or_says_in_a_line_why_not(page: str, part: str, name: str, shelf: Hub) -> None:
    at = opened(page, part=part, **{BOXES.get(page, "model"): name})
    assert not at.exception, [box.value for box in at.exception]
    for box in at.warning:
        assert len(box.value) < 400 and "Traceback" not in box.value
