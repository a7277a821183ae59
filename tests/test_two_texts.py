"""Two texts with their segments drawn: against BERT's own tokenizer of the transformers library, and on the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG
from opening import opened
from test_short_studies import drawn, part
from transformers import BertForPreTraining, BertTokenizerFast

import explorer as ex
from explorer.app.lessons.corruption import pairs
from explorer.text import classroom
from explorer.text.sidebyside import side_by_side
from explorer.views import VIEWS

STORY = "The dog was tired. It slept by the wall. Anna came home."
OTHERS = ["The king went to the bank. He was rich."]


def below(figure: Any) -> tuple[list[str], list[str], np.ndarray]:
    """The tokens, the numbers below them, and how far the middle of each number is from the middle of its token."""
    bars = figure.data[0]
    middles, lines = bars.base + bars.x / 2, np.unique(bars.y)
    above, other = (np.concatenate([np.flatnonzero(bars.y == line) for line in lines[start::2]]) for start in (0, 1))
    return [bars.text[n] for n in above], [bars.text[n] for n in other], middles[above] - middles[other]


@pytest.mark.parametrize("seed", range(6))
def test_segments_are_those_of_the_library_s_tokenizer(seed: int, tmp_path: Path) -> None:
    tokenizer = ex.load("bert", device="cpu").tokenizer
    corruption = ex.corrupt(STORY, "nsp", tokenizer=tokenizer, corpus=OTHERS, seed=seed)
    tokens, numbers, apart = below(VIEWS["two-texts"](corruption))
    assert len(tokens) == len(numbers) == len(corruption.source) and np.abs(apart).max() < 0.5
    tokenizer.core.save(str(tmp_path / "tokenizer.json"))
    theirs = BertTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    cut = numbers.index("1")
    first, second = corruption.source.ids[1 : cut - 1].tolist(), corruption.source.ids[cut:-1].tolist()
    read = theirs(tokenizer.decode(first), tokenizer.decode(second))
    assert read["input_ids"] == corruption.source.ids.tolist() and [int(n) for n in numbers] == read["token_type_ids"]
    follows = "B follows A" in VIEWS["two-texts"](corruption).layout.title.text
    assert follows is (corruption.labels["nsp"][0] == 0)


@LONG
def test_a_pair_under_several_tokenizers_draws_segments_where_the_model_has_them() -> None:
    record = side_by_side("The dog was tired.", classroom.systems(), pair="It slept.", special=True)
    figure = VIEWS["pieces"](record)
    numbers = [text for text in figure.data[0].text if text in ("0", "1")]
    assert [int(n) for n in numbers] == list(record.tokens[0].segments), "BERT's alone"
    plain = side_by_side("The dog was tired.", classroom.systems(), special=True)
    assert not {"0", "1"} & set(VIEWS["pieces"](plain).data[0].text)
    assert "nsp" in VIEWS["two-texts"].fits(ex.corrupt(STORY, "mlm", tokenizer=ex.load("bert", device="cpu").tokenizer))


@pytest.mark.usefixtures("unfolded")
def test_the_page_draws_both_objectives() -> None:
    at = part("corruption", "pairs")
    assert not at.exception and not at.warning
    assert "Two texts, one row" in " ".join(drawn(at))
    at = opened("corruption", part="pairs", pairs__look="Borders of a span")
    assert not at.exception and any("ex.analysis.guess_spans" in block.value for block in at.code)


def test_whether_a_text_follows_is_what_the_library_s_class_for_pairs_says(tmp_path: Path) -> None:
    bert = ex.load("bert", device="cpu")
    twin = BertForPreTraining.from_pretrained(ex.export(bert, tmp_path / "bert")).eval()
    for _, *texts, label in (*pairs.ASKED, ("", *pairs.OWN, "follows")):
        tokens = bert.tokenizer.encode(*texts)
        with torch.no_grad():
            read = twin(torch.tensor([tokens.ids.tolist()]), token_type_ids=torch.tensor([tokens.segments]))
        share = ex.analysis.text_follows(bert, *texts)
        assert share == pytest.approx(read.seq_relationship_logits.softmax(-1)[0, 0].item(), abs=1e-5)
        assert label == "follows" or share < 0.5, "of the random ones none is taken; of those that follow some are refused"
    shares = [ex.analysis.text_follows(bert, first, second) for _, first, second, label in pairs.ASKED if label == "follows"]
    assert max(shares) > 0.5 > ex.analysis.text_follows(bert, *pairs.OWN), "it often refuses a pair that does follow"
    with pytest.raises(ex.ExplorerError, match="no output layer for pairs"):
        ex.analysis.text_follows(ex.load("roberta", device="cpu"), *pairs.OWN)


@pytest.mark.usefixtures("unfolded")
def test_pairs_are_asked_and_borders_drawn_even_of_one_sentence() -> None:
    at = opened("corruption", part="pairs", story="Super Bowl 50 was an American football game.")
    assert not at.exception and "Two texts, one row" not in " ".join(drawn(at))
    assert at.button_group(key="pairs.look").options == ["A pair of your own", "Borders of a span"]
    at.text_input("next.A").set_value("Anna was hungry.").run()
    at.text_input("next.B").set_value("She ate some bread.").run()
    assert not at.exception
    table = at.table[0].value
    share = ex.analysis.text_follows(ex.load("bert", device="cpu"), "Anna was hungry.", "She ate some bread.")
    assert table["P(B follows A)"].tolist()[0] == f"{share:.2f}" and len(table) == 1 + len(pairs.ASKED)
    assert "gallon†" in table["B"].tolist()[1]
