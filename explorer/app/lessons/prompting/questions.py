"""Prompting: the ◇ questions, exercises on the numbers of one prompt, what the lectures report, and notes on the slides."""

from __future__ import annotations

import math
from collections.abc import Mapping

from explorer.analysis.prompting import few_above_zero
from explorer.app.prose import prose
from explorer.models.model import Model
from explorer.records import Curves, Exercise, Prompted, PromptScores
from explorer.records.exercise import added

PROSE = prose("prompting")

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
FACTS = (
    (
        "GPT-3, 175 B weights: TriviaQA, right answers",
        "zero-shot 64.3%, one-shot 68.0%, few-shot 71.2%",
        "Brown et al., 2020, table 3.3",
    ),
    (
        "GPT-3: StoryCloze, right endings",
        "zero-shot 83.2%, few-shot 87.7% (70 examples); fine-tuned BERT was 4.1 points better",
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
    change = accuracy[last] - accuracy[first]
    answer = 0 if abs(change) <= 0.05 else 1 if change < 0 else 2
    lean = ", ".join(f"*{label}* {share:.0%}" for label, share in zip(record.labels, record.share[last], strict=True))
    return PROSE.question(
        "template question",
        answer,
        record=record,
        first_template=shown(record.forms[first]),
        second_template=shown(record.forms[last]),
        first_accuracy=accuracy[first],
        second_accuracy=accuracy[last],
        lean=lean,
    )


def shown(template: str) -> str:
    """A template as a reader sees it, with gaps."""
    return template.replace("{text} ", "").replace("{label}", "___")


def meant(written: str) -> str:
    """The template that a visitor means who writes it as it is shown: the shortest one offered that begins so, or a new one.

    >>> meant("in the end"), meant("The day was ___."), meant("{text} So {label}")
    ('{text} In the end she was {label}.', '{text} The day was {label}.', '{text} So {label}')
    """
    if "{" in written or not written.strip():
        return written
    offered = [one for one in TEMPLATES if shown(one).casefold().startswith(written.strip().casefold())]
    own = "{text} " + written.replace("___", "{label}") if "___" in written else written
    return min(offered, key=len, default=own)


def play_question(record: Prompted) -> Exercise:
    """Which verbaliser is more probable after this prompt."""
    best = int(record.logp[0].argmax())
    shares = ", ".join(f"*{word}* {share:.0%}" for word, share in zip(record.words, record.probabilities[0], strict=True))
    return PROSE.question(
        "play question", record.words[best], options=record.words, record=record, shares=shares, called="most probable"
    )


def shots_question(measured: Mapping[str, Curves], model: str) -> Exercise:
    """On how many tasks solved examples help, beyond the intervals."""
    above = {name: _where(curves, model) for name, curves in measured.items()}
    helped = [name for name, where in above.items() if where not in ("", "nowhere")]
    count = sum(bool(where) for where in above.values())
    answer = 0 if not helped else 2 if len(helped) == count else 1
    other = {
        name: few_above_zero(curves).get(f"{model}, prompted and calibrated", "nowhere") for name, curves in measured.items()
    }
    after = ", ".join(f"{name} (with {where})" for name, where in other.items() if where != "nowhere")
    return PROSE.question(
        "shots question", answer, count=count, model=model, helped=", ".join(helped) or "no task", calibrated=after or "no task"
    )


def _where(curves: Curves, model: str) -> str:
    """At how many shots a model is above its zero-shot; empty where it was not measured."""
    above = few_above_zero(curves)
    return next((where for label, where in above.items() if label.startswith(f"{model} (")), "")


AROUND_CHANCE = (
    " No order is better than always giving the most frequent label ({chance:.0%}, ± {around:.0%} by chance over {texts} texts): "
    "this model cannot do the task, so the gap says little about orders."
)


def order_question(record: PromptScores) -> Exercise:
    """How far apart the best and the worst order are."""
    low, high = record.accuracy[:, 0].min(), record.accuracy[:, 0].max()
    shots = len(record.forms[0].split())
    gap = 100 * (high - low)
    answer = 0 if gap < 5 else 1 if gap <= 15 else 2
    texts, chance = record.right.shape[-1], record.blind
    around = 1.96 * math.sqrt(chance * (1 - chance) / texts)
    noise = record.accuracy[:, 0].max() <= chance + around
    note = AROUND_CHANCE.format(chance=chance, around=around, texts=texts) if noise else ""
    return PROSE.question("order question", answer, shots=shots, orders=len(record.forms), low=low, high=high, note=note)


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
    rows = [f"| {what} | {figure} | {source} |" for what, figure, source in FACTS]
    return "\n".join(("| what | reported | by |", "|---|---|---|", *rows))


def exercises(record: Prompted, orders: PromptScores | None = None) -> tuple[Exercise, ...]:
    """Questions about one prompt, and about all orders of some shots; every answer is read from its record."""
    a, b = (float(value) for value in record.logp[0, :2])
    questions = [
        PROSE.question("exercise: two words", math.exp(a - b), record=record, a=a, b=b, minus_b=added(-b, 2)),
        PROSE.question("exercise: orders", float(math.factorial(4)), digits=0),
        PROSE.question("exercise: weights changed", 0.0, digits=0),
    ]
    if len(record.free):
        p, prior = record.probabilities[0], record.prior
        questions.append(
            PROSE.question("exercise: calibration", float(record.calibrated[0, 0]), record=record, p=p, prior=prior)
        )
    return (*questions, order_question(orders)) if orders is not None else tuple(questions)
