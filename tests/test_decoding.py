"""Decoding against the transformers library: token for token for greedy and beam search, token for token for every cut."""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from conftest import LONG, SAMPLED, sample
from test_twins import CLASSES, shaken

import explorer as ex
from explorer.decoding import STRATEGIES
from explorer.decoding.decode import decoding_settings, writer
from explorer.decoding.single import drawn_from
from explorer.errors import ChoiceError
from explorer.models.load import export
from explorer.models.top_tokens import top_tokens
from explorer.models.transformer import TransformerModel

CASES = sample(240, 42)
OURS = ("gpt", "gpt2", "llama", "bart", "t5", "transformer")
TOKENIZER = ex.tokenizer(
    "byte-bpe", ["The dog ran home, and it was tired."], size=300, specials=("<pad>", "<s>", "</s>", "<unk>")
)
VOCAB, END, PAD = 60, 2, 0
PENALTIES, EARLY = (-1.0, 0.0, 0.6, 1.0, 2.0), (True, False, "never")
SIZE = {"vocab_size": VOCAB, "max_position_embeddings": 48}
STACK = {**SIZE, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2}
LIVE: dict[str, tuple[Any, dict[str, int]]] = {
    "GPT-2": (hf.GPT2LMHeadModel, {"vocab_size": VOCAB, "n_positions": 48, "n_embd": 24, "n_layer": 2, "n_head": 3}),
    "GPT-NeoX": (hf.GPTNeoXForCausalLM, {**STACK, "num_attention_heads": 3}),
    "Llama": (hf.LlamaForCausalLM, {**STACK, "num_attention_heads": 4, "num_key_value_heads": 2}),
    "mT5": (hf.MT5ForConditionalGeneration, {"vocab_size": VOCAB, "d_model": 24, "d_kv": 8, "d_ff": 40, "num_layers": 2, "num_heads": 3,
        "decoder_start_token_id": PAD}),
    "Pegasus": (hf.PegasusForConditionalGeneration, {**SIZE, "d_model": 24, "encoder_layers": 1, "decoder_layers": 2, "encoder_ffn_dim": 40,
        "decoder_ffn_dim": 40, "encoder_attention_heads": 3, "decoder_attention_heads": 3, "decoder_start_token_id": 1}),
}  # fmt: skip


@functools.cache
def own(preset: str, number: int) -> tuple[TransformerModel, torch.nn.Module]:
    """One of ours with every weight random, and its twin in the transformers library."""
    shape = {"dim": 24, "heads": 3, "hidden": 96, "length": 48, "vocab": VOCAB, "layers": 2, "start": 1}
    if preset in ("bart", "t5", "transformer"):
        shape["encoder_layers"] = 2 if preset == "t5" else 1 + number % 2  # generate makes T5's cache as deep as its encoder
    else:
        del shape["start"]
    if preset == "llama":
        shape |= {"heads": 2, "kv_heads": 1}
    model = ex.build(preset, tokenizer=TOKENIZER, device="cpu", **shape)
    shaken(model.module, number)
    return model, CLASSES[preset].from_pretrained(export(model, tempfile.mkdtemp())).eval()


@functools.cache
def live(name: str, number: int) -> torch.nn.Module:
    torch.manual_seed(number)
    kind, settings = LIVE[name]
    module = shaken(kind(kind.config_class(**settings)), number)
    module.generation_config.eos_token_id = END
    return module


def chosen(number: int) -> tuple[Any, torch.nn.Module, bool]:
    """The model of a case as decode takes it, the class to compare with, and whether it has an encoder."""
    names = (*OURS, *LIVE)
    name = names[number % len(names)]
    if name in LIVE:
        module = live(name, number % 3)
        return (module, TOKENIZER), module, module.config.is_encoder_decoder
    model, twin = own(name, number % 3)
    return model, twin, model.family == "encoder-decoder"


def options_of(rng: np.random.Generator) -> dict[str, Any]:
    """What both libraries call differently: ours here."""
    options: dict[str, Any] = {"max_tokens": int(rng.integers(1, 18))}
    if rng.random() < 0.4:
        options["repetition_penalty"] = float(rng.choice([0.7, 1.2, 1.8]))
    if rng.random() < 0.4:
        options["no_repeat"] = int(rng.integers(1, 4))
    if rng.random() < 0.7:
        options["beams"] = int(rng.integers(2, 7))
        options["length_penalty"] = float(rng.choice(PENALTIES))
        options["early_stopping"] = EARLY[rng.integers(3)]
    return options


def theirs(twin: torch.nn.Module, start: list[int], source: list[int] | None, given: dict[str, Any]) -> tuple[Any, Any]:
    """The texts that `generate` writes, best first, without the prompt and what fills them up; and their scores."""
    beams = given.get("beams", 1)
    config = hf.GenerationConfig(
        max_new_tokens=given["max_tokens"], do_sample=False, num_beams=beams, num_return_sequences=beams, eos_token_id=END,
        pad_token_id=PAD, repetition_penalty=given.get("repetition_penalty"), no_repeat_ngram_size=given.get("no_repeat"),
        length_penalty=given.get("length_penalty", 1.0), early_stopping=given.get("early_stopping", False), output_scores=True,
        return_dict_in_generate=True, forced_eos_token_id=None, decoder_start_token_id=start[0], bos_token_id=1,
    )  # fmt: skip
    ids = torch.tensor([start if source is None else source])
    reads = {} if source is None else {"decoder_input_ids": torch.tensor([start])}
    twin.generation_config.forced_eos_token_id = twin.config.forced_eos_token_id = None
    out = twin.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config, **reads)
    rows = [row[len(start) :] for row in out.sequences.tolist()]
    cut = [row[: row.index(END) + 1] if END in row else row for row in rows]
    return cut, None if beams == 1 else out.sequences_scores.tolist()


@SAMPLED
@pytest.mark.parametrize("number", CASES)
def test_greedy_and_beam_search_write_what_generate_writes(number: int) -> None:
    rng = np.random.default_rng(number)
    same_as_generate(*chosen(number), rng, lambda: options_of(rng))


def same_as_generate(
    model: Any, twin: torch.nn.Module, paired: bool, rng: np.random.Generator, options: Callable[[], dict[str, Any]]
) -> None:
    """One text as both libraries continue it: the same tokens, and the same texts with their scores at the end of a beam search."""
    text = [int(piece) for piece in rng.integers(3, VOCAB, size=rng.integers(1, 9))]
    given = options()
    prefix = [int(p) for p in rng.integers(3, VOCAB, size=rng.integers(0, 3))] if paired else None
    prepared = writer(model, text, prefix=prefix or None)
    strategy = "beam" if "beams" in given else "greedy"
    *_, final = STRATEGIES[strategy].apply(prepared.stepper, prepared.prompt, decoding_settings(prepared, given))
    rows, scores = theirs(twin, list(prepared.prompt), text if paired else None, given)
    assert final.ids.tolist() == rows[0], (strategy, given)
    if scores is not None:
        ours = {tuple(hypothesis.ids.tolist()): hypothesis.score for hypothesis in final.finished}
        best = {tuple(row): score for row, score in zip(rows, scores, strict=True) if score > -1e8}
        assert list(ours) == list(best), given
        np.testing.assert_allclose(list(ours.values()), list(best.values()), rtol=2e-4, atol=1e-5)


@LONG
@pytest.mark.parametrize("preset", ["bart", "t5"])
@pytest.mark.parametrize("no_repeat", [1, 2, 3])
def test_beams_end_as_theirs_do_whatever_ends_them(preset: str, no_repeat: int) -> None:
    """Every length penalty with every way to stop early, where repeats are forbidden: what finished texts are worth decides."""
    for number, (penalty, early) in enumerate(itertools.product(PENALTIES, EARLY)):
        given = {
            "max_tokens": 12,
            "beams": 2 + number % 4,
            "no_repeat": no_repeat,
            "length_penalty": penalty,
            "early_stopping": early,
        }
        same_as_generate(*own(preset, number % 3), True, np.random.default_rng((number, no_repeat)), lambda given=given: given)


PROCESSORS = {  # of the library, in the order in which `generate` applies them
    "repetition_penalty": hf.RepetitionPenaltyLogitsProcessor, "no_repeat": hf.NoRepeatNGramLogitsProcessor,
    "temperature": hf.TemperatureLogitsWarper, "top_k": hf.TopKLogitsWarper, "top_p": hf.TopPLogitsWarper,
    "min_p": hf.MinPLogitsWarper, "typical_p": hf.TypicalLogitsWarper,
}  # fmt: skip


def cuts_of(rng: np.random.Generator) -> dict[str, Any]:
    """Some of the cuts, at random."""
    every = {
        "temperature": float(rng.choice([0.3, 0.7, 1.5, 3.0])), "top_k": int(rng.integers(1, VOCAB + 9)),
        "top_p": float(rng.uniform(0.05, 0.999)), "min_p": float(rng.uniform(0.001, 0.6)),
        "typical_p": float(rng.uniform(0.05, 0.99)), "repetition_penalty": float(rng.choice([0.7, 1.3])),
        "no_repeat": int(rng.integers(1, 3)),
    }  # fmt: skip
    return {name: value for name, value in every.items() if rng.random() < 0.45}


@SAMPLED
@pytest.mark.parametrize("number", CASES)
def test_sampling_keeps_what_the_library_s_processors_keep(number: int) -> None:
    rng = np.random.default_rng(1000 + number)
    model, twin, paired = chosen(number)
    text = [int(piece) for piece in rng.integers(3, VOCAB, size=rng.integers(2, 9))]
    given = cuts_of(rng)
    prepared = writer(model, text)
    process = hf.LogitsProcessorList(kind(given[name]) for name, kind in PROCESSORS.items() if name in given)
    settings = decoding_settings(prepared, {**given, "max_tokens": 4, "seed": number, "candidates": VOCAB})
    written = list(prepared.prompt)
    for step in STRATEGIES["sample"].apply(prepared.stepper, prepared.prompt, settings):
        reads = {"input_ids": torch.tensor([text]), "decoder_input_ids": torch.tensor([written])}
        with torch.no_grad():
            raw = twin(**(reads if paired else {"input_ids": torch.tensor([written])})).logits[:, -1]
        left = process(torch.tensor([written]), raw.clone())
        kept = {c.id for c in step.candidates if not c.fate.startswith("cut")}
        assert kept == set(np.flatnonzero(np.isfinite(left[0].numpy()))), given
        assert sum(c.fate in ("kept", "finished") for c in step.candidates) == 1
        shares = torch.softmax(raw[0].double() / given.get("temperature", 1.0), -1)
        if "repetition_penalty" not in given and "no_repeat" not in given:
            assert step.kept_mass[0] == pytest.approx(float(shares[list(kept)].sum()), abs=1e-5)
        written.append(int(step.ids[-1]))


def test_a_draw_follows_the_shares() -> None:
    model, _ = own("gpt2", 0)
    shares = np.exp(torch.log_softmax(torch.tensor(model.logits([5, 9, 11])[-1]).double() / 1.5, -1).numpy())
    rng = np.random.default_rng(0)
    counts = np.bincount([drawn_from(np.log(shares), rng) for _ in range(3000)], minlength=VOCAB)
    big = shares > 5 / 3000
    chi = float(((counts[big] - 3000 * shares[big]) ** 2 / (3000 * shares[big])).sum())
    assert chi < big.sum() + 5 * (2 * big.sum()) ** 0.5, "within five standard deviations of chi-square"
    texts = [list(ex.decode(model, [5, 9], "sample", seed=seed, max_tokens=5))[-1].ids.tolist() for seed in (0, 0, 1, 2)]
    assert texts[0] == texts[1] and len({tuple(text) for text in texts}) == 3, "a seed is a promise"


@pytest.mark.parametrize("count", [1, 3, 50])
def test_best_first_and_of_equal_scores_the_lower_id(count: int) -> None:
    scores = np.random.default_rng(count).integers(0, 4, (6, 9)).astype(float)  # few values, so many ties
    scores[2, 4] = -np.inf
    ids, texts = top_tokens(scores, count, "abcdefghi".__getitem__)
    for row, best, names in zip(scores, ids, texts, strict=True):
        wanted = sorted(range(9), key=lambda token: (-row[token], token))[:count]
        assert best.tolist() == wanted and names == tuple("abcdefghi"[token] for token in wanted)


def test_a_word_that_is_forced_is_the_one_inside_a_sentence_and_an_unknown_one_is_refused() -> None:
    """A word that is no token without a space is read with the one before it, as the library encodes it there; T5 knows no Hebrew."""
    for name in ("gpt2", "t5"):
        core = ex.load(name).tokenizer.core
        word = next(w for w in ("thirsty", "hungry", "unbelievable", "kitten") if core.token_to_id(w) is None)
        first = len(core.encode("so", add_special_tokens=False).ids)
        inside = core.encode(f"so {word}", add_special_tokens=False).ids[first:]
        steps = list(ex.decode(name, "The dog was so", force={0: word}, max_tokens=len(inside)))
        assert steps[-1].ids.tolist() == inside
    with pytest.raises(ChoiceError, match="no token"):
        ex.decode("t5", "The dog ran.", force={0: "שלום"})


@pytest.mark.parametrize("stop", [5, [5], [None], {"a": 1}.items()])
def test_what_ends_a_text_is_texts(stop: Any) -> None:
    with pytest.raises(ChoiceError, match="stop"):
        ex.decode("gpt2", "The dog", stop=stop)
