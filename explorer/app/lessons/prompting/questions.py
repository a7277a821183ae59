"""Prompting: the ◇ questions, exercises on the numbers of one prompt, what the lectures report, and notes on the slides."""

from __future__ import annotations

import math
from collections.abc import Mapping

from explorer.analysis.prompting import few_above_zero
from explorer.models.model import Model
from explorer.records import Curves, Exercise, Prompted, PromptScores
from explorer.records.exercise import added

TEXT = "Rose lost against Sam, because he was so strong."
TEMPLATE = "{text} She was so {label}."
TEMPLATES = (
    TEMPLATE,
    "{text} In the end she felt {label}.",
    "{text} In the end she was {label}.",
    "{text} The mood: {label}.",
    "{text} That day nobody was as {label}",
)
WORDS = "glad: happy, sad: sad"
SHOTS = (
    ("Tom won the race, and everybody clapped.", "glad"),
    ("A thief took the purse of Nora.", "sad"),
    ("Anna found her lost dog.", "glad"),
    ("Paul fell into the river and lost his hat.", "sad"),
)
SYMBOLS = (
    "The answer $\\hat y$ is the label $y$ whose word $v(y)$ is the most probable after the prompt $x$; $\\theta$ (theta) are the "
    "weights of the model. Calibration divides the probabilities $p$ of the words by $p_{cf}$, those after a text that says nothing, and "
    "makes them sum to 1 again: $q$; $W$ is this division as a diagonal matrix."
)
NOTATION = (
    "$x$ is the prompt: solved examples, the text and the template. $v(y)$ is the *verbaliser* of label $y$, a word such as *happy*. "
    "$p$ holds the probabilities of the labels, $p_{cf}$ those after a content-free text. No weight $\\theta$ is changed."
)
DECK = (
    ("L2, Is this a step back?", "generation without instruction tuning is *only useful for … autocomplete*",
     "GPT-3 solved tasks by few-shot prompts without any instruction tuning"),
    ("L2, GPT-X", "0.5 trillion tokens of pre-training data", "about 0.5 trillion were collected; GPT-3 was trained on 300 billion"),
    ("L2, How much data is a trillion tokens?", "15,000,000 books", "67 thousand tokens a book; the 7,000 books of BooksCorpus have 114 "
     "thousand words each"),
    ("L2, Open vs. closed", "Llama is *open-source*", "its weights are open; OLMo also opens data, code and checkpoints"),
    ("L1, GPT-3 and beyond", "reinforcement learning *with* human feedback", "*from* human feedback: people rank answers, a reward model "
     "learns the ranking, and the language model is trained on its reward"),
    ("L1, GPT-2", "*moved away from classification, only generation*", "the paper's claim is tasks without training: zero-shot"),
)  # fmt: skip
FACTS = (
    (
        "GPT-3, 175 B weights: TriviaQA, right answers",
        "zero-shot 64.3 %, one-shot 68.0 %, few-shot 71.2 %",
        "Brown et al., 2020, table 3.3",
    ),
    (
        "GPT-3: StoryCloze, right endings",
        "zero-shot 83.2 %, few-shot 87.7 % (70 examples); fine-tuned BERT was 4.1 points better",
        "Brown et al., 2020, section 3.1.4",
    ),
    ("Contextual calibration of GPT-3 and GPT-2", "up to 30 points more", "Zhao et al., 2021"),
    (
        "Instruction tuning and RLHF",
        "answers of a 1.3 B model were preferred to those of the 175 B GPT-3",
        "Ouyang et al., 2022",
    ),
    ("LLaMA 3", "about 15 trillion tokens of pre-training data", "L2"),
    ("OLMo (open)", "3 trillion tokens of data, code, weights of four 7 B models, 500+ checkpoints", "L2"),
    ("GPT-4 (closed)", "an API; neither weights nor details of the data", "L2"),
)
PAPERS = (("ACL 2022", 22), ("EMNLP 2022", 41), ("ACL 2023", 36), ("EMNLP 2023", 44), ("ACL 2024", 38), ("EMNLP 2024", 55))
GPT3 = 175e9  # weights


def words_of(written: str) -> dict[str, str]:
    """Labels and their verbalisers as a visitor writes them: "glad: happy, sad: sad"; a word alone is its own label."""
    pairs = [part.partition(":") for part in written.split(",") if part.strip()]
    return {label.strip(): (word.strip() if colon else label.strip()) for label, colon, word in pairs}


def template_question(record: PromptScores) -> Exercise:
    """What a few other words in the template do."""
    accuracy = record.accuracy[:, 0]
    first, last = 0, int(abs(accuracy - record.blind).argmin())
    options = ("hardly anything: within 5 points", "it answers clearly worse", "it answers clearly better")
    change = accuracy[last] - accuracy[first]
    answer = options[0] if abs(change) <= 0.05 else options[1] if change < 0 else options[2]
    lean = ", ".join(f"*{label}* {share:.0%}" for label, share in zip(record.labels, record.share[last], strict=True))
    why = (
        f"{accuracy[first]:.0%} became {accuracy[last]:.0%}, where always giving one label gets {record.blind:.0%}. With the second "
        f"template it answers {lean}."
    )
    asked = (
        f"A frozen {record.model} reads a story without its last sentence, and we compare P(*happy*) with P(*sad*) after it. We replace "
        f"the template *{_shown(record.forms[first])}* by *{_shown(record.forms[last])}* What happens?"
    )
    return Exercise(asked, answer, why, options)


def _shown(template: str) -> str:
    """A template as a reader sees it, with gaps."""
    return template.replace("{text} ", "").replace("{label}", "___")


def play_question(record: Prompted) -> Exercise:
    """Which verbaliser is more probable after this prompt."""
    best = int(record.logp[0].argmax())
    shares = ", ".join(f"*{word}* {share:.0%}" for word, share in zip(record.words, record.probabilities[0], strict=True))
    asked = f"{record.model} reads the prompt above. Which word does it find most probable next?"
    return Exercise(asked, record.words[best], f"Among these words: {shares}.", record.words)


def shots_question(measured: Mapping[str, Curves], model: str) -> Exercise:
    """On how many tasks solved examples help, beyond the intervals."""
    above = {name: _where(curves, model) for name, curves in measured.items()}
    helped = [name for name, where in above.items() if where not in ("", "nowhere")]
    count = sum(bool(where) for where in above.values())
    options = ("on none", "on some", "on all")
    answer = options[0] if not helped else options[2] if len(helped) == count else options[1]
    asked = (
        f"We put 1, 2, 4 or 6 solved examples before the text. On how many of {count} tasks does {model} then answer better than without "
        "any, by more than chance (95 % intervals apart)?"
    )
    other = {
        name: few_above_zero(curves).get(f"{model}, prompted and calibrated", "nowhere") for name, curves in measured.items()
    }
    after = ", ".join(f"{name} (with {where})" for name, where in other.items() if where != "nowhere")
    why = (
        f"They help on: {', '.join(helped) or 'no task'}; once calibrated on: {after or 'no task'}. A model this small continues "
        "stories; it hardly ever read a question."
    )
    return Exercise(asked, answer, why, options)


def _where(curves: Curves, model: str) -> str:
    """At how many shots a model is above its zero-shot; empty where it was not measured."""
    found = few_above_zero(curves)
    return next((where for label, where in found.items() if label.startswith(f"{model} (")), "")


def order_question(record: PromptScores) -> Exercise:
    """How far apart the best and the worst order are."""
    low, high = record.accuracy[:, 0].min(), record.accuracy[:, 0].max()
    shots = len(record.forms[0].split())
    options = ("under 5 points", "5 to 15 points", "over 15 points")
    gap = 100 * (high - low)
    answer = options[0] if gap < 5 else options[1] if gap <= 15 else options[2]
    why = f"The worst order gets {low:.0%}, the best {high:.0%}. Nothing else differs."
    asked = f"The same {shots} solved examples in each of {len(record.forms)} orders. How far apart are the best and the worst order?"
    return Exercise(asked, answer, why, options)


def larger(model: Model) -> int:
    """How many times as many weights GPT-3 has, to two digits."""
    times = GPT3 / sum(weight.numel() for weight in model.module.parameters())
    return int(float(f"{times:.2g}"))


def papers() -> str:
    """Papers with Prompt in their title, as a table with bars."""
    rows = [f"| {where} | {'▇' * round(count / 4)} {count} |" for where, count in PAPERS]
    return "\n".join(("| main conference | papers with “Prompt” in the title (L2) |", "|---|---|", *rows))


def facts() -> str:
    """What nobody can train here, with its source."""
    rows = [f"| {what} | {said} | {source} |" for what, said, source in FACTS]
    return "\n".join(("| what | reported | by |", "|---|---|---|", *rows))


def exercises(record: Prompted, orders: PromptScores | None = None) -> tuple[Exercise, ...]:
    """Questions about one prompt, and about all orders of some shots; every answer is read from its record."""
    a, b = (float(value) for value in record.logp[0, :2])
    made = [
        Exercise(
            f"log P(*{record.words[0]}*) = {a:.2f} and log P(*{record.words[1]}*) = {b:.2f} after this prompt. How many times as probable "
            "is the first word as the second?",
            math.exp(a - b), f"exp({a:.2f} {added(-b, 2)}): e to the difference of the two.",
        ),
        Exercise(
            "How many orders are there of 4 solved examples?", float(math.factorial(4)), "4 · 3 · 2 · 1.", digits=0,
        ),
        Exercise(
            "How many weights does a prompt with 4 solved examples change?", 0.0, "None: the examples are only read.", digits=0,
        ),
    ]  # fmt: skip
    if len(record.free):
        p, prior = record.probabilities[0], record.prior
        made.append(
            Exercise(
                f"P(*{record.labels[0]}*) = {p[0]:.3f} after the text and {prior[0]:.3f} after a text that says nothing; "
                f"P(*{record.labels[1]}*) = "
                f"{p[1]:.3f} and {prior[1]:.3f}. What is the calibrated probability of *{record.labels[0]}*?",
                float(record.calibrated[0, 0]), f"({p[0]:.3f} / {prior[0]:.3f}) / ({p[0]:.3f} / {prior[0]:.3f} + "
                f"{p[1]:.3f} / {prior[1]:.3f}): each is divided by its prior, then both by their sum.",
            )
        )  # fmt: skip
    return (*made, order_question(orders)) if orders is not None else tuple(made)
