"""What a page says of a typed text: words that a model never read, words that it did read, and constructions that are unusual for it."""

from __future__ import annotations

import json
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import some
from opening import opened
from test_board import board_of, header

import explorer as ex
from explorer.analysis.text_losses import text_losses
from explorer.app import notice
from explorer.app.exercises import plain
from explorer.app.lessons import SENTENCE
from explorer.errors import ExplorerError
from explorer.models.abilities import abilities_on_card
from explorer.models.load import export
from explorer.models.results import weights_sum
from explorer.models.typical import TYPICAL, TypicalTexts, typical_texts, write_typical
from explorer.text.tokenizers import Seen
from studies import typical
from studies.recipes import RECIPES

ROOT = Path(__file__).parent.parent
MEASURED = sorted(path.parent.name for path in (ROOT / "data" / "models").glob(f"*/{TYPICAL}"))
ODD, NEW = "The dog tired was street the because.", "The dog saw a flibbertigibbet on the tablet."


def twin(name: str, folder: Path) -> torch.nn.Module:
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    kind = AutoModelForCausalLM if name == "gpt2" else AutoModelForMaskedLM
    export(ex.load(name, device="cpu"), folder)
    return kind.from_pretrained(folder).eval()  # type: ignore[no-any-return]


def test_the_loss_of_a_text_is_that_of_the_class_of_hugging_face(tmp_path: Path) -> None:
    model, theirs = ex.load("gpt2", device="cpu"), twin("gpt2", tmp_path)
    ids = model.tokens(SENTENCE).ids.tolist()
    begun = torch.tensor([[*([] if ids[0] in model.tokenizer.special else [model.tokenizer.vocabulary.begin]), *ids]])
    with torch.no_grad():
        loss = float(theirs(input_ids=begun, labels=begun).loss)
    assert text_losses(model, [ODD, SENTENCE])[1] == pytest.approx(loss, abs=1e-4)


def test_the_loss_of_a_masked_model_hides_each_token_alone(tmp_path: Path) -> None:
    model, theirs = ex.load("roberta", device="cpu"), twin("roberta", tmp_path)
    tokens = model.tokens("The dog was tired.")
    losses = []
    for place in np.flatnonzero(~np.array(tokens.special)):
        ids = torch.tensor(np.array(tokens.ids))[None]
        ids[0, place] = model.tokenizer.vocabulary.mask
        with torch.no_grad():
            losses.append(-float(theirs(input_ids=ids).logits[0, place].log_softmax(-1)[tokens.ids[place]]))
    assert text_losses(model, ["The dog was tired."])[0] == pytest.approx(np.mean(losses), abs=1e-4)
    assert text_losses(ex.load("bart", device="cpu"), ["The dog was tired.", ODD]).argmax() == 1
    with pytest.raises(ExplorerError, match="predicts no single tokens"):
        text_losses(ex.load("t5", device="cpu"), ["The dog was tired."])


def test_words_of_the_training_texts_are_offered() -> None:
    seen = Seen(frozenset({"ball", "table", "stable", "a"}), frozenset())
    assert seen.spelled_like("tables") == ["table", "stable"] and seen.spelled_like("zzz") == []
    for name in ("bert", "gpt2", "word2vec"):
        model = ex.load(name, device="cpu")
        pairs = ex.analysis.known_words(model, NEW)
        assert [word for word, _ in pairs] == ["flibbertigibbet", "tablet"], name
        offered = [word for _, words in pairs for word in words]
        assert 2 <= len(offered) <= 3 and model.tokenizer.seen is not None
        assert all(model.tokenizer.word_of(word) in model.tokenizer.seen.words for word in offered), offered
    assert ex.analysis.known_words(ex.load("bert", device="cpu"), SENTENCE) == ()


def test_the_spans_of_unseen_words_are_theirs() -> None:
    tokens = ex.load("bert", device="cpu").tokens(NEW)
    assert [NEW[slice(*span)] for span in tokens.unseen_spans] == ["flibbertigibbet", "tablet"]


def test_a_notice_says_what_was_not_read_and_else_how_unusual_it_is() -> None:
    new = notice.notice_of(NEW, "bert")
    assert new.startswith("† never seen in training") and "*table*" in new and "unusual" not in new
    assert "(bert, gpt2)" in notice.notice_of(NEW, "bert", "gpt2")
    odd = notice.notice_of(ODD, "bert", "gpt2")
    record = typical_texts(ex.models()["bert"].folder)
    assert record is not None and "**gpt2**" in odd and "†" not in odd, odd
    tokens = ex.load("bert", device="cpu").tokens(ODD)
    loss, (usual, highest) = text_losses(ex.load("bert", device="cpu"), [ODD])[0], record.losses_of(len(tokens))
    assert loss > highest + log(notice.FAR) and f"**bert** is {exp(loss - usual):,.0f} times" in odd, odd
    assert notice.notice_of(ODD, "bert", whole=False) == "" == notice.notice_of(SENTENCE, "bert")
    assert notice.notice_of("a " * 5000, "bert") == "", "the page that reads it says why it cannot be read"


def test_groups_are_of_like_length_and_cover_every_text() -> None:
    rng = np.random.default_rng(0)
    tokens, losses = rng.integers(3, 60, 800), rng.gamma(2.0, size=800)
    lengths, usual, highest = typical.grouped(tokens, losses)
    assert lengths[-1] == tokens.max() and len(lengths) == typical.GROUPS
    first = losses[tokens <= lengths[0]]
    assert usual[0] == pytest.approx(np.median(first), abs=1e-3) and np.mean(first > highest[0]) <= 0.015
    record = TypicalTexts("", 800, lengths, usual, highest, ())
    assert record.losses_of(1) == (usual[0], highest[0]) and record.losses_of(500) == (usual[-1], highest[-1])
    assert record.losses_of(lengths[1]) == (usual[1], highest[1])


@pytest.mark.parametrize("name", some(MEASURED, *[*MEASURED][::3]))
def test_what_is_typical_was_measured_of_the_shipped_weights(name: str) -> None:
    record = typical_texts(ex.models()[name].folder)
    assert record is not None and record.weights == weights_sum(name), f"python -m studies.typical {name}"
    assert len(record.lengths) == len(record.usual) == len(record.highest)
    assert all(low < high for low, high in zip(record.usual, record.highest, strict=True))
    model = ex.load(name, device="cpu")
    assert len(record.sentences) == typical.OFFERED and not any(
        any(model.tokens(text).unseen or (1,)) for text in record.sentences
    )
    if record.lengths and name != "bart":
        losses = text_losses(model, record.sentences[:3])
        assert all(
            loss < record.losses_of(len(model.tokens(text)))[1] for loss, text in zip(losses, record.sentences, strict=False)
        )


def test_every_recipe_has_typical_texts() -> None:
    assert set(MEASURED) == set(RECIPES)


def test_a_broken_file_is_refused_in_one_line(tmp_path: Path) -> None:
    assert typical_texts(tmp_path) is None
    write_typical(tmp_path, TypicalTexts("x", 1, (3,), (1.0,), (2.0,), ("A dog.",)))
    assert typical_texts(tmp_path) == TypicalTexts("x", 1, (3,), (1.0,), (2.0,), ("A dog.",))
    for content in ("[", "[]", json.dumps({"weights": 1})):
        (tmp_path / TYPICAL).write_text(content)
        with pytest.raises(ExplorerError, match="broken"):
            typical_texts(tmp_path)


PLACES = {  # the address of a part in which a text is typed: its box, and where more must be asked for before it is read
    ("start", "predictions"): "text", ("attention", "walk"): "text", ("heads", "board"): "text", ("positions", "schemes"): "text",
    ("families", "blueprint"): "text", ("corruption", "one-strategy"): "story", ("training", "watch"): "text",
    ("elmo", "letters"): "text", ("prompting", "ask"): "text.prompt", ("decoding", "greedy"): "beginning",
    ("decoding", "translation"): "source", ("decoding", "blanks"): "blanks", ("whatif", "each-part-alone"): "text",
    ("yours", "models"): "text", ("vectors", "pairs"): "text", ("finetuning", "prefixes"): "text.prefixes",
    ("finetuning", "inside"): "text.tuned",
}  # fmt: skip
ASKED = {"text.tuned": {"inside__shows": "What changed inside"}}  # what is chosen before a box is there


OF_NO_MODEL = {  # files whose boxes take no text for a model that was trained before
    "decoding/metric_card.py", "tokens/page.py", "training/comparing.py", "training/live.py", "vectors/editing.py",
    "vectors/networks.py",  # single words, of which one without a vector is refused
    "finetuning/slices.py", "training/update.py",  # texts with labels; words of word2vec, of which one without a vector is refused
}  # fmt: skip


def test_every_file_with_a_box_for_a_text_gives_the_notice() -> None:
    lessons = ROOT / "explorer" / "app" / "lessons"
    boxes = ("st.text_input(", "st.text_area(", "model_and_text(", "= sentence(")
    silent = {
        path.relative_to(lessons).as_posix()
        for path in lessons.rglob("*.py")
        if any(box in (text := path.read_text("utf-8")) for box in boxes) and "notice(" not in text
    }
    assert silent == OF_NO_MODEL


@pytest.mark.long
@pytest.mark.parametrize(("place", "box"), PLACES.items())
def test_the_notice_is_on_every_page_where_a_text_is_typed(place: tuple[str, str], box: str) -> None:
    at = opened(place[0], part=place[1], **ASKED.get(box, {})).text_input(key=box).set_value(NEW).run()
    assert not at.exception and any("never seen in training" in info.value for info in at.info), place


def test_tokens_of_the_board_carry_the_mark() -> None:
    at = opened("attention", part="walk").text_input(key="text").set_value(NEW).run()
    shown = header(board_of(at))["tokens"]["source"]
    marked = [text for text, new in zip(shown["texts"], shown["unseen"], strict=True) if new]
    assert marked and all(text.endswith("†") for text in marked) and sum("†" in text for text in shown["texts"]) == len(marked)
    assert any("never seen" in info.value and "*table*" in info.value for info in at.info)


def test_what_a_model_can_is_asked_for_and_a_sentence_goes_into_the_box() -> None:
    at = opened("attention", part="both-masks")
    assert not any("the weakest first" in text.value for text in at.markdown), "only on request"
    at.session_state["can.bert"] = True
    at = at.run()
    said = "\n".join(text.value for text in at.markdown)
    worst = abilities_on_card(ex.models()["bert"].folder)[0]
    assert "the weakest first" in said and said.index(worst.ability.title) < said.index("fills a hidden word")
    record = typical_texts(ex.models()["bert"].folder)
    assert record is not None and [at.button(key=f"can.bert.{n}").label for n in range(10)] == list(
        map(plain, record.sentences)
    )
    at = at.button(key="can.bert.3").click().run()
    assert not at.exception and at.text_input(key="text").value == record.sentences[3]
