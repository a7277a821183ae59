"""A teacher's own questions, from a TOML file or from the box at the desk of the vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.errors import ChoiceError
from explorer.records import Exercise

LONGEST, OPTION, MOST = 400, 80, 8  # letters of a question and of an option, and how many options
FIELDS = ("question", "options", "answer", "why")


def exercise_of(given: Mapping[str, Any]) -> Exercise:
    """One question: its text, two to eight options (none: a number is typed), the answer, and why.

    >>> exercise_of({"question": "Which is larger?", "options": ["2", "3"], "answer": "3"}).answer
    '3'
    """
    if unknown := sorted(set(given) - set(FIELDS)):
        raise ChoiceError(f"A question has no {unknown[0]!r}. It has: {', '.join(FIELDS)}.")
    question, options, answer, why = (given.get(name, "") for name in FIELDS)
    _check_text("question", question, LONGEST, least=1)
    _check_text("why", why, 2 * LONGEST)
    if not options:
        if isinstance(answer, bool) or not isinstance(answer, (int, float)):
            raise ChoiceError(f"The answer of {question[:40]!r} must be a number, because the question has no options.")
        return Exercise(question, float(answer), why, digits=len(str(answer).partition(".")[2]))
    _check_options(question, options)
    if answer not in options:
        raise ChoiceError(f"The answer {answer!r} of {question[:40]!r} is not one of its options: {', '.join(options)}.")
    return Exercise(question, answer, why, tuple(options))


def _check_text(name: str, text: object, longest: int, least: int = 0) -> None:
    if not isinstance(text, str) or not least <= len(text.strip()) <= longest:
        length = f"has {len(text):,} letters" if isinstance(text, str) else f"is {text!r}"
        raise ChoiceError(f"The {name} of a question {length}; it must be a text of {least} to {longest} letters.")


def _check_options(question: str, options: Any) -> None:
    texts = isinstance(options, Sequence) and not isinstance(options, str) and all(isinstance(text, str) for text in options)
    if not texts or not 2 <= len(options) <= MOST or len(set(options)) < len(options):
        raise ChoiceError(f"The options of {question[:40]!r} must be 2 to {MOST} different texts.")
    for text in options:
        _check_text("option", text, OPTION, least=1)


def typed(question: Exercise) -> str:
    """A question as somebody types it.

    >>> print(typed(typed_exercise("Which is larger?\\n2\\n* 3")))
    Which is larger?
    2
    * 3
    """
    return "\n".join([question.question, *("* " * (option == question.answer) + option for option in question.options)])


def typed_exercise(text: str) -> Exercise:
    """A question as it is typed at the desk: first the question, then an option on each line, the right one with a star.

    >>> typed_exercise("Which is larger?\\n2\\n* 3").options
    ('2', '3')
    """
    first, *lines = [line.strip() for line in text.strip().splitlines() if line.strip()] or [""]
    right = [line.removeprefix("*").strip() for line in lines if line.startswith("*")]
    if len(right) != 1:
        raise ChoiceError("Write the question, then each option on its own line, with a * before the right one.")
    return exercise_of({"question": first, "options": [line.removeprefix("*").strip() for line in lines], "answer": right[0]})
