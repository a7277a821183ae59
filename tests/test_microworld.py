"""The microworld: deterministic, plausible in form, with labels that agree with what was written; what version 2.0 adds to its
stories, and its minimal pairs, whose words stay apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import islice, product
from pathlib import Path

import pytest
from conftest import ALL, LONG, long, sample

from explorer.analysis.evaluation.plain_pairs import plain_pairs
from explorer.errors import ChoiceError, TextError
from explorer.microworld import HELD_OUT, SPLITS, VERSION, WORLDS, Story, labelled, pairs, statistics, stories
from explorer.microworld.apart import LECTURE, REASONS
from explorer.microworld.casting import PLACES, place
from explorer.microworld.derived.blanks import blanks
from explorer.microworld.derived.following import following
from explorer.microworld.derived.minimal import PHENOMENA, minimal_pairs
from explorer.microworld.derived.minimal_reasons import FRAMES
from explorer.microworld.derived.minimal_words import DENIED, NUMBERED
from explorer.microworld.grammar.phrases import check_line, phrases
from explorer.microworld.grammar.words import adjectives, names, nouns
from explorer.microworld.labels import labelled_scripts
from explorer.microworld.lexicon import lexicon
from explorer.microworld.markup import Line
from explorer.microworld.script import scripts
from explorer.microworld.telling import scripted_stories, teller
from explorer.microworld.versions import FORMER, TRANSLATED
from explorer.models import store
from explorer.models.presets import PRESETS
from explorer.training.corpora import CORPORA, corpus_of, full_name, recorded_corpus
from explorer.training.interpolation import FRESH, fresh

ROOT = Path(__file__).parent.parent
NEW = "2.0"
FEW = 800 if ALL else 400  # stories
CARDS = {"1.0": "microworld", NEW: f"microworld-{NEW}", "2.2": "microworld-2.2"}
POS = {"NOUN", "PROPN", "PRON", "VERB", "AUX", "ADJ", "ADV", "DET", "ADP", "CCONJ", "SCONJ", "PART", "NUM", "INTJ", "PUNCT"}


@lru_cache
def told_in(version: str) -> tuple[Story, ...]:
    return tuple(labelled(3000 if version == VERSION else len(sample(6000, 1200)), 0, version=version))


told = partial(told_in, VERSION)


@lru_cache(maxsize=1)
def new_stories() -> tuple[Story, ...]:
    """The stories of the new version alone."""
    return tuple(labelled_scripts(len(sample(6000, 1200)), 0, version=NEW))


def test_a_story_does_not_depend_on_those_before_it() -> None:
    source = teller("train")
    assert [source.plan(4, n).texts() for n in (17, 3)] == [list(stories(20, 4))[n] for n in (17, 3)]


def test_seeds_and_splits_differ() -> None:
    assert list(stories(5, 0)) != list(stories(5, 1))
    assert list(stories(5, 0, "test")) != list(stories(5, 0))
    with pytest.raises(ChoiceError, match="train"):
        next(stories(1, 0, "tset"))
    with pytest.raises(ChoiceError, match=r"2\.0"):
        next(stories(1, 0, version="3.0"))


WRONG_ARTICLE = re.compile(r"\b[Aa] (?!un|uni|eu|one)[aeio]\w+|\b[Aa]n (?!hour|honest)[^aeiou\W]\w+")


@LONG
def test_stories_have_four_to_ten_sentences_and_hold_none_of_the_lectures() -> None:
    for split in SPLITS:
        for story in stories(1500 if ALL else 600, 9, split):
            assert 4 <= len(story) <= 10
            _well_formed(story)
            assert not any(WRONG_ARTICLE.search(sentence) for sentence in story), story


def _well_formed(story: Sequence[str]) -> None:
    assert HELD_OUT.isdisjoint(story)
    assert all(s[0] == '"' or s[0].isupper() for s in story), story
    assert all(s[-1] in '.!?"' and not re.search(r"  |[{<%|␣]", s) for s in story), story


@LONG
@pytest.mark.parametrize("version", WORLDS)
def test_labels_lie_where_the_words_stand(version: str) -> None:
    for story, plain in zip(told_in(version)[:FEW], stories(FEW, 0, version=version), strict=True):
        assert list(story.sentences) == plain
        assert all(story.text[word.start : word.end] == word.text for word in story.words)
        ends = [0, *(word.end for word in story.words)]
        between = "".join(story.text[a : w.start] for a, w in zip(ends, story.words, strict=False))
        assert between.strip() == "" and {word.pos for word in story.words} <= POS


@LONG
@pytest.mark.parametrize(
    ("version", "old"), [*long((VERSION, set())), (NEW, {script.name for script in scripts()})], ids=[VERSION, NEW]
)
def test_every_choice_of_a_line_compiles_and_every_word_has_a_part_of_speech(version: str, old: set[str]) -> None:
    steps = [(n, step) for script in scripts(version) if script.name not in old for n, step in enumerate(script.steps)]
    for number, step in steps:
        for line in {id(line): line for lines in step.lines.values() for line in lines}.values():
            for choice, tense in product({0, line.count // 2, line.count - 1}, ("past", "present")):
                for sentence in line.compiled(lexicon(version), tense, choice, number):
                    assert [item.text for item in sentence.items if item.pos == "X"] == [], line.spell(choice)


@LONG
@pytest.mark.parametrize("version", WORLDS)
def test_mentions_mean_one_kind_and_pronouns_agree_with_their_person(version: str) -> None:
    for story in told_in(version):
        genders: dict[str, set[str]] = {}
        kinds: dict[str, set[str]] = {}
        for mention in story.mentions:
            assert mention.first <= mention.last < len(story.words)
            if len(mention.entities) == 1:
                kinds.setdefault(mention.entities[0], set()).add(mention.kind)
            word = story.words[mention.first].text.lower()
            if mention.form == "pronoun" and len(mention.entities) == 1 and word in statistics.PRONOUN:
                genders.setdefault(mention.entities[0], set()).add(statistics.PRONOUN[word])
        assert all(len(values) == 1 for values in (*genders.values(), *kinds.values())), story.text


def test_a_person_keeps_one_name_and_names_are_not_shared() -> None:
    for story in told():
        names: dict[str, set[str]] = {}
        for mention in story.mentions:
            if mention.kind == "person" and mention.form == "name":
                names.setdefault(mention.entities[0], set()).add(story.words[mention.first].text)
        flat = [name for values in names.values() for name in values]
        assert all(len(values) == 1 for values in names.values()) and len(flat) == len(set(flat))


def test_agreeing_verbs_have_the_form_of_their_number() -> None:
    singular = {verb.present for verb in lexicon().verbs.values()} | {"was", "wasn't", "doesn't", "isn't"}
    plural = {verb.plural for verb in lexicon().verbs.values()} | {"were", "weren't", "don't", "aren't"}
    for story in told():
        for word in story.words:
            if word.number:
                assert word.text.lower() in (singular if word.number == "sg" else plural), (word, story.text)


@pytest.mark.parametrize(
    ("sentence", "verb", "expected"),
    [
        ("{A} <give> the {t} to {B}.", "gave", {"A": "agent", "t": "patient", "B": "recipient"}),
        ("{A} <give> {B} {a t}.", "gave", {"A": "agent", "t": "patient", "B": "recipient"}),
        ("The {t} <be> found by {B} in the {r}.", "found", {"t": "patient", "B": "agent", "r": "place"}),
        ("{A} <be> given/VERB the {t} by {B}.", "given", {"A": "recipient", "t": "patient", "B": "agent"}),
        ('"Look," <=say> {B}.', "say", {"B": "agent"}),
        ("{B}, the {B.job}, <see> {A} and <push> the {t}.", "pushed", {"B": "agent", "t": "patient"}),
        ("{A} <can't> find {A.his} {t}.", "find", {"A": "agent", "t": "patient"}),
        ("{A} <go> with {B} to the {r}.", "went", {"A": "agent", "B": "companion", "r": "goal"}),
    ],
)
def test_roles_are_those_of_a_hand_made_list(sentence: str, verb: str, expected: dict[str, str]) -> None:
    (compiled,) = Line(sentence).compiled(lexicon(), "past", 0, 0)
    events: dict[int, dict[str, str]] = {}
    for event, item, name in compiled.roles:
        events.setdefault(event, {})[compiled.items[item].who[0]] = name
    by_verb = {compiled.items[n].text or compiled.items[n].lemma: roles for n, roles in events.items()}
    assert by_verb[verb] == expected


@LONG
def test_splits_share_no_fact_and_held_out_words_stay_in_the_test() -> None:
    drawers = [drawer for split in SPLITS for drawer in PLACES[split]]
    assert sorted(drawers) == list(range(10))
    held_out = {word.lemma for group in lexicon().held.values() for word in group} - {
        word.lemma for group in lexicon().classes.values() for word in group
    }
    facts = {}
    for split in SPLITS:
        told_stories = list(labelled(1500 if ALL else 500, 2, split))
        facts[split] = {fact for story in told_stories for fact in story.facts}
        assert all(place(*fact) in PLACES[split] for fact in facts[split])
        met = {w.text for story in told_stories for w in story.words} & held_out
        assert len(met) > 60 if split == "test" else not met
    assert not facts["train"] & (facts["test"] | facts["validation"]) and not facts["test"] & facts["validation"]


@LONG
def test_the_world_is_as_varied_and_as_rich_as_its_card_promises() -> None:
    size, form = statistics.size([s.sentences for s in told()]), statistics.skeletons(told())
    grammar, names = statistics.grammar(told()), statistics.names(told())
    assert len(scripts()) >= 40 and 1500 <= size["word types"] <= 2500
    assert form["5-grams with a slot or in three story types"] >= 0.9
    assert form["stories that hold one of the ten most frequent skeletons"] <= 0.07  # 3,000 stories; the card counts 12,000
    assert grammar["sentences with a present-tense verb that agrees"] >= 0.2
    assert grammar["sentences with an agreeing verb past an attractor"] >= 0.03
    assert grammar["pronouns that the latest fitting mention does not resolve"] >= 0.25
    assert names["share of the 25 common names"] == pytest.approx(0.8, abs=0.03)
    counts = Counter(m.kind for story in told() for m in story.mentions if m.form == "name")
    assert 0.7 < counts["organisation"] / counts["place"] < 1.4


def test_what_follows_a_negated_auxiliary_is_a_verb() -> None:
    helping = {"didn't", "don't", "doesn't", "can't", "couldn't", "won't", "wouldn't"}
    for story in told():
        for word, after in zip(story.words, story.words[1:], strict=False):
            if word.text in helping and after.text[0].isalpha():
                assert after.pos in ("VERB", "AUX", "PRON", "ADV"), (word.text, after, story.text)


def test_a_class_holds_words_of_one_part_of_speech() -> None:
    for name, group in lexicon().classes.items():
        assert len({word.pos for word in group}) == 1, name


def test_every_word_of_the_lectures_occurs_the_ambiguous_ones_in_both_senses() -> None:
    met = {word.text.lower() for story in told() for word in story.words}
    wanted = "animal cross street tired wide trophy fit suitcase big small movie bank bat wagon rumbled road car honked keys"
    assert not set(wanted.split()) - met
    senses = Counter(word.sense for story in told() for word in story.words)
    for sense in ("bank.money", "bank.river", "bat.animal", "bat.stick", "play.theatre", "light.lamp", "light.weight"):
        assert senses[sense] >= 20, sense


@lru_cache(maxsize=1)
def sentences() -> tuple[str, ...]:
    """Sentences of training stories, small letters."""
    return tuple(
        sentence.lower() for story in scripted_stories(len(sample(20_000, 1500)), 5, version=NEW) for sentence in story
    )


@pytest.mark.parametrize("version", CARDS)
def test_each_version_is_the_one_that_its_card_describes(version: str) -> None:
    card = (ROOT / "data" / "corpora" / CARDS[version] / "CARD.md").read_text("utf-8")
    assert f"`{statistics.fingerprint(version=version)}`" in card and f"version {version}" in card
    assert sorted(CARDS) == sorted(WORLDS)


def test_version_2_2_adds_what_visitors_type_to_training_and_changes_nothing_else() -> None:
    for split in SPLITS:
        before, now = (list(stories(count, 3, split, version=version)) for count, version in ((60, NEW), (76, "2.2")))
        added = [text for number, text in enumerate(now) if number % 19 > 14] if split == "train" else []
        assert [text for text in now if text not in added][:60] == before
        assert len(added) == (16 if split == "train" else 0)
    told = [" ".join(story) for story in islice(stories(1900, 3, version="2.2"), 15, None, 19)]
    assert any(text.startswith("What is your name? ") for text in told) and any("My name is " in text for text in told)


def test_phrases_hold_only_words_of_training_and_nothing_that_training_keeps_out() -> None:
    """By the table of words and by the pairs themselves, not by the code that leaves such phrases out.

    Some words that plain sentences keep for the test are in stories, which have lists of their own, so every model of 2.0 has read them.
    """
    seen = store.read_tokenizer(store.folder_of("roberta")).seen
    unmet = {word.en for table in (nouns(), adjectives(), names()) for word in table if word.held_out} - (
        seen.words if seen else set()
    )
    pairs = {sentence for pair in plain_pairs() for sentence in pair[1:]}
    read, told = Counter(), list(phrases(len(sample(6000, 1500)), 1))
    for text in told:
        assert all(sentence[0].isupper() or sentence[0] == "I" for sentence in text)
        read.update(word for sentence in text for word in re.findall(r"[A-Za-z]+", sentence))
        assert not pairs.intersection(text) and not re.search(r"[\[\]{}|]|  | [.?!,]", " ".join(text))
        assert not re.search(r"\b[aA] (?=[aeioAEIO])(?!one)|\b[aA]n (?![aeiouhAEIOU])", " ".join(text))
    assert len(unmet) > 10 and not unmet.intersection(read)


@pytest.mark.parametrize("line", ["{A} is [tall.", "{A.her} is tall.", "He [is [very|] tall|sings].", "He is tall"])
def test_a_line_of_phrases_that_cannot_be_read_is_refused_with_its_place(line: str) -> None:
    with pytest.raises(TextError, match="phrases.txt, line 3"):
        check_line(line, "phrases.txt, line 3")


def test_short_texts_stand_beside_long_ones_and_none_holds_a_sentence_of_a_lecture() -> None:
    lengths = Counter(len(story.sentences) for story in new_stories())
    short = sum(count for length, count in lengths.items() if length < 4) / len(new_stories())
    assert min(lengths) == 1 and max(lengths) <= 12 and 0.2 < short < 0.6
    for story in new_stories():
        _well_formed(story.sentences)


def test_pronouns_of_reasons_mean_the_noun_that_can_have_the_reason() -> None:
    """*it* in a reason is labelled with the noun whose class the adjective belongs to, by the word lists alone."""
    classes = {name: {word.lemma for word in group} for name, group in lexicon(NEW).classes.items()}
    seen = Counter()
    for story in new_stories():
        first, _, of_first, of_second = REASONS.get(story.script, ("", "", "", ""))
        for mention in story.mentions if first else ():
            reason = _said(story, mention.last)
            if mention.form != "pronoun" or mention.kind == "person" or reason is None:
                continue
            noun = next(m for m in story.chain(mention.entities[0]) if m.form == "description")
            meant = story.words[noun.last].text.lower()
            assert (reason in classes[of_first] and meant in classes[first]) or reason in classes[of_second], story.text
            seen[reason in classes[of_first]] += 1
    assert min(seen[True], seen[False]) >= 10


def _said(story: Story, pronoun: int) -> str | None:
    """The adjective of *it was too tired*."""
    after = [word.text for word in story.words[pronoun + 1 : pronoun + 5]]
    if after[:1] not in (["was"], ["is"]):
        return None
    return next((word for word in after[1:] if word not in ("too", "so", "much", "very", "not")), None)


def test_no_adjective_of_a_family_can_be_the_reason_of_both_nouns() -> None:
    classes = lexicon(NEW).classes
    for _, _, first, second in REASONS.values():
        assert not {word.lemma for word in classes[first]} & {word.lemma for word in classes[second]}


@pytest.mark.parametrize("split", ["validation", "test"])
def test_training_never_puts_the_words_of_a_reason_pair_into_one_sentence(split: str) -> None:
    apart = set()
    for pair in minimal_pairs("reason", 1000, 3, split):
        texts = [f"{pair.before[n]}␣{pair.after[n]}" for n in (0, 1)]
        apart |= {pair.choices, (pair.choices[0], _differs(*texts)), (pair.choices[1], _differs(*reversed(texts)))}
    assert len(apart) > 100 and (split == "validation" or set(LECTURE) <= apart)
    by_first: dict[str, set[str]] = {}
    for first, second in apart:
        by_first.setdefault(first, set()).add(second)
    assert not [together for together in map(lambda s: _together(s, by_first), sentences()) if together]
    fresh = (sentence.lower() for story in scripted_stories(1500, 5, split, version=NEW) for sentence in story)
    assert any(_together(sentence, by_first) for sentence in fresh)  # where they may meet, they do


def _differs(first: str, other: str) -> str:
    mine, theirs = (re.findall(r"[\w']+", text) for text in (first, other))
    (different,) = [a for a, b in zip(mine, theirs, strict=True) if a != b]
    return different


def _together(sentence: str, apart: dict[str, set[str]]) -> tuple[str, str] | None:
    met = set(re.findall(r"[a-z]+", sentence))
    return next(((word, other) for word in met & set(apart) for other in apart[word] & met), None)


def test_no_training_sentence_has_a_frame_of_the_minimal_pairs() -> None:
    blank = re.compile(r"\\\{\w\\\}|\\\{was\\\}|␣")
    shapes = [re.compile(blank.sub(r"[\\w' ]+", re.escape(frame.lower()))) for frame in (*FRAMES, *NUMBERED, *DENIED)]
    assert all(any(shape.fullmatch(pair.text(0, 0).lower()) for shape in shapes) for pair in minimal_pairs("reason", 60, 3))
    assert not [s for s in sentences() if any(shape.search(s) for shape in shapes)]


@pytest.mark.parametrize("phenomenon", sorted(set(PHENOMENA) - {"il or elle"}))
@pytest.mark.parametrize("inside", [False, True])
def test_the_texts_of_a_minimal_pair_differ_in_one_word(phenomenon: str, inside: bool) -> None:
    examples = minimal_pairs(phenomenon, 40, 3, inside=inside)
    assert len(examples) >= 12
    for pair in examples:
        first, other = (re.findall(r"[\w']+|␣", f"{pair.before[n]}␣{pair.after[n]}") for n in (0, 1))
        differing = [(a, b) for a, b in zip(first, other, strict=True) if a != b]
        articles = [two for two in differing if set(two) <= {"a", "an"}]
        assert len(differing) - len(articles) == 1, pair
        assert pair.choices[0] != pair.choices[1] and bool(pair.story) == inside and pair.rule[0] == pair.rule[1]


def test_french_pairs_are_two_right_translations_that_training_has_not_met() -> None:
    examples = minimal_pairs("il or elle", 12, 3)
    train = {pair.english for pair in pairs(len(sample(60_000, 4000)), 1)}
    for pair in examples:
        assert not train & set(pair.sources) and len(set(pair.sources)) == 2
        for n in (0, 1):
            right, wrong = pair.targets[n]
            assert ("qu'il " in right) != ("qu'elle " in right) and right != wrong


def test_frequent_skeletons_are_hardly_more_frequent_than_before() -> None:
    name = "stories that hold one of the ten most frequent skeletons"
    assert statistics.skeletons(new_stories())[name] <= 0.11  # of few stories


def test_what_is_drawn_from_stories_can_be_drawn_from_the_new_version() -> None:
    examples = list(following(60, 3, version=NEW))
    assert len(examples) == 60 and {pair.follows for pair in examples} == {True, False}
    assert all(len(pair.first) + len(pair.second) >= 4 for pair in examples)
    assert {blank.phenomenon for blank in islice(blanks(300, 3, version=NEW), 400)} >= {"agreement", "a noun said before"}


def test_translations_of_a_version_are_a_corpus_by_name() -> None:
    new = corpus_of("english-french:40")
    assert [text.source for text in new.texts] == [pair.english for pair in pairs(40, 1)]
    assert new.name == f"english-french-{TRANSLATED}:40" and new.base == "english-french" and full_name(new.name) == new.name
    assert full_name("english-french:40") == new.name and full_name("microworld:40") == "microworld:40"
    for former in ("english-french:40", "tasks-as-text:40"):  # as the plan of an earlier version names them
        with pytest.raises(ChoiceError, match=f"{former.split(':')[0]}-1.0 is no longer made"):
            recorded_corpus(former)
    assert [pair.english for pair in new.held(9, "test").gold] == [pair.english for pair in pairs(9, 1, "test")]
    first = corpus_of(f"english-french-{NEW}:40")
    assert [text.source for text in first.texts] == [pair.english for pair in pairs(40, 1, version=NEW)]


@pytest.mark.parametrize("former", FORMER)
def test_a_version_that_is_no_longer_made_is_refused_with_the_command_that_trains_again(former: str) -> None:
    assert former not in CORPORA and former not in FRESH
    for read in (corpus_of, recorded_corpus, fresh):
        for name in (former, f"{former}:120000"):
            with pytest.raises(ChoiceError) as refused:
                read(name)
            found = re.fullmatch(
                r"(.+) is no longer made: `explorer fit (\S+) --corpus (\S+?)(?: --set \S+)?` trains again [^.`]+\.",
                str(refused.value),
            )
            assert found and found[1] == former and found[2] in PRESETS and corpus_of(f"{found[3]}:3").texts
    with pytest.raises(ChoiceError, match="microworld-1.1 is no longer made"):
        next(stories(1, 0, version="1.1"))


@LONG
def test_the_verb_agrees_with_its_subject_past_a_relative_clause() -> None:
    """*The tourist who lived near the stadium was brave.* The first version has *were* in some of these sentences."""
    many, text = (
        {"men", "women", "children"},
        "\n".join(s for story in scripted_stories(6000, 3, version=NEW) for s in story),
    )
    examples = re.findall(r"^The (\w+) who .*? (was|were|is|are) \w+\.$", text, re.M)
    assert len(examples) >= 20
    assert [(who, verb) for who, verb in examples if (who.endswith("s") or who in many) != (verb in ("were", "are"))] == []
