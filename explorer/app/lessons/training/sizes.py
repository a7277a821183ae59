"""Learning rates and losses of larger models, after a guess."""

from __future__ import annotations

from explorer.app import recorded
from explorer.app.controls import made
from explorer.app.glossary import say
from explorer.app.lessons.training import sizes_questions as lesson

RATES, LOSSES = "rates-decoder", "sizes-decoder"


def there() -> bool:
    """Whether both were measured."""
    return recorded.there(RATES) and recorded.there(LOSSES)


def section() -> None:
    """Whether a rate serves another size, and what the larger one learns from the same text."""
    say(lesson.SAYS)
    rates, losses = (recorded.call(name) for name in (RATES, LOSSES))
    said = {RATES: lesson.RATES, LOSSES: lesson.at_the_end(made(losses))}
    recorded.guessed(lesson.rate_question(made(rates)), "guess.sizes", said)
