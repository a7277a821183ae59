"""The tagger that reads [x; ELMo]: the text and the ◇ question."""

from __future__ import annotations

from explorer.records import Curve, Curves, Exercise

SAYS = (
    "This is how ELMo was used: take a tagger that reads word vectors $x_k$, and let it read $[x_k;\\ \\mathrm{ELMo}_k]$ instead. "
    "Nothing else changes. Here a GRU in both directions marks named entities; $x_k$ comes from word2vec, one vector for each word, and "
    "both word2vec and ELMo are frozen. The tagger learns its own weights, and the mix $s$ and $\\gamma$."
)
SAID = (
    "**You may conclude** how much these two frozen models help this tagger where few stories have labels; at each point all taggers read "
    "the same labelled stories. **You may not conclude** how much of the gain is context: ELMo also reads letters, and its vectors hold "
    "more numbers. One ELMo was measured. Measure again: `python -m studies.tagging`."
)
X, BOTH, ELMO = "x (word2vec)", "[x; ELMo]", "ELMo alone"


def line(measured: Curves, name: str) -> Curve:
    """A line by its name."""
    return next(one for one in measured.lines if one.label == name)


def said(measured: Curves) -> str:
    """What may be concluded, and whether the word vectors still add anything to ELMo where most stories have labels."""
    both, alone = (line(measured, name) for name in (BOTH, ELMO))
    assert both.low is not None and both.high is not None and alone.low is not None and alone.high is not None
    if alone.low[-1] > both.high[-1]:
        found = "less than ELMo alone: here the static vectors only add numbers to fit"
    elif both.low[-1] > alone.high[-1]:
        found = "more than ELMo alone"
    else:
        found = "a tie with ELMo alone"
    return f"With labels in {both.x[-1]:.0f} stories [x; ELMo] reaches {both.y[-1]:.3f}, ELMo without x {alone.y[-1]:.3f}: {found}. {SAID}"


def labels_question(measured: Curves) -> Exercise:
    """How many labelled stories the tagger with ELMo needs for what the other reaches with all of them."""
    x, both = line(measured, X), line(measured, BOTH)
    options = tuple(f"{many:.0f}" for many in both.x)
    aim = float(x.y[-1])
    enough = [option for option, score in zip(options, both.y, strict=True) if score >= aim]
    never = "more than all of them"
    asked = (
        f"With labels in {options[-1]} stories, the tagger that reads word vectors alone reaches a {measured.up} of {aim:.2f} on new ones. "
        "With how many labelled stories does the tagger with ELMo reach at least that? (It was trained with "
        f"{', '.join(options[:-1])} and {options[-1]}.)"
    )
    ends = "; ".join(
        f"{option} stories: {one:.2f} without, {other:.2f} with ELMo"
        for option, one, other in zip(options, x.y, both.y, strict=True)
    )
    return Exercise(asked, enough[0] if enough else never, f"{ends}.", (*options, never))
