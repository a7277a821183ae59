"""What is said to the answers of an exercise or a prediction: the same on a page and in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.records.exercise import Exercise

HINT, GIVEN_AWAY = 2, 3  # after so many different wrong answers
HINTS = {0: "a whole number", 1: "a number, one decimal"}


@dataclass(frozen=True)
class Tries:
    """The answers to one question so far: the different wrong ones, and whether it was asked to be shown."""

    question: str = ""
    wrong: tuple[str, ...] = ()
    asked: bool = False

    def after(self, item: Exercise, given: str = "") -> Tries:
        """With one more answer. Where the question is another one, for example because the model has changed, they begin again.

        >>> Tries().after(Exercise("How many?", 12.0, digits=0), "9").wrong
        ('9',)
        """
        mine = self if self.question == item.question else Tries(item.question)
        if not given or item.right(given) or given in mine.wrong:
            return mine
        return replace(mine, wrong=(*mine.wrong, given))

    def show(self, item: Exercise) -> Tries:
        """With the answer shown because it was asked for."""
        return replace(self.after(item), asked=True)

    @property
    def shown(self) -> bool:
        """Whether the answer was given away: after three wrong ones, or asked for."""
        return self.asked or len(self.wrong) >= GIVEN_AWAY


@dataclass(frozen=True)
class Feedback:
    """What is said to an answer. `kind` is "right", "shown" (the answer was given away), "wrong", or "" before there is one."""

    kind: str = ""
    text: str = ""


def feedback(item: Exercise, tries: Tries, given: str, look: str, *, opened: bool = False) -> Feedback:
    """To an exercise: a hint after two wrong answers, the answer and why after three, or when it is asked for.

    `look` says where to look after the first wrong answer; `opened` is whether a teacher has opened all answers.

    >>> item = Exercise("How many?", 12.0, "Three times four.", digits=0)
    >>> feedback(item, Tries().after(item, "9"), "9", "Look at the rows.").text
    'Not yet. Look at the rows.'
    """
    if given and item.right(given) and not tries.asked:
        return Feedback("right", f"Right: {item.shown}. {item.why}")
    if opened or tries.shown:
        return Feedback("shown", f"It is **{item.shown}**. {item.why}")
    if not given:
        return Feedback()
    return Feedback("wrong", f"Not yet. {hint_of(item, given) if len(tries.wrong) == HINT else look}")


def verdict(item: Exercise, given: str) -> Feedback:
    """To a prediction, which has one try; without one, to whoever asks for the answer.

    >>> verdict(Exercise("Which?", "b", "Because.", ("a", "b")), "a").text
    'You said *a*. The answer: **b**. Because.'
    >>> verdict(Exercise("What next?", "b", "55%.", ("a", "b"), called="most probable"), "a").text
    'You said *a*. Most probable: **b**. 55%.'
    """
    if given and item.right(given):
        return Feedback("right", f"Yes: {item.shown}. {item.why}")
    guess = f"You said *{given}*. " if given else ""
    return Feedback("shown", f"{guess}{item.called[0].upper()}{item.called[1:]}: **{item.shown}**. {item.why}")


def wanted_form(item: Exercise) -> str:
    """What is typed where there are no options.

    >>> wanted_form(Exercise("How many?", 12.0, digits=0))
    'a whole number'
    """
    return HINTS.get(item.digits, f"a number, {item.digits} decimals")


def score(right: int, count: int) -> str:
    """The line below some exercises.

    >>> score(1, 3)
    '**1 of 3** answered.'
    """
    return f"**{right} of {count}** answered."


def hint_of(item: Exercise, given: str) -> str:
    """Which way the answer lies.

    >>> hint_of(Exercise("How many?", 12.0, "", digits=0), "9")
    'Hint: it is larger than 9, and at most 24.'
    """
    if item.options:
        others = [option for option in item.options if option not in (given, item.answer)]
        return f"Hint: it is not *{others[0]}* either." if len(others) > 1 else "Hint: one answer is left."
    try:
        number = float(given.strip().replace(",", ".").replace("−", "-"))
    except ValueError:
        return "Hint: write a number, for example 0.25."
    answer = float(item.answer)
    if answer > number:
        return f"Hint: it is larger than {given.strip()}, and at most {2 * abs(answer):.{item.digits}f}."
    return f"Hint: it is smaller than {given.strip()}, and at least {answer - abs(answer) / 2:.{item.digits}f}."
