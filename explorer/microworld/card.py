"""The card of the microworld: what it holds, counted; and how badly classifiers do that should fail."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from explorer.errors import FileError
from explorer.microworld import VERSION, Story, labelled, statistics, stories
from explorer.microworld.derived.acceptability import judged
from explorer.microworld.derived.following import following
from explorer.microworld.derived.inference import inferences
from explorer.microworld.giveaway import NAME, bag_of_words, marked
from explorer.microworld.lexicon import SPLITS, lexicon
from explorer.microworld.script import scripts
from explorer.microworld.versions import LEARNED, world

SAMPLE = 500


def card(count: int = 12_000, version: str = VERSION) -> str:
    """The card of a version as Markdown, from `count` stories of the training split."""
    stories = list(labelled(count, 0, version=version))
    parts = [
        f"# The microworld, version {version}",
        "Children's stories made from a seed, with gold labels: `python -m explorer.microworld` prints this card again.",
        f"SHA-256 of the first 1,000 training stories of seed 0: `{statistics.fingerprint(version=version)}`",
        f"{len(scripts(version))} story types, {len(lexicon(version).classes)} classes of words. "
        "Words in `words/`, story types in `scripts/`.",
        table("Size", statistics.size([story.sentences for story in stories])),
        table("Form", form(stories, version)),
        table("Grammar", statistics.grammar(stories)),
        table("Names", statistics.names(stories)),
        *(table(f"Labels: {name}", dict(counts.most_common(45))) for name, counts in statistics.labels(stories).items()),
        table("Splits", splits(version)),
        table("Classifiers that should fail", giveaways(version)),
        table("Speed on the machine that wrote this card, tokens a second on one core", speed(version)),
        WHAT_IT_IS_NOT,
        *([WHAT_WAS_NOT_LEARNED] if version == VERSION else [WHAT_IS_KEPT_APART]),
        *([WHAT_IS_MIXED] if len(world(version).strands) > 1 else []),
        *([WHAT_IS_TYPED] if {*LEARNED} & {*world(version).strands} else []),
    ]
    return "\n\n".join(parts) + "\n"


WHAT_IT_IS_NOT = """## What it is not

The stories are generated from templates by the programme that is shipped with them (same licence). They are no sample of English:
they have few words, short sentences, and no fact about the world beyond what follows from them. Nobody in them exists. The roles are
read from word order and prepositions by rule; the other labels come from the choices that made the story."""

WHAT_WAS_NOT_LEARNED = """## What tiny models do not learn from it in minutes

Measured with `make learnable` (its table is in the README). Whom a reason means, of two people of one gender ("Anna called Zoe, because
Anna was afraid"), stays at chance in minutes: no lesson promises it, and it is kept for larger models to be asked. *Too tired, too wide*
is above chance in a causal model and not in a masked one that was trained as briefly."""

WHAT_IS_KEPT_APART = """## Minimal pairs

No training sentence holds two words that the minimal pairs of validation and test put together: two nouns, or a noun and what is said of
it; and none is in one of their frames. `explorer/microworld/apart.py` has the list. The texts of the first version are all in this one,
beside short texts about what is rare in them: reasons, families, questions with answers, opposites, senses, who did what."""

WHAT_IS_TYPED = """## What visitors type first

One training text in nineteen is what visitors type first (*What is your name? My name is Anna.*), also where a plain pair asks for its
sentence. Three in nineteen are other everyday phrases (*Tom is a little taller than his sister.*), from the lines of
`grammar/words/phrases.txt`: in English alone and without gold labels, so their words have the tag X. No held-out text is of these two
kinds. All else is that of version 2.0: the same words, story types, frames and splits."""

WHAT_IS_MIXED = """## Three kinds of text

Two texts in five are stories. Two in five are one to four plain sentences, and one in five is a short exchange: a question
and its answer, a greeting, a request. Both are built as a tree of who does what, when, where and why (`explorer/microworld/grammar`), and
said from that tree in English and in French, with their gold labels. Their words and frames are tables in `grammar/words`: one row a
word, one line a frame. One combination in thirty of adjective and noun, and of verb and object, occurs in no training text, and neither
does any sentence of `plain_pairs.tsv`, by which models are compared while they are developed."""


def form(stories: list[Story], version: str) -> dict[str, float]:
    """How often sentences are the same but for their slots, beside the first version where this is another."""
    figures = statistics.skeletons(stories)
    if version != VERSION:
        before = statistics.skeletons(list(labelled(len(stories), 0)))
        figures |= {f"{name}, version {VERSION}": value for name, value in before.items()}
    return figures


def table(title: str, figures: Mapping[str, float]) -> str:
    """Names and figures as a table."""
    rows = "\n".join(
        f"| {name} | {value:,.0f} |" if value == int(value) else f"| {name} | {value:.4f} |" for name, value in figures.items()
    )
    return f"## {title}\n\n| | |\n|---|---:|\n{rows}"


def splits(version: str, count: int = 3000) -> dict[str, float]:
    """How the splits differ: in facts and in words."""
    figures: dict[str, float] = {}
    stories = {split: list(labelled(count, 0, split, version=version)) for split in SPLITS}
    facts = {split: {fact for story in stories[split] for fact in story.facts} for split in SPLITS}
    words = {split: {word.text.lower() for story in stories[split] for word in story.words} for split in SPLITS}
    for split in SPLITS:
        figures[f"{split}: different facts in {count} stories"] = len(facts[split])
        figures[f"{split}: word types in {count} stories"] = len(words[split])
        if split != "train":
            figures[f"{split}: facts that are in train as well"] = len(facts[split] & facts["train"])
    held_out = {word.name.lower() for group in lexicon(version).held.values() for word in group}
    figures["words that occur in the test only"] = len(held_out)
    return figures


def giveaways(version: str, count: int = 4000) -> dict[str, float]:
    """Accuracies on a fifth that was not learned from; the answer should not be found this way."""
    pairs = list(following(count, 3, version=version))
    shares = [bool(set(NAME.findall(" ".join(p.first))) & set(NAME.findall(" ".join(p.second)))) for p in pairs]
    return {
        **(sentence_giveaways(count) if version == VERSION else {}),
        "next sentence, B shares a name with A (chance 0.5)": sum(s == p.follows for s, p in zip(shares, pairs, strict=True))
        / count,
        "next sentence, bag of words of B": bag_of_words([" ".join(p.second) for p in pairs], [int(p.follows) for p in pairs]),
    }


def sentence_giveaways(count: int) -> dict[str, float]:
    """The same for sentences told outside a story, whose words are those of the first version."""
    nli, good = list(inferences(count, 3)), list(judged(count, 3))
    answers = [item.label for item in nli]
    return {
        "inference, bag of words (chance 0.333)": bag_of_words([f"{i.premise} {i.hypothesis}" for i in nli], answers),
        "inference, bag of marked words": bag_of_words([f"{i.premise} {marked(i.hypothesis)}" for i in nli], answers),
        "inference, hypothesis only": bag_of_words([i.hypothesis for i in nli], answers),
        "acceptability, bag of words (chance 0.5)": bag_of_words([j.text for j in good], [int(j.good) for j in good]),
    }


def speed(version: str, count: int = 4000) -> dict[str, float]:
    """Tokens a second, of plain and of labelled stories, once the templates are compiled."""
    figures = {}
    makers: dict[str, Callable[[int, int], object]] = {
        "plain": lambda n, seed: list(stories(n, seed, version=version)),
        "labelled": lambda n, seed: list(labelled(n, seed, version=version)),
    }  # fmt: skip
    tokens = sum(len(story.words) for story in labelled(count, 1, version=version))
    for name, make in makers.items():
        make(count, 1)
        start = time.perf_counter()
        make(count, 1)
        figures[name] = tokens / (time.perf_counter() - start) // 1000 * 1000
    return figures


def write(folder: Path, version: str = VERSION) -> None:
    """Write the card and a small sample, one story a line."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "CARD.md").write_text(card(version=version), "utf-8")
        text = "".join(" ".join(story) + "\n" for story in stories(SAMPLE, 0, version=version))
        with open(folder / "sample.txt.gz", "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            packed.write(text.encode("utf-8"))
    except OSError as error:
        raise FileError(
            f"Could not write the card into {folder}: {error.strerror}. Choose a folder that can be written."
        ) from error
