"""Corruption: the ◇ questions, exercises on the numbers of one text, and notes on the slides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.records import Corruption, Curve, Curves, Exercise, GapSentences, Guess, Rates, SpanLengths

STORY = (
    "Anna had a white animal. The animal didn't cross the street because it was too tired. "
    "Anna gave the animal some milk. Then it crossed the street."
)
HIDDEN = "milk"
PRESETS = {  # L2, then L1
    "Cloze test": "After such a late night working on my project, it was hard to wake up this morning!",
    "Computable": "I was thinking about the sequence that goes 1, 1, 2, 3, 5, 8, 13, 21, 34.",
    "World knowledge": "Universal Studios Theme Park is located in Hollywood, California.",
    "Memorised": "Because darling I'm a nightmare dressed like a daydream.",
    "In the text": "Anna had a brown dog. The dog was hungry, so Anna gave the dog some milk.",
}
BLANKED = ("night", "34", "hollywood", "nightmare", "milk")  # the blank of each of these texts
BLANKS = (
    "A **cloze test** asks people to fill a gap. What one must know differs: one blank can be *computed*, one needs *knowledge of the "
    "world*, one was *memorised* from a song, and some follow from the *text itself*. The model here was trained only on stories of a "
    "small world. It fills most blanks of the last kind: hide one *Anna*, and the other is still there; hide both, and it can only guess "
    "a name. Its training had nothing of Fibonacci, California or songs, and its tokenizer cuts many of their words into several tokens."
)
TWO_TEXTS = (
    "Some objectives ask more than the hidden tokens. **Next sentence prediction** (NSP, BERT) reads two texts A and B between [CLS] and "
    "[SEP]; a *segment* number says which of them a token belongs to. In half of the pairs B follows A, in the other half it is taken "
    "from another text; the model predicts which from the state of [CLS]: $\\mathcal L = -\\log P(\\text{label} \\mid \\text{A}, "
    "\\text{B})$, added to the loss of the hidden tokens. **Sentence order** (SOP, ALBERT) asks whether A and B were swapped. Change "
    "the seed for another pair."
)
BORDERS = (
    "The **span boundary objective** (SBO, SpanBERT) reads one segment only. Each token of a hidden span, from position $s$ to $e$, is "
    "predicted a second time: from the states $h_{s-1}$ and $h_{e+1}$ of the two tokens *beside* the span and from a vector $p_i$ of its "
    "position $i$ in the span. This loss is added to that of the masks."
)
PAIRS_OF = "In the evening Anna went home with her friend, because she was tired and wanted to sleep."
PAIRED = (
    "Word vectors are pre-trained by a $T$, too (L3): from a text, **skip-gram** makes pairs of a word $w$ and a word $c$ near it, with "
    "the label 1, and to each five pairs with random words $\\bar c$, with the label 0. So $\\tilde x$ is a pair and $\\tilde y$ one bit; "
    "BERT's $\\tilde x$ is a text with holes and $\\tilde y$ the missing tokens. Both need no label from a person."
)
SYMBOLS = (
    "A transformation $T$ makes two things of a text $x$ of the corpus $\\mathcal D$: the corrupted text $\\tilde x$, which the model "
    "reads, and $\\tilde y$, what it must predict. Training looks for the weights of the model, $\\theta$ (theta), with the smallest "
    "loss $\\mathcal L$: the sum over all predicted tokens $w$."
)
NOTATION = (
    "$T$ is the transformation of L3: it takes a text $x$ of the corpus $\\mathcal D$ and draws $(\\tilde x, \\tilde y)$, what the "
    "model reads and what it should predict. In other slides $T$ is a length. $\\mathcal L$ is a loss here; $L$ is a length in L3, "
    "a number of layers in L0 and a limit for spans in L2."
)
DECK = (
    ("L1, encoder objective", "learning $p_\\theta(\\tilde x\\mid x)$", "$p_\\theta(x\\mid\\tilde x)$: the original from the damaged text"),
    ("L1, pre-training encoders", "the loss comes from words that are *masked out*", "from *chosen* words; a fifth of them are not masked"),
    ("L2, intuition", "[MASK] *isn't even in the training vocabulary*", "it is, with an embedding; it never occurs in real text"),
    ("L2, spans", "geometric, *with an upper bound of 10*", "truncated at 10 and renormalised, mean 3.8, counted in words"),
    ("L2, SBO", "the words before and after the span", "the encoder's *outputs* there, which have seen all but the span"),
    ("L2, summary", "encoders learn from MLM *and* NSP", "SpanBERT (same deck) and RoBERTa drop NSP"),
    ("L3, MLM", "*delete* 15 % of the tokens", "they are replaced, and the position stays; deleting is one of BART's noises"),
    ("L3, MLM loss", "$-\\log P(\\text{dog}\\mid\\tilde x) = \\sum\\dots$", "equal for one hidden word; programs take the mean"),
    ("L3, NSP", "$s_2$ a random sequence of $\\mathcal D$", "from another document; segments of several sentences"),
    ("L3, BART", "three corruptions", "five were compared; the published model uses infilling and sentence permutation"),
    ("L4, BERT", "random replacement occurs only *1.5 % of the time*", "of all tokens (10 % of 15 %); of the chosen tokens it is 10 %"),
    ("L4, NSP", "entailment", "whether one segment follows the other in its document"),
    ("L4, BERT", "*does not know which words have been masked*", "it sees [MASK]; it does not know which *unmasked* tokens are scored"),
)  # fmt: skip
CUT = {  # why a length in a text is not always the one that was drawn
    "spanbert": "The last span is cut when enough is hidden, and a span ends where the text ends; both matter more in a short text.",
    "bart-infill": "The last span is cut when enough is hidden; a span of length 0 hides nothing but still inserts a mask.",
    "t5": "T5 draws no lengths: it divides a fixed number of hidden tokens into a fixed number of spans, so this mean is exact.",
}
WRONG = (
    "Another token than the original is not always wrong: judge whether it fits the text. A high probability is what the model learned "
    "to expect, and that may fit only the words nearby."
)
BLANK, PLANTED = "fills a blank", "corrects a planted word"


def coin_question(record: Rates) -> Exercise:
    """How much of one text is hidden when each token is chosen independently."""
    low, high = (float(v) for v in np.percentile(record.of("mlm, coin flips"), [2.5, 97.5]))
    wide = high - low
    options = ("always 15 %", "14 to 16 %", "10 to 20 %", "less than 10 % to more than 20 %")
    place = 0 if wide < 0.005 else 1 if wide <= 0.02 else 2 if low >= 0.095 and high <= 0.205 else 3
    asked = (
        f"Each token of a text of {record.pieces} tokens is hidden independently, with probability 15 %. In which range does the hidden "
        "share lie in 95 of 100 draws?"
    )
    exact = record.of("mlm")
    why = f"From {low:.0%} to {high:.0%}. BERT chooses a fixed number of tokens, so it always hides {exact.min():.1%}."
    return Exercise(asked, options[place], why, options)


def spans_question(record: SpanLengths) -> Exercise:
    """How long the spans of a strategy come out in one text, beside the mean of the law that they are drawn from."""
    law, came = record.means
    unit = "words" if record.unit == "words" else "tokens"
    options = ("more than a tenth longer", "as long, within a tenth", "a tenth to a half shorter", "less than half as long")
    place = 0 if came > 1.1 * law else 1 if came >= 0.9 * law else 2 if came >= 0.5 * law else 3
    asked = (
        f"The lengths of these spans are drawn with a mean of {law:.1f} {unit}. How long are they on average once they are drawn in your "
        f"text of {record.pieces} tokens?"
    )
    return Exercise(asked, options[place], f"{came:.2f} {unit}. {CUT[record.strategy]}", options)


def planted_question(measured: Curves) -> Exercise:
    """Which training corrects a planted word."""
    held = {line.label: line for line in measured.lines}
    named = {name: float(held[f"{name}: {PLANTED}"].y[-1]) for name in ("never hidden", "always [MASK]", "80/10/10")}
    best = max(named, key=named.__getitem__)
    mixed, always = (held[f"{name}: {BLANK}"] for name in ("80/10/10", "always [MASK]"))
    why = (
        f"80/10/10 corrects {named['80/10/10']:.0%}, *always [MASK]* {named['always [MASK]']:.0%}, *never hidden* "
        f"{named['never hidden']:.0%}. At blanks {beside(mixed, always)}: {mixed.y[-1]:.0%} and {always.y[-1]:.0%}."
    )
    asked = (
        "Three BERTs: one is trained to predict words that it can see, one only words under [MASK], one with 80/10/10. Then we plant a "
        "wrong word in a new story, and each predicts the token at that position. Which finds the right word most often?"
    )
    return Exercise(asked, best, why, tuple(named))


def beside(mixed: Curve, always: Curve) -> str:
    """How 80/10/10 does beside always [MASK]; where their seeds overlap it is a tie."""
    assert mixed.low is not None and mixed.high is not None and always.low is not None and always.high is not None
    if mixed.low[-1] > always.high[-1]:
        return "80/10/10 is better than always [MASK]"
    return "80/10/10 is worse than always [MASK]" if mixed.high[-1] < always.low[-1] else "80/10/10 and always [MASK] tie"


def part(measured: Curves, what: str) -> Curves:
    """Only the lines of one measure, with shorter labels."""
    lines = [line for line in measured.lines if line.label.endswith(what)]
    short = tuple(Curve(line.label.removesuffix(f": {what}"), line.x, line.y, line.low, line.high) for line in lines)
    return Curves(f"Who {what}?", measured.across, "share found", short, measured.note)


def guess_question(record: Guess, place: int) -> Exercise:
    """Which token is most probable at a masked position, among the top four and the original."""
    truth = record.corruption.original.texts[place]
    offered = tuple(sorted({*record.texts[place][:4], truth}))
    rank = record.texts[place].index(truth) + 1 if truth in record.texts[place] else 0
    where = f"is its prediction number {rank}" if rank else "is not among its first predictions"
    why = f"P = {record.shares[place, 0]:.0%}. The original token, *{truth}*, {where} with P = {record.truth[place]:.1%}."
    why += "" if rank == 1 else f" {WRONG}"
    asked = f"The word at position {place} is masked. Let the class guess first. Which of these does *{record.model}* find most likely?"
    return Exercise(asked, record.texts[place][0], why, offered)


def exercises(
    masked: Corruption, guess: Guess, lengths: SpanLengths, gaps: GapSentences, *, rate: float = 0.15
) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read from its records."""
    return (*_counting(masked, rate), *_predicting(guess), *_drawing(lengths, gaps))


def _counting(masked: Corruption, rate: float) -> Sequence[Exercise]:
    text = sum(word >= 0 for word in masked.original.words)
    seen = sum(done == "kept-but-scored" for done in masked.action)
    return (
        Exercise(
            f"Your text has {text} tokens. How many does BERT choose at 15 %, if it rounds to the nearest whole number and takes at "
            "least one?", float(masked.scored.sum()), f"{rate} × {text} = {rate * text:.2f}.", digits=0,
        ),
        Exercise(
            "Of a thousand tokens, how many does BERT turn into [MASK] on average?", 120.0,
            "1,000 × 0.15 × 0.8: 80 % of 15 %, not 150.", digits=0,
        ),
        Exercise(
            f"Seed {masked.seed}: how many tokens of your text must the model predict although it *sees* them unchanged?",
            float(seen), "The green boxes with “=”.", digits=0,
        ),
    )  # fmt: skip


def _predicting(guess: Guess) -> Sequence[Exercise]:
    scored = np.flatnonzero(guess.corruption.scored)
    place = int(scored[0])
    share = float(guess.truth[place])
    return (
        Exercise(
            f"At position {place} the model gives the original token P = {share:.4f}. What does it add to the loss, −log P (natural "
            "logarithm)?", float(guess.surprise[place]), f"−ln({share:.4f}). P = 1 adds 0; P = 0.5 adds 0.69.",
        ),
        Exercise(
            "What is L for all scored positions together?", guess.loss,
            " + ".join(f"{value:.2f}" for value in guess.surprise[scored])
            + ": the sum of the solid bars; the grey ones do not count.",
        ),
    )  # fmt: skip


def _drawing(lengths: SpanLengths, gaps: GapSentences) -> Sequence[Exercise]:
    law, came = lengths.means
    best = int(np.argmax(gaps.scores))
    return (
        Exercise(
            "SpanBERT's lengths are geometric with p = 0.2, truncated at 10. What is the probability of a span of one word? "
            "(0.2 divided by 1 − 0.8¹⁰)",
            float(lengths.nominal[lengths.lengths == 1][0]),
            f"0.2 / (1 − 0.8^10). The mean is {law:.2f} words; in your text the mean is {came:.2f}.", digits=3,
        ),
        Exercise(
            "Which sentence (counted from 0) has the highest ROUGE-1 F1 with the rest of your text?", float(best),
            f"It is {gaps.scores[best]:.2f}.", digits=0,
        ),
    )  # fmt: skip
