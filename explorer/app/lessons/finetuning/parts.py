"""The records of the fine-tuning lesson, as calls that the page runs and prints, and the runs that a visitor starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import hosted
from explorer.app.brought import offered_models
from explorer.app.cached import KEPT, kept
from explorer.app.call import Call
from explorer.app.controls import key_of, model_of, one_of, opened, result_of
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.finetuning.questions import CRF, CRF_NOTE, TAGGED, WAY_NOTES
from explorer.app.prose import prose
from explorer.errors import ExplorerError
from explorer.microworld import texts
from explorer.models.suited import learns_tasks
from explorer.models.task_rows import task_row
from explorer.nn.output_layers import OutputLayer, output_layer
from explorer.records import Corruption
from explorer.training.finetune import TASKS as TASKS_BY_NAME
from explorer.training.finetune import bodies
from explorer.training.finetune.ways import compare_ways, finetuned_model

READERS = ("bert", "gpt2", "gpt", "roberta", "electra", "deberta", "llama")
FIRST = "new words: kind"  # texts of a few tokens, so that a way takes seconds; its test names no labelled word
TASKS = (FIRST, "new words: feeling", "new words: gender", "sentiment", "topic", "acceptability", "entailment", "entities")
USUAL = ("full", "frozen", "scratch")
PROBED = 60  # labelled texts from which a probe of each layer learns
ASKED = 120  # new texts whose answers are counted
MASKED, SEED = 24, 5  # texts that are hidden and counted
CHANGED = ("before-after", "states-moved")  # views of what fine-tuning changed


def shelf() -> list[str]:
    """The models on the shelf that may be fine-tuned here."""
    mine = (name for name, stored in offered_models().items() if not stored.shipped and learns_tasks(stored))
    return [*dict.fromkeys([*READERS, *mine])]


def inputs(name: str) -> Call:
    """What this model reads for each task."""
    return Call(ex.training.task_inputs, model_of(name))


def output_of(name: str) -> OutputLayer:
    """The output layer that fine-tuning puts on this model for three classes, as it begins."""
    labels = ("entailment", "neutral", "contradiction")
    return output_layer(bodies.output_of(opened(name), TASKS_BY_NAME["entailment"], labels), 0)


def ways(name: str, task: str, how: tuple[str, ...], options: dict[str, Any]) -> Call:
    """The call that fine-tunes a model in several ways."""
    named = {way: {"how": "full", "head": "crf"} if way == CRF else {"how": way} for way in how}
    chosen = named if CRF in how else list(how)
    return Call(ex.training.compare_ways, model_of(name), task=task, ways=chosen, device="cpu", **options)


def chosen_ways(task: str) -> tuple[str, ...]:
    """The ways that the visitor chose; tags in a row may also be learned together."""
    offered, key = [*WAY_NOTES, *([CRF] if task == TAGGED else [])], f"ways.{'tagged' if task == TAGGED else 'tuned'}"
    first = ("full", CRF) if task == TAGGED else USUAL
    if task == TAGGED:
        say(prose("finetuning")("tags"))
    return tuple(st.pills("Methods", offered, selection_mode="multi", default=first, key=key, bind="query-params"))


def tuned(name: str, task: str, examples: int, steps: int) -> Call:
    """The call that fine-tunes a model and hands it over."""
    return Call(ex.training.finetuned_model, model_of(name), task=task, examples=examples, steps=steps, device="cpu")


def known(call: Call) -> bool:
    """Whether this was trained already, for this or another visitor."""
    return key_of(call) in KEPT


def trained(call: Call, doing: str) -> Any:
    """What a call that trains makes, kept for every visitor; while it trains there is a bar."""
    runs: dict[str, Callable[..., Any]] = {"training.compare_ways": compare_ways, "training.finetuned_model": finetuned_model}
    bar = st.progress(0.0, doing)

    def train() -> Any:
        given = [result_of(argument) for argument in call.given]
        return runs[str(call.name)](
            *given, **call.options, progress=lambda share, note: bar.progress(min(1.0, share), f"{doing}: {note}")
        )

    try:
        with hosted.turn():
            return kept(key_of(call), train)
    except ExplorerError as error:
        st.warning(plain(str(error)))
        st.stop()
    finally:
        bar.empty()


def hidden() -> tuple[tuple[Corruption, ...], int, int]:
    """Some texts as BERT reads them in pre-training; and how many [MASK], and tokens, the same texts have as fine-tuning reads them."""
    tokenizer, stories = result_of(model_of("bert").attr("tokenizer")), texts(MASKED, SEED)
    before = tuple(
        result_of(Call(ex.corrupt, text, "mlm", tokenizer=model_of("bert").attr("tokenizer"), seed=n))
        for n, text in enumerate(stories)
    )
    rows = [task_row(tokenizer, text) for text in stories]
    return before, sum(int((row.ids == tokenizer.vocabulary.mask).sum()) for row in rows), sum(map(len, rows))


def notes(how: tuple[str, ...]) -> str:
    """What each way moves, in a line."""
    known = WAY_NOTES | {CRF: CRF_NOTE}
    return "; ".join(f"*{way}*: {known[way]}" for way in how if way in known)


def answers(feel: Call) -> Call:
    """What a model that has learned sentiment says about new texts."""
    return Call(ex.training.answers, feel, task="sentiment", examples=ASKED)


def changes(feel: Call, text: str) -> Call:
    """What fine-tuning changed inside the model for one sentence."""
    return Call(ex.training.before_after, model_of("bert"), feel, text)


def probed(feel: Call, text: str) -> Call:
    """What a linear classifier reads off every layer, before and after fine-tuning."""
    return Call(ex.training.before_after, model_of("bert"), feel, text, probes="sentiment", examples=PROBED)


def spans(ask: Call, question: str, story: str) -> Call:
    """The call that scores every span of a text as the answer."""
    return Call(ex.analysis.span_table, ask, (question, story))


def wanted(causal: bool) -> tuple[str, dict[str, Any]]:
    """The task, and how it is learned, as the visitor chose; a causal model may go on predicting the next token."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = one_of("Task", TASKS, "task.tuned", FIRST)
        examples = st.select_slider(
            "Labelled texts", (25, 50, 100, 200), 50, key="labelled.tuned", bind="query-params", width=200
        )
        steps = st.select_slider("Steps", (20, 40, 80, 160), 40, key="steps.tuned", bind="query-params", width=180)
        seed = int(st.number_input("Seed", 0, 99, 0, key="seed.tuned", bind="query-params", width=160))
        options: dict[str, Any] = {"examples": examples, "steps": steps, "seed": seed}
        if causal:
            weight = st.select_slider("λ", (0.0, 0.25, 0.5, 1.0), 0.0, key="lambda.tuned", bind="query-params", width=150)
            options |= {"lm_weight": weight} if weight else {}
    st.caption(
        "The tasks called *new words* test words that occur in no labelled text: only pre-training can have taught them."
    )
    return task, options
