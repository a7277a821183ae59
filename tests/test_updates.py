"""One update: its gradients against PyTorch's autograd and the chain rule by hand, its losses against an optimiser of PyTorch's."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
import torch
from conftest import LONG, long
from opening import opened
from torch.nn import functional

import explorer as ex
from explorer.errors import ChoiceError, TextError
from explorer.records import PairUpdate, TokenUpdate
from explorer.views import VIEWS
from explorer.views.updating import STAGES

TEXT = "The dog was tired."
FRENCH = {"target": "Le chien dort."}


def loaded(name: str, **more: Any) -> Any:
    """A shipped model on the processor."""
    return ex.load(name, device="cpu", **more)


def loss_by_hand(module: Any, update: TokenUpdate, model: Any) -> torch.Tensor:
    """The loss of the same prediction by the modules of `nn`, without anything of the analysis."""
    ids = torch.tensor(update.tokens.ids)[None]
    if model.family == "encoder-decoder":
        hidden = module.decode(module.encode(torch.tensor(model.tokens(TEXT).ids)[None]), ids)
    else:
        hidden = module(ids, torch.zeros_like(ids) if module.config.segments else None)
    return functional.cross_entropy(module.head(hidden)[0, update.row : update.row + 1], torch.tensor([update.label]))


@LONG
@pytest.mark.parametrize("name", ["gpt2", *long("bert", "llama"), "transformer"])
def test_gradients_and_losses_are_those_of_autograd_and_of_torch_optim(name: str) -> None:
    model = loaded(name)
    given: dict[str, Any] = FRENCH if name == "transformer" else {}
    update = ex.analysis.token_update(model, TEXT, layer=0, **given)
    module = copy.deepcopy(model.module).double()
    loss = loss_by_hand(module, update, model)
    loss.backward()
    assert update.loss == pytest.approx(loss.item(), rel=1e-9)
    attention = module.layers[0].attention
    theirs = {"W_Q": attention.query, "W_K": attention.key, "W_V": attention.value, "W_O": attention.output}
    for which, part in theirs.items():
        np.testing.assert_allclose(update.slopes[which], part.weight.grad.numpy(), rtol=1e-6, atol=1e-12)
    slope = module.embeddings.tokens.weight.grad.numpy()[update.ids]
    np.testing.assert_allclose(update.slopes["E"], slope, rtol=1e-6, atol=1e-12)
    assert update.slope == pytest.approx(sum(float((w.grad**2).sum()) for w in module.parameters() if w.grad is not None))
    rate = 0.001
    torch.optim.SGD(module.parameters(), lr=rate).step()
    after = loss_by_hand(module, update, model).item()
    assert update.losses[list(update.rates).index(rate)] == pytest.approx(after, rel=1e-7)


def test_the_gradient_at_the_scores_is_p_minus_y_and_goes_back_to_the_matrices_by_the_chain_rule() -> None:
    model = loaded("gpt2")
    update = ex.analysis.token_update(model, TEXT, position=3, layer=1)
    np.testing.assert_allclose(update.scores_slope, update.probabilities - update.one_hot, atol=1e-12)
    trace = ex.trace(model, update.tokens, blocks=True)
    mine = next(a for a in trace.attention if a.layer == 1)
    assert mine.q is not None and mine.k is not None
    x = next(b for b in trace.blocks if (b.layer, b.part) == (1, "attention")).normed
    score = update.masked_scores_slope / np.sqrt(mine.q.shape[-1])  # [head, query, key]
    assert np.abs(score.sum(-1)).max() < 1e-9 < np.abs(score).max()
    for head in range(update.heads):
        np.testing.assert_allclose(update.of_head("W_Q", head), (score[head] @ mine.k[head]).T @ x, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(update.of_head("W_K", head), (score[head].T @ mine.q[head]).T @ x, rtol=1e-3, atol=1e-5)
    wide = mine.q.shape[-1]
    np.testing.assert_array_equal(update.of_head("W_O", 1), update.slopes["W_O"][:, wide : 2 * wide].T)
    assert (update.states_slope[-1] > 0).nonzero()[0].tolist() == [update.row]
    assert not update.states_slope[:, update.row + 1 :].any(), "nothing that comes later is read"


@LONG
@pytest.mark.parametrize("name", [*long("gpt2"), "bert", "t5"])
def test_every_gradient_that_is_shown_is_the_finite_difference(name: str) -> None:
    given: dict[str, Any] = {"target": TEXT} if name == "t5" else {}
    update = ex.analysis.token_update(loaded(name), TEXT, position=2, **given)
    np.testing.assert_allclose(update.differences, update.steepest[:, 1], rtol=1e-5, atol=1e-10)
    for number, which in enumerate(("W_Q", "W_K", "W_V", "W_O")):
        place = tuple(update.places[number])
        assert update.steepest[number].tolist() == [update.matrices[which][place], update.slopes[which][place]]
        assert abs(update.steepest[number, 1]) == np.abs(update.slopes[which]).max() > 0


@LONG
def test_a_small_step_does_what_the_gradient_promises_and_the_model_stays_as_it_is() -> None:
    model = loaded("gpt2")
    before = {name: weight.clone() for name, weight in model.module.state_dict().items()}
    update = ex.analysis.token_update(model, TEXT)
    assert all(torch.equal(before[name], weight) for name, weight in model.module.state_dict().items())
    gained = update.loss - update.losses[1]
    assert gained == pytest.approx(update.loss - update.expected(update.rates)[1], rel=0.05) and gained > 0
    assert update.others[0] == pytest.approx(
        np.mean([ex.analysis.token_update(model, TEXT, position=n).loss for n in (1, 2, 3, 5)])
    )


@LONG
def test_a_masked_token_is_predicted_from_both_sides_and_what_cannot_be_predicted_is_refused() -> None:
    bert, gpt2 = loaded("bert"), loaded("gpt2")
    update = ex.analysis.token_update(bert, TEXT, position=2)
    assert update.tokens.texts[2] == "[MASK]" and update.vocabulary[update.label] == bert.tokens(TEXT).texts[2]
    assert update.probabilities.argmax() == ex.trace(bert, update.tokens, scores=True).outputs["lm"][2].argmax()
    with pytest.raises(ChoiceError, match="Token 0 is not predicted"):
        ex.analysis.token_update(gpt2, TEXT, position=0)
    with pytest.raises(TextError, match="nothing to predict"):
        ex.analysis.token_update(gpt2, [int(gpt2.tokens(TEXT).ids[0])])
    with pytest.raises(ChoiceError, match="Give it as `target`"):
        ex.analysis.token_update(loaded("t5"), TEXT)
    with pytest.raises(ChoiceError, match="predicts no tokens"):
        ex.analysis.token_update(loaded("electra"), TEXT)
    with pytest.raises(ChoiceError, match="choose a whole number"):
        ex.analysis.token_update(gpt2, TEXT, layer=99)


def pair(rng: np.random.Generator) -> PairUpdate:
    return PairUpdate("m", "w", ("c", "a", "b"), rng.normal(size=5), rng.normal(size=(3, 5)))


def test_a_pair_of_word2vec_moves_as_pytorch_moves_it() -> None:
    before = pair(np.random.default_rng(1))
    w, c = (torch.tensor(x, requires_grad=True) for x in (before.centre, before.contexts))
    loss = functional.binary_cross_entropy_with_logits(c @ w, torch.tensor(before.labels), reduction="sum")
    loss.backward()
    assert before.loss == pytest.approx(loss.item())
    torch.optim.SGD([w, c], lr=0.3).step()
    after = before.moved(0.3)
    np.testing.assert_allclose(after.centre, w.detach().numpy())
    np.testing.assert_allclose(after.contexts, c.detach().numpy())
    for number in range(5):
        assert before.difference(number) == pytest.approx(before.centre_slope[number], rel=1e-6)


def test_a_pair_is_read_from_both_tables_of_word2vec() -> None:
    model = loaded("word2vec")
    read = ex.analysis.pair_update(model, "dog", "barked", ["blue", "seven"])
    ids = [model.tokenizer.core.token_to_id(word) for word in ("dog", "seven")]
    np.testing.assert_allclose(read.centre, model.module.words.weight[ids[0]].detach().numpy())
    np.testing.assert_allclose(read.contexts[2], model.module.near.weight[ids[1]].detach().numpy())
    with pytest.raises(ChoiceError, match="no negative samples"):
        ex.analysis.pair_update(model, "dog", "barked", [])
    with pytest.raises(ChoiceError, match="no negative samples"):
        ex.analysis.pair_update(loaded("glove"), "dog", "barked", ["blue"])


def test_a_picture_says_whether_an_update_helped() -> None:
    update, view = ex.analysis.pair_update(loaded("word2vec"), "dog", "barked", ["blue", "seven"]), VIEWS["pair-update"]
    rates = view.controls(update)["rate"].places
    for rate in rates:
        after, title = update.moved(rate).loss, view(update, rate=rate).layout.title.text
        assert ("falls" in title) == (after < update.loss) and ("rises" in title) == (after > update.loss)
        assert f"{after:.3f}" in title.replace("<br>", " ")


def test_arrows_are_longer_than_the_moves_by_the_number_that_stands_above_them() -> None:
    update, view = ex.analysis.pair_update(loaded("word2vec"), "dog", "barked", ["blue", "seven"]), VIEWS["pair-update"]
    for rate in view.controls(update)["rate"].places:
        figure = view(update, rate=rate)
        said = re.search(r"arrows ([\d,]+) ×", figure.layout.annotations[1].text)
        times = int(said[1].replace(",", "")) if said else 1
        for arrow in figure.data[2:]:
            drawn, moved = np.stack((arrow.x, arrow.y), axis=1), np.asarray(arrow.customdata)
            np.testing.assert_allclose(np.diff(drawn, axis=0), times * np.diff(moved, axis=0), atol=1e-9)
        wide = np.ptp([(arrow.x[0], arrow.y[0]) for arrow in figure.data[2:]], axis=0).max()
        longest = max(np.hypot(np.ptp(arrow.x), np.ptp(arrow.y)) for arrow in figure.data[2:])
        assert longest > 0.3 * wide, "the longest arrow is seen at every learning rate"


@LONG
def test_the_pictures_draw_the_numbers_of_the_record() -> None:
    update = ex.analysis.token_update(loaded("gpt2"), TEXT, position=2)
    view, stages = VIEWS["token-update"], list(STAGES)
    bars = {bar.name: bar for bar in view(update, stage=stages[0]).data}
    np.testing.assert_allclose(bars["p − y"].x, np.subtract(bars["p"].x, bars["y"].x), atol=1e-12)
    assert bars["y"].x[0] == 1 and f"{update.loss:.3f}" in view(update).layout.title.text
    cells = view(update, stage=stages[3], head=1).data[0]
    np.testing.assert_allclose(cells.customdata, update.of_head("W_Q", 1))
    lines = {line.name: line for line in view(update, stage=stages[6], rate=0.01).data}
    np.testing.assert_allclose(lines["this token"].y, update.losses[1:])
    figure = VIEWS["pair-update"](pair(np.random.default_rng(2)), rate=1.0)
    assert [bar.name for bar in figure.data[:2]] == ["before", "after"] and len(figure.data) == 2 + 4


@LONG
def test_the_page_shows_a_pair_and_a_token_and_says_what_it_cannot() -> None:
    at = opened("training", part="one-update")
    assert not at.exception and len(at.get("plotly_chart")) == 1
    at.text_input("update.near").set_value("zzz").run()
    assert not at.exception and any("zzz" in warning.value for warning in at.warning)
    at = opened(
        "training", part="one-update", **{"update.of": "A Transformer, one token", "kept": "bert-tiny", "update.at": "1"}
    )
    assert not at.exception and len(at.get("plotly_chart")) == 1
    title = at.get("plotly_chart")[0].proto.alt
    update = ex.analysis.token_update(loaded("bert-tiny", step=1), at.text_input("text").value)
    assert f"{update.loss:.3f}" in title
    at = opened("training", part="one-update", **{"update.of": "A Transformer, one token", "kept": "electra"})
    assert not at.exception and any("Choose an encoder or a decoder" in info.value for info in at.info)
