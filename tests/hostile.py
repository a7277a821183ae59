"""Calls of every public function that work, and the values with which somebody might try to break them."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from conftest import ALL
from hypothesis import strategies as st
from plotly.basedatatypes import BaseFigure

import explorer as ex
from explorer.records.record import Record

TEXT, TWO = "A dog ran. It was red.", "The cat was tired."
REASONS = (
    "The animal did not cross the street because it was too tired.",
    "The animal did not cross the street because it was too wide.",
)
LONG = 100_000 if ALL else 20_000  # letters of a very long text
STEPS = 2  # of what goes on step by step, so many are taken


@cache
def model(name: str) -> Any:
    return ex.load(name, device="cpu")


@cache
def counted() -> Any:
    from explorer.models import ngram

    tokenizer = model("gpt2").tokenizer
    return ngram.train([tokenizer.encode(TEXT).ids], tokenizer, order=2)


@cache
def tuned(task: str = "sentiment") -> Any:
    run = ex.finetune(model("bert"), task=task, examples=24, steps=1, checks=0, snapshots=0, device="cpu")
    list(run)
    return run.model


@cache
def read() -> Any:
    return ex.text.counted_examples(ex.microworld.texts(400, 1), model("word2vec").tokenizer)


@cache
def hidden(strategy: str = "mlm", name: str = "bert") -> Any:
    return ex.corrupt(TEXT, strategy, tokenizer=model(name).tokenizer, rate=0.3)


@cache
def traced() -> Any:
    return ex.trace(model("bert"), TEXT, blocks=True)


@cache
def beams() -> Any:
    return ex.decoding.contest(model("gpt2"), ex.microworld.texts(2, 5, "validation"), tokens=4, beams=(2,))


@cache
def drawn() -> Any:
    return ex.views["place-turns"](ex.places("rope"))


def note(what: str, *, survived: bool) -> None:
    """Count a case or a fault for the report of `make break`."""
    if book := os.environ.get("EXPLORER_BREAK"):
        with open(book, "a", encoding="utf-8") as file:
            file.write(json.dumps([what, survived]) + "\n")


@contextmanager
def counted_as(what: str) -> Iterator[None]:
    """Whatever happens inside is one case: survived unless something else than an ExplorerError comes out."""
    try:
        yield
    except ex.ExplorerError:
        note(what, survived=True)
        raise
    except BaseException:
        note(what, survived=False)
        raise
    note(what, survived=True)


def scratch() -> str:
    return tempfile.mkdtemp(dir=os.getcwd())


def text_file() -> Path:
    path = Path(scratch()) / "mine.txt"
    path.write_text("A dog ran.\n\nIt was red.", "utf-8")
    return path


def about(name: str, **more: Any) -> Callable[[], dict[str, Any]]:
    """The arguments of a call about a shipped model."""
    return lambda: {"model": model(name), **more}


def of_model(name: str = "bert", **more: Any) -> Callable[[], dict[str, Any]]:
    return about(name, text=TEXT, **more)


def of_tokenizer(**more: Any) -> Callable[[], dict[str, Any]]:
    return lambda: {"text": TEXT, "tokenizer": model("bert").tokenizer, **more}


def number(count: int = 2, seed: int = 3, **more: Any) -> Callable[[], dict[str, Any]]:
    return given(count=count, seed=seed, **more)


def given(**arguments: Any) -> Callable[[], dict[str, Any]]:
    return lambda: dict(arguments)


FEEL = {"glad": "happy", "sad": "sad"}
HELD: dict[str, Any] = {"texts": ["Anna smiled.", "Anna cried."], "gold": ["glad", "sad"], "labels": FEEL}
SHOTS = [("Tom laughed.", "glad"), ("Tom wept.", "sad")]
TUNING: dict[str, Any] = {"task": "sentiment", "examples": 24, "steps": 1, "seed": 0, "device": "cpu"}
FITTING: dict[str, Any] = {"size": "tiny", "corpus": ["A dog ran. It was red."] * 20, "pieces": 300, "steps": 1, "batch": 4}
SAMPLING: dict[str, Any] = {
    "strategy": "sample", "temperature": 1.0, "top_k": 5, "top_p": 0.9, "min_p": 0.1, "typical_p": 0.9, "seed": 0, "max_tokens": 3,
}  # fmt: skip
DECODING: dict[str, Any] = {
    "strategy": "diverse-beam", "max_tokens": 3, "beams": 2, "groups": 1, "diversity": 0.5, "length_penalty": 1.0,
    "length_rule": "power", "early_stopping": False, "repetition_penalty": 1.1, "no_repeat": 2, "seed": 0, "force": {0: "dog"},
    "stop": ("cat",), "among": (), "candidates": 4, "prefix": None, "cross": True, "cache": True,
}  # fmt: skip

# The arguments of a call that works, for each public function; what is fetched (a model, a folder) is made when it is asked for.
CALLS: dict[str, Callable[[], dict[str, Any]]] = {
    **dict.fromkeys(("models", "presets", "results", "support_table", "tasks", "training.recorded_runs", "training.sentence_bert"), dict),
    "lens": of_model(target=None, inside=False),
    **dict.fromkeys(("analysis.blueprint", "analysis.contributions", "analysis.under_masks"), of_model(target=None)),
    **{f"microworld.{name}": number(split="train", version="1.0") for name in ("labelled", "pairs", "stories", "texts")},
    "AddVector": lambda: dict(stream="encoder", layer=0, values=np.zeros(model("bert").config.dim), factor=0.5),
    "MovePositions": lambda: dict(stream="encoder", order=np.arange(len(traced().source))[::-1]),
    "NoPositions": given(stream="encoder"),
    "NoScale": given(stream="encoder"),
    "PatchHidden": lambda: dict(stream="encoder", layer=0, position=1, trace=traced()),
    "ReplaceRow": lambda: dict(stream="encoder", layer=0, head=0, query=2, row=np.eye(len(traced().source))[0]),
    "SetMask": lambda: dict(stream="encoder", allowed=np.eye(len(traced().source), dtype=bool)),
    "SetUnit": given(stream="encoder", layer=0, unit=7, factor=0.5),
    "SetVector": given(which="v", stream="encoder", layer=0, head=1, position=2, values=np.zeros(32)),
    "SilenceHead": given(stream="encoder", layer=0, head=1),
    "SilenceLayer": given(stream="encoder", layer=0, part="feed-forward"),
    "NoResidual": given(stream="encoder", layer=0, part="attention"),
    "NoNorm": given(stream="encoder", layer=1, part="feed-forward"),
    "Uniform": given(stream="encoder", layer=0, head=1),
    "ask": lambda: dict(exercises=ex.lesson("attention").scale_question(ex.analysis.saturation(draws=20)), then=dict),
    "bertviz": lambda: dict(trace=traced(), view="head", mode="light"),
    "board": lambda: dict(trace=traced(), labels=(), steps=(), mode="light", station="softmax", layer=0, head=1),
    "build": lambda: dict(name="gpt2", size="tiny", tokenizer=model("gpt2").tokenizer, seed=0, device="cpu", precision="auto",
        layers=1, dim=32, heads=2, hidden=64, length=16),
    "learning": lambda: dict(data="reverse", family="decoder", mode="light"),
    "live": about("gpt2", text=TEXT, target="", mode="light"),
    "change": of_model(edits=[ex.NoPositions("encoder")], target=None),
    "check": given(mine=[1.0, 2.0], expected=[1.0, 2.0], within=1e-5),
    "compare": lambda: dict(before=traced(), after=traced()),
    "configure": given(name="gpt2", size="tiny", vocab=500, layers=2, dim=32, heads=2),
    "corrupt": of_tokenizer(strategy="mlm", seed=0, corpus=(), rate=0.3),
    "damage": of_model(target=None, stream=None),
    "decode": of_model("gpt2", **DECODING),
    "detect": of_model("electra", seed=0, rate=0.3),
    "export": lambda: dict(model=model("gpt2"), folder=scratch()),
    "finetune": about("bert", how="", folder=None, checks=0, snapshots=0, batch=4, **TUNING),
    "fit": given(what="gpt2", seed=0, folder=None, device="cpu", precision="auto", checks=0, **FITTING),
    "gradient": of_model(target=None, row=1, token="dog", steps=2),
    "guess": lambda: dict(model=model("bert"), corruption=hidden(), top=3),
    "head_statistics": about("bert", texts=[TEXT, TWO], stream=None),
    "hide": of_tokenizer(words=["dog"]),
    "learn": given(kind="bpe", texts=[TEXT] * 3, size=60, by="count", specials=None, watch=("dog",)),
    "lesson": given(name="attention"),
    "load": given(what="bert", step=None, native=None, device="cpu", precision="auto"),
    "places": given(scheme="rope", count=4, dim=8, heads=2, causal=False, seed=0),
    "prompt": about("gpt2", **HELD, template="{text} She was {label}.", shots=SHOTS, separator=" ", calibrate=True),
    "result": given(name="scale", part="record"),
    "save": lambda: dict(shown=drawn(), path=f"{scratch()}/turns.csv", mode="light", caption="x"),
    "show": lambda: dict(view="place-turns", record=ex.places("rope"), mode="light"),
    "shuffle": of_model(seed=0),
    "strategies": given(kind="decoding"),
    "tokenizer": given(kind="bpe", texts=[TEXT] * 3, size=60, by="count", specials=None, sentinels=0, whole=0),
    "trace": of_model(target=None, layers=[0], edits=(), blocks=True, scores=None),
    "visibility": of_model(target=None, seed=0),
    "analysis.abilities": about("bert", text=TEXT, objective=None),
    "analysis.align": lambda: dict(first=traced(), second=traced(), texts=(TEXT, TEXT)),
    "analysis.analogy": about("word2vec", a="he", b="she", c="king", top=3, forbid=True),
    "analysis.back_off": lambda: dict(model=counted(), text=TEXT, top=3),
    "analysis.both_sides": of_model("elmo", top=3),
    "analysis.context_shift": of_model("gpt2", span=(2, 5), others=["A dog ran. It was tired."]),
    "analysis.reach": lambda: dict(models=[model("elmo"), model("gpt2")], texts=[TEXT, TWO], far=2),
    "analysis.cka": lambda: dict(first=model("bert"), second=model("gpt2"), texts=[TEXT, TWO], seed=0),
    "analysis.contexts": lambda: dict(model=model("elmo"), word="bank", uses=ex.microworld.uses("bank", 2, among=200)),
    "analysis.count_ratios": lambda: dict(model=model("word2vec"), a="he", b="she", stories=read(), many=3),
    "analysis.edit_corpus": given(before=["Ice is cold.", "Steam is hot."], now=["Ice is cold.", "Steam is gas."],
        a="ice", b="steam", watch=""),
    "analysis.elmo_visibility": of_model("elmo", seed=0),
    "analysis.exposure_bias": lambda: dict(model=model("gpt2"), texts=ex.microworld.texts(8, 1), sources=None, at=8, steps=3, count=2),
    "analysis.generator": about("bert", seed=0),
    "analysis.glove_row": lambda: dict(model=model("glove"), word="he", near="his", stories=read(), scale=2.0),
    "analysis.guess_spans": lambda: dict(model=model("spanbert"), corruption=hidden("spanbert", "spanbert"), top=3),
    "analysis.head_writes": of_model("gpt2", layer=1, head=0, position=1, stream=None, target=None, count=3),
    "analysis.held_losses": lambda: dict(model=model("gpt2"), texts=ex.microworld.texts(20, 1), pieces=16, count=4),
    "analysis.highway_gates": about("elmo", word="dogs"),
    "analysis.information_flow": of_model("gpt2", target=None, stream=None),
    "analysis.letter_filters": about("elmo", word="dogs", many=3),
    "analysis.known_words": about("bert", text=TEXT),
    "analysis.plain_scores": about("gpt2"),
    "analysis.text_losses": about("gpt2", texts=(TEXT,)),
    "analysis.text_follows": about("bert", first="A dog ran.", second="It slept."),
    "analysis.losses_without_activation": about("gpt2", texts=(TEXT,)),
    "analysis.minimal_scores": about("bert", phenomenon="agreement", count=4, seed=3, split="test", inside=False),
    "analysis.neighbours": about("word2vec", word="king", top=3),
    "analysis.over_steps": lambda: dict(models={1: model("bert"), 2: model("bert")}, text=TEXT, target=None),
    "analysis.pair_update": about("word2vec", word="dog", near="ran", others=["blue"]),
    "analysis.patch_sweep": about("gpt2", clean="A dog ran. It", changed="A cat ran. It", target=None, stream=None,
        row=None, answers=("·was", "·had")),
    "analysis.noun_preference": about("gpt2", texts=REASONS, nouns=("animal", "street"), pronoun="it"),
    "analysis.plane": about("word2vec", pairs=[("he", "she"), ("king", "queen")], relation="x"),
    "analysis.prompt_orders": about("gpt2", **HELD, shots=SHOTS, template="{text} {label}", separator=" ", calibrate=False),
    "analysis.prompt_templates": about("gpt2", **HELD, shots=(), templates=["{text} {label}"], separator=" ", calibrate=False),
    "analysis.projections_over_steps": lambda: dict(models={1: model("bert-tiny"), 2: model("bert-tiny")}),
    "analysis.pronoun_heads": about("bert", texts=REASONS, nouns=("animal", "street"), pronoun="it"),
    "analysis.pronoun_translation": about("transformer", text=REASONS[0], other=REASONS[1]),
    "analysis.differing_words": given(texts=REASONS),
    "analysis.saturation": given(keys=4, draws=20, seed=0),
    "analysis.skipgram_network": about("word2vec", word="dog", near="ran", top=3),
    "analysis.skipgrams": lambda: dict(model=model("word2vec"), text=TEXT, counted=read(), seed=0),
    "analysis.steered": of_model("gpt2", between=("A dog ran", "A dog slept"), layer=0, factors=(1.0,), max_tokens=3),
    "analysis.similar_uses": of_model(word="dog", texts=[TWO], layer=None, top=3),
    "analysis.smoothed_targets": of_model("gpt2", target=None),
    "analysis.solve_analogies": about("word2vec"),
    "analysis.span_of": given(word="DOG", text=TEXT),
    "analysis.span_table": lambda: dict(model=tuned("questions"), text=("Who ran?", "The dog ran.")),
    "analysis.teacher_and_student": lambda: dict(teacher=model("bert-tiny"), student=model("bert-told"),
        corruption=hidden("mlm", "bert-tiny"), top=3),
    "analysis.two_uses": about("word2vec", word="dog", texts=("A dog ran.", "The dog slept.")),
    "analysis.unit_writes": about("gpt2", layer=1, unit=5, stream=None, count=3),
    "analysis.unit_firings": about("gpt2", texts=[TEXT, TWO], layer=1, unit=5, stream=None, top=3),
    "analysis.visibility_map": of_model("gpt2", span=(2, 5)),
    "analysis.token_update": of_model("gpt2", target=None, position=None, layer=None),
    "analysis.word_states": about("bert", texts=[TEXT, TWO]),
    "analysis.word_prediction": of_model(span=(2, 5), top=3),
    "corruption.gap_sentences": of_tokenizer(rate=0.3),
    "corruption.rates": of_tokenizer(draws=5, seed=0),
    "corruption.span_lengths": of_tokenizer(strategy="spanbert", draws=5, seed=0),
    "decoding.contest": lambda: dict(model=model("gpt2"), texts=ex.microworld.texts(2, 5), begin=4, tokens=4, beams=(2,)),
    "decoding.distribution": of_model("gpt2", prefix=None),
    "decoding.trap": lambda: dict(model=model("gpt2"), record=beams(), tokens=4),
    "decoding.trapped": lambda: dict(record=beams()),
    "decoding.watch": of_model("gpt2", strategy="contrastive", top_k=4, alpha=0.6, prefix=None, max_tokens=3),
    "decoding.score_texts": given(texts=[TEXT, TWO], references=[TWO, TEXT]),
    "decoding.written": of_model("gpt2", label="mine", **SAMPLING),
    "microworld.openings": number(split="train", sentences=3, version="1.0"),
    "microworld.sentences_in": number(language="french", split="train"),
    "microworld.uses": number(word="bank", split="validation", among=100, version="1.0"),
    "text.corpus": lambda: dict(source=text_file(), tokenizer=model("bert").tokenizer, folder=scratch() + "/ready"),
    "text.counted_examples": lambda: dict(texts=[TEXT, TWO], tokenizer=model("word2vec").tokenizer),
    "text.fertility": lambda: dict(tokenizers={"bert": model("bert").tokenizer}),
    "text.first_tokens": lambda: dict(stories=[["A dog ran.", "It was red."]], tokenizer=model("bert").tokenizer, count=6),
    "text.matches": given(word="dogs", vocabulary=["dog", "##s"], prefix="##", unknown="[UNK]", longest=100),
    "text.replay": given(word="abc", merges=[("a", "b")], letters=None),
    "text.segments": of_tokenizer(longest=10),
    "text.side_by_side": lambda: dict(text=TEXT, tokenizers={"bert": model("bert").tokenizer}, pair=None, special=False),
    "text.toy_stories": number(),
    "text.with_sentinels": lambda: dict(tokenizer=model("bert").tokenizer, count=5),
    "text.word_counts": given(kind="wordpiece", texts=[TEXT, TWO]),
    "text.word_labels": of_tokenizer(train=ex.text.classroom.toys(20)[:15], test=ex.text.classroom.toys(20)[15:]),
    "training.ScalarMix": given(layers=3, norm=False),
    "training.Siamese": lambda: dict(model=model("bert"), pairs=ex.training.graded(16, 0), seed=0, steps=1, batch=4),
    "training.along": lambda: dict(model=model("gpt2"), texts=ex.training.fresh("toy", 4), plan=None, seed=0, snapshots=None, places=3),
    "training.answers": lambda: dict(model=tuned(), task="", split="test", examples=12),
    "training.before_after": lambda: dict(before=model("bert"), after=tuned(), text="Anna was happy.", probes=None, examples=24),
    "training.budget": lambda: dict(model=model("gpt2"), plan={"steps": 100, "batch": 8}, texts=ex.training.fresh("toy", 4),
        steps=None),
    "training.compare_runs": lambda: dict(runs={name: ex.models()[name].folder for name in ("bert", "gpt2")}),
    "training.compare_ways": about("bert", ways=["frozen"], lm_weight=0.0, **TUNING),
    "training.finetuned_model": about("bert", checks=0, snapshots=0, **TUNING),
    "training.fresh": given(corpus="toy", count=4, split="train"),
    "training.graded": number(split="train"),
    "training.likeness": lambda: dict(texts=[TEXT, TWO], models=[("[CLS]", model("bert"))]),
    "training.lr_schedules": given(chosen="cosine", steps=100, warm=0.05, now=7, places=11),
    "training.lr_share": given(name="constant", step=50, steps=100, warm=0.05),
    "training.probe_layers": about("bert", task="new words: kind", examples=16, asked=16, seed=0),
    "training.snapshots": given(what="bert"),
    "training.steps_of": lambda: dict(folder=ex.models()["bert"].folder),
    "training.task_inputs": about("gpt2", tasks=["entailment"]),
}  # fmt: skip
# Public names that are no functions to call with arguments of one's own, and why.
LEFT_OUT = {
    "ExplorerError": "the error itself",
    "Trace": "a record that `trace` makes",
    **{room: "a room" for room in ("analysis", "corruption", "decoding", "microworld", "text", "training", "views")},
    "analysis.costs": "a table of formulas",
    "text.classroom": "texts that are made from nothing",
}
EDITS = {name for name in CALLS if inspect.isclass(getattr(ex, name.split(".")[0], None)) and "." not in name}


@cache
def usual(name: str) -> dict[str, Any]:
    return CALLS[name]()


def public(name: str) -> Any:
    """A public function by its name, with the rooms before it."""
    return attrgetter(name)(ex)


def ask(name: str, given: Mapping[str, Any]) -> Any:
    """Call a public function (an edit: trace with it); of what it does step by step, the first steps."""
    result = public(name)(**given)
    if name in EDITS:
        result = ex.trace(model("bert"), TEXT, edits=[result])
    steps = isinstance(result, Iterator) or isinstance(result, Iterable) and hasattr(result, "stop")
    return list(islice(iter(result), STEPS)) if steps else result


SIGNS = [
    "", " ", "\0", "a\0b", "\ud800", "the \udfff dog", "e\u0301\u0301\u0301", "\u202edog\u202c", "\u2066\u2067\u200b", "🏳️‍🌈 👩‍👩‍👧",
    "\ufffe\uffff", "[MASK] [SEP] [CLS]", "<s></s><pad><|endoftext|>", "=cmd()", "<script>alert(1)</script>", "{text}{0}{", "{label}",
    "%s%n", "../x/y", "./nothing", "hub:", "a\nb\r\nc\t", "\x1b[31m", "x'); import os", "ﷺ", "İ", "ß", "字", "١٢", "-1", "nan",
    "...", "___",
]  # fmt: skip
VERY_LONG = ["x" * LONG, "字" * LONG, "a dog ran. " * (LONG // 11), "\u0301" * LONG, "\ud800" * LONG, "." * LONG]
NUMBERS: list[Any] = [
    -1, 0, 1, 2, 3, 1.5, 0.5, -0.5, float("nan"), float("inf"), float("-inf"), 2**31, 2**63 - 1, 2**63, 10**20, -(2**70), 1e308, True,
    False, np.int64(3), np.float32(0.5), 10**9, np.array(3), 1 + 2j,
]  # fmt: skip
TYPES: list[Any] = [
    None, [], {}, (), set(), b"x", object(), len, "3", ["a"], [1], [[1]], {"a": 1}, {1: "a"}, (1, "b"), np.zeros((2, 2)), [None],
    np.array(["a"]), [""], ["\ud800"], ("a", "b"), [-1], [10**20], [1.5], Path("nothing"), float, {"a": {"a": {}}}, [[]], ["a", "a"],
    np.timedelta64(3, "D"), np.datetime64("2020-01-01"), deque(["a", "b"]), np.array([None, 1], dtype=object), torch.ones(2),
    Decimal("sNaN"), range(4), np.zeros(3, dtype=[("a", int)]), torch.tensor([1 + 1j]), Fraction(10**400),
]  # fmt: skip


def others() -> list[Any]:
    """What is right elsewhere: other kinds of models, their tokenizers, records."""
    opened = [model(name) for name in ("bert", "gpt2", "t5", "word2vec", "elmo", "electra")]
    bert = model("bert")
    return [*opened, counted(), tuned(), bert.tokenizer, model("gpt2").tokenizer, traced(), hidden(), bert.module]


LETTERS = st.text(st.characters(exclude_categories=()), max_size=40)
SCALARS = st.one_of(st.sampled_from(NUMBERS), st.integers(), st.floats(), st.sampled_from(TYPES))
ELSEWHERE = st.deferred(lambda: st.sampled_from(others()))
ANY = st.one_of(st.sampled_from(SIGNS), LETTERS, SCALARS, ELSEWHERE, st.sampled_from(VERY_LONG))


@st.composite
def spoiled(draw: Callable[[Any], Any], name: str) -> dict[str, Any]:
    """The arguments of a call, one or two of them replaced or exchanged."""
    given, names = dict(usual(name)), sorted(usual(name))
    if not names:
        return given
    for part in draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)):
        swaps = st.sampled_from(names).map(lambda other: usual(name)[other])
        given[part] = draw(st.one_of(like(given[part]), like(given[part]), like(given[part]), ANY, swaps))
    return given


def twins(value: Any) -> Iterator[Any]:
    """The same value in every other kind in which somebody may hold it: a number of an array, a fraction, a tuple for a list."""
    if isinstance(value, bool):
        yield np.bool_(value)
    elif isinstance(value, int):
        yield from (np.int64(value), np.array(value), *([np.uint8(value)] if 0 <= value < 256 else ()))
    elif isinstance(value, float):
        yield from (np.float64(value), Fraction(value), *([np.float32(value)] if float(np.float32(value)) == value else ()))
    elif isinstance(value, (list, tuple)) and value and all(type(part) is int for part in value):
        yield from (type(value)(map(np.int64, value)), type(value)(map(np.uint8, value)))
    elif isinstance(value, list) and value and all(type(part) is str for part in value):
        yield from (tuple(value), deque(value), [np.str_(part) for part in value])
    elif isinstance(value, dict) and value and all(type(part) is int for part in value):
        yield {np.int64(part): inner for part, inner in value.items()}


def with_twins(name: str) -> Iterator[dict[str, Any]]:
    """The usual arguments of a function, with one of them exchanged for each of its twins."""
    for part, value in usual(name).items():
        yield from ({**usual(name), part: twin} for twin in twins(value))


def plainly(result: Any) -> Any:
    """What can be compared of a result: not how long it took."""
    if isinstance(result, Record):
        return {field.name: plainly(getattr(result, field.name)) for field in fields(result) if field.name not in TIMED}
    if isinstance(result, (list, tuple)):
        return tuple(map(plainly, result))
    return (
        result.to_json() if isinstance(result, BaseFigure) else result if isinstance(result, PLAIN) else type(result).__name__
    )


TIMED = ("seconds", "speed", "texts_per_second")
PLAIN = (str, int, float, Mapping, np.ndarray, type(None))


def like(value: Any) -> st.SearchStrategy[Any]:
    """Hostile values of the same kind: a text for a text, a list of texts for such a list, a number for a number."""
    text = st.one_of(st.sampled_from(SIGNS), LETTERS, st.sampled_from(VERY_LONG))
    if isinstance(value, str):
        return text
    if isinstance(value, Sequence) and {type(part) for part in value} == {str}:
        return st.lists(text, max_size=3).map(type(value))
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, int):
        return st.one_of(st.sampled_from([n for n in NUMBERS if isinstance(n, int)]), st.integers(-3, 40))
    if isinstance(value, float):
        return st.one_of(st.sampled_from(NUMBERS), st.floats(-0.1, 1.1), st.floats())
    return ANY


def check(result: Any) -> None:
    """What holds of every result: a record is written and read back alike, and its probabilities are some."""
    if isinstance(result, Record):
        repr(result)
        if isinstance(result, ex.Trace):
            for layer in result.attention:
                assert np.isfinite(layer.weights).all() and np.allclose(layer.weights.sum(-1), 1, atol=1e-4)
            assert not result.attention or result.residual < 1e-3 or result.edits
