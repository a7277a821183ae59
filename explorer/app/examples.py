"""`docs/examples.md`: the text with which each lesson opens, what the shipped models say of it, and whether the lesson may say so.

`python -m explorer.app.examples` asks the models and writes the page again; run it when a shipped model or an opening text changes.
A test asks them too and holds every claim. `--search` looks for sentences like the one that most lessons open with: minimal pairs with
words that training never had together, those first that BERT answers most clearly, with what the translator writes beside.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import explorer as ex
from explorer.analysis import capabilities
from explorer.app.lessons import LESSONS, SENTENCE
from explorer.app.lessons.corruption import questions as corruption
from explorer.app.lessons.decoding import questions as decoding
from explorer.app.lessons.elmo import questions as elmo
from explorer.app.lessons.prompting import questions as prompting
from explorer.app.lessons.start import questions as start
from explorer.app.lessons.vectors import questions as vectors
from explorer.records import WordPrediction
from explorer.records.softmax import softmax

PAGE = Path("docs") / "examples.md"
HEAD = """# What the models say about the opening examples

The text with which each lesson opens, what the lesson assumes about it, and what the shipped models say. Made by
`python -m explorer.app.examples`; a test asks the models again and checks every claim. On another processor the last digit of a
probability may differ.

| lesson | opens with | what it assumes | what the models say |
|---|---|---|---|
"""
Searched = dict[tuple[str, str], tuple[bool, float]]
READERS = ("bert", "gpt2", "bart", "elmo")
FRAME, IT, REASONS = "The {who} did not cross the {where} because {it} was too {reason}.", 9, ("tired", "wide")
NOUNS = ("dog", "river")  # those of the sentence that most lessons open with
WHO = (
    "dog", "cat", "horse", "rabbit", "animal", "puppy", "kitten", "donkey", "boy", "girl", "man", "woman", "farmer", "terrier", "cow",
)  # fmt: skip
WHERE = (
    "road", "street", "river", "bridge", "avenue", "path", "lake", "field", "lane", "canal", "alley", "highway", "square", "track",
)  # fmt: skip
SHOWN, SPACE = 15, "·"  # sentences that the search prints; the sign for a space in a token
TAIL = """
*Tokens* opens with words that every tokenizer splits, letters with accents and an emoji; no model reads it. *Fine-tuning* opens with texts
that its models answer after they are trained on the page. The sentence that seven
lessons share was chosen by `python -m explorer.app.examples --search` and is in no training text. {clear}
Of {count} sentences of this form, with other nouns, BERT puts the right noun first for both reasons in {both}.
"""
CLEAR = "It is a clear case, not a typical one."
UNCLEAR = "It is not a clear case: BERT puts the right noun first for one of the reasons only (above)."


@dataclass(frozen=True)
class Said:
    """What models answered, in words, and whether the claim holds."""

    words: str
    holds: bool


@dataclass(frozen=True)
class OpeningExample:
    """Lessons that open with the same text, what they take for granted of it, and the question to the models."""

    lessons: tuple[str, ...]
    text: str
    claim: str
    ask: Callable[[], Said]
    part: str = ""  # of the page, where the text is not what the page opens with


def shipped(name: str) -> Any:
    """A shipped model of any kind, on the processor."""
    return ex.load(name, device="cpu")


def chances(name: str, text: str, word: str | int) -> tuple[str, dict[str, float]]:
    """What a masked model puts first where a word is hidden, and the probability of every token there."""
    model = shipped(name)
    hidden = ex.hide(text, [word], tokenizer=model.tokenizer)
    (place,) = np.flatnonzero(hidden.scored)
    shares = softmax(model.logits(hidden.source)[place])
    return model.tokenizer.text_of(int(shares.argmax())), {
        token: float(shares[n]) for token, n in model.tokenizer.core.get_vocab().items()
    }


def written(name: str, text: str, strategy: str = "greedy", **options: Any) -> str:
    """What a model writes."""
    return list(ex.decode(shipped(name), text, strategy, **options))[-1].text.strip()


def at_a_word() -> Said:
    """What the four models of the front page predict for its word."""
    begin = start.TEXT.index(start.WORD)
    span = (begin, begin + len(start.WORD))
    predictions: dict[str, WordPrediction] = {
        name: ex.analysis.word_prediction(shipped(name), start.TEXT, span) for name in READERS
    }
    words = [f"{name}: {' or '.join(sides(prediction))}" for name, prediction in predictions.items()]
    whole = all(texts[0].lstrip(SPACE).isalpha() for prediction in predictions.values() for texts in prediction.texts)
    return Said("; ".join(words), whole and predictions["bert"].texts[0][0] == start.WORD)


def sides(prediction: WordPrediction) -> list[str]:
    """The most probable token of each side that is read, with its probability."""
    return [
        f"*{texts[0].lstrip(SPACE)}* {shares[0]:.0%}" for texts, shares in zip(prediction.texts, prediction.shares, strict=True)
    ]


def reasons(who: str, where: str) -> list[tuple[str, float, float]]:
    """For *too tired* and *too wide*: what BERT puts first in the place of *it*, and its probabilities of the two nouns."""
    answers = []
    for reason in REASONS:
        token, shares = chances("bert", FRAME.format(who=who, where=where, it=f"the {who}", reason=reason), IT)
        answers.append((token, shares[who], shares[where]))
    return answers


def with_it_hidden() -> Said:
    """What BERT expects in the place of *it* for both reasons, where a head trained for it looks, and the French of both."""
    (first, tired, before), (_, left, wide) = reasons(*NOUNS)
    trace = ex.trace(shipped("bert-told"), SENTENCE)
    seen = trace.source.texts[int(trace.attention[1].weights[0, trace.source.texts.index("it")].argmax())]
    french = [written("transformer", FRAME.format(who=NOUNS[0], where=NOUNS[1], it="it", reason=reason)) for reason in REASONS]
    words = (
        f"bert for *it*, tired: *{NOUNS[0]}* {tired:.0%}, *{NOUNS[1]}* {before:.0%}; "
        f"wide: *{NOUNS[0]}* {left:.0%}, *{NOUNS[1]}* {wide:.0%}; "
        f"bert-told, head 0 of layer 1, from *it*: *{seen}*; "
        f"transformer: *{french[0]}* With *wide*: *{french[1]}*"
    )
    keeps = all("n'a pas" in line for line in french) and "qu'il" in french[0] and "qu'elle" in french[1]
    moves = left < tired / 2 and wide > before + 0.05
    return Said(words, (first, seen) == (NOUNS[0], NOUNS[0]) and moves and keeps)


def hidden_milk() -> Said:
    """What BERT puts in the place of the first word that the class hides: another food fits as well."""
    token, shares = chances("bert", corruption.STORY, corruption.HIDDEN)
    return Said(f"bert: *{token}* {shares[token]:.0%}", token in (corruption.HIDDEN, "grass", "hay", "meat", "water", "bread"))


def opening_analogy() -> Said:
    """The analogy with which the lesson opens, by both models."""
    *words, answer = vectors.ASKED
    answers = {name: ex.analysis.analogy(shipped(name), *words, top=1).words[0] for name in ("word2vec", "glove")}
    return Said("; ".join(f"{name}: *{word}*" for name, word in answers.items()), set(answers.values()) == {answer})


def at_the_bank() -> Said:
    """What ELMo's two language models predict where *bank* is."""
    begin = elmo.TEXT.index(elmo.WORD)
    prediction = ex.analysis.word_prediction(shipped("elmo"), elmo.TEXT, (begin, begin + len(elmo.WORD)))
    left, right = sides(prediction)
    return Said(f"elmo, from the left {left}, from the right {right}", prediction.texts[0][0] != prediction.texts[1][0])


def after_a_prompt() -> Said:
    """How GPT-2 labels the lesson's text."""
    labels = dict(pair.split(": ") for pair in prompting.WORDS.split(", "))
    answer = ex.prompt(shipped("gpt2"), prompting.TEXT, labels=labels, template=prompting.TEMPLATE)
    shares = answer.probabilities[0] / answer.probabilities[0].sum()
    words = ", ".join(f"{label} {share:.0%}" for label, share in zip(labels, shares, strict=True))
    return Said(f"gpt2, of these two: {words}", list(labels)[int(shares.argmax())] == "sad")


def tried_out() -> Said:
    """What BERT and GPT-2 make of the text on which every model of the page is tried."""
    filled, _, _, classed = ex.analysis.abilities(shipped("bert"), capabilities.TEXT, objective="mlm+nsp")
    answer, follows = capabilities.TEXT.split()[-1].strip("."), float(classed.says.split()[-1].strip("%"))
    story = ex.analysis.abilities(shipped("gpt2"), capabilities.TEXT)[1].says.strip()
    words = f"bert: {filled.says}; {classed.says}; gpt2 continues: *{story}*"
    return Said(words, filled.says.startswith(answer.lower()) and follows > 50 and answer in story)


def continued() -> Said:
    """What GPT-2 writes after the lesson's prompt, and the translation of its source."""
    story, french = written("gpt2", decoding.PROMPT, max_tokens=24), written("transformer", decoding.SOURCE)
    return Said(f"gpt2: *{story}* transformer: *{french}*", story.endswith(".") and "n'a pas" in french)


def filled() -> Said:
    """What BERT writes into the blanks of the lesson, the most certain first."""
    end = list(ex.decode(shipped("bert"), decoding.BLANKS, "fill", order="confident"))[-1]
    words = end.tokens.texts[1:-1]
    return Said(f"bert: *{' '.join(words)}*", {"water", "bed"} <= set(words))


EXAMPLES = (
    OpeningExample(("start",), start.TEXT, f"all four put a whole word first, and BERT *{start.WORD}* itself", at_a_word),
    OpeningExample(
        ("vectors",), "{} : {} = {} : ?".format(*vectors.ASKED[:3]), f"both models answer *{vectors.ASKED[3]}*", opening_analogy,
    ),
    OpeningExample(
        ("positions", "attention", "heads", "families", "training", "whatif", "yours"), SENTENCE,
        "the reason changes what BERT expects for *it* and decides the French pronoun; the French keeps the negation; "
        "a head that was trained for it finds the noun",
        with_it_hidden,
    ),
    OpeningExample(
        ("training",), capabilities.TEXT, "BERT fills in the name and sees that the question follows; GPT-2 answers it", tried_out,
        part="Systems",
    ),
    OpeningExample(
        ("corruption",), corruption.STORY, f"where *{corruption.HIDDEN}* is hidden, BERT expects something to eat or drink", hidden_milk,
    ),
    OpeningExample(("elmo",), elmo.TEXT, "the two directions expect different words", at_the_bank),
    OpeningExample(("prompting",), prompting.TEXT, "the label is *sad*", after_a_prompt),
    OpeningExample(
        ("decoding",), f"{decoding.PROMPT} … and: {decoding.SOURCE}",
        "the story goes on to the end of a sentence; the French keeps the negation", continued,
    ),
    OpeningExample(("decoding",), decoding.BLANKS, "the last two blanks become *water* and *bed*", filled, part="Blanks"),
)  # fmt: skip


def page(answers: Sequence[tuple[OpeningExample, Said]], sentences: Searched) -> str:
    """The page, of what the models said."""
    rows = (f"| {where(example)} | {example.text} | {example.claim} | {answer.words} |\n" for example, answer in answers)
    both = sum(first for first, _ in sentences.values())
    return HEAD + "".join(rows) + TAIL.format(count=len(sentences), both=both, clear=CLEAR if sentences[NOUNS][0] else UNCLEAR)


def where(example: OpeningExample) -> str:
    """The titles of the lessons of an example."""
    titles = ", ".join(LESSONS[name].title for name in example.lessons)
    return f"{titles}, part {example.part}" if example.part else titles


def searched() -> Searched:
    """For sentences of the form that most lessons open with: whether BERT puts the right noun first for both reasons, and the smaller
    of the probabilities of the right nouns.
    """
    known = shipped("bert").tokenizer.core.token_to_id
    pairs = ((who, where) for who in WHO for where in WHERE if known(who) is not None and known(where) is not None)
    answers = {pair: reasons(*pair) for pair in pairs}
    return {pair: ((tired[0], wide[0]) == pair, min(tired[1], wide[2])) for pair, (tired, wide) in answers.items()}


def main() -> int:
    """Write the page, or print what the search finds."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--search", action="store_true", help="print sentences like the one that most lessons open with")
    if read.parse_args().search:
        clear = sorted(((least, *pair) for pair, (_, least) in searched().items()), reverse=True)
        sys.stdout.writelines(f"{least:.2f} {who} / {where}\n" for least, who, where in clear[:SHOWN])
        return 0
    answers = [(example, example.ask()) for example in EXAMPLES]
    PAGE.write_text(page(answers, searched()), "utf-8")
    sys.stdout.writelines(
        f"{'' if answer.holds else 'NOT TRUE: '}{', '.join(example.lessons)}: {answer.words}\n" for example, answer in answers
    )
    return not all(answer.holds for _, answer in answers)


if __name__ == "__main__":
    sys.exit(main())
