"""The plain world: English by rules written here from school grammar, and its gold labels.

The lists and expressions of this file are its own: nothing of the grammar decides what counts as right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import pytest
from conftest import ALL, LONG, SAMPLED

from explorer.microworld import Story
from explorer.microworld.grammar.drawing import Draw
from explorer.microworld.grammar.english import english
from explorer.microworld.grammar.frames import frames
from explorer.microworld.grammar.labelling import labelled_text
from explorer.microworld.grammar.plain import PlainText, plain_texts, spelled
from explorer.microworld.grammar.speaking import Speaker

WORDS = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")


COUNTS = {"everyday": 1_000} | (
    {"plain": 12_000, "exchange": 8_000} if ALL else {"plain": 4_000, "exchange": 3_000}
)  # of training
PART = 1 if ALL else 0.5  # of what full texts hold, where a rule has to apply
FEW = 4_000 if ALL else 1_000  # of each strand, where each is looked at closely


@cache
def drawn(strand: str, split: str = "train", count: int = 0) -> tuple[PlainText, ...]:
    return tuple(plain_texts(count or COUNTS[strand], 17, split, strand=strand))


@cache
def sentences() -> tuple[str, ...]:
    """The sentences of all texts, with straight apostrophes and short forms written out."""
    texts = (text for strand in COUNTS for text in drawn(strand))
    return tuple(written_out(sentence) for text in texts for sentence in text.sentences)


@cache
def tales() -> tuple[Story, ...]:
    """The same texts, fewer of them, with their gold labels."""
    return tuple(labelled_text(text) for strand in COUNTS for text in drawn(strand)[:2000])


FULL = {"m": "am", "re": "are", "s": "is", "ll": "will", "d": "would"}


def written_out(sentence: str) -> str:
    """A sentence without short forms: *she isn't* is *she is not*."""
    text = sentence.replace("’", "'").replace("can't", "cannot").replace("Can't", "Cannot")
    text = re.sub(r"\b(w|W)on't\b", r"\1ill not", text)
    text = re.sub(r"(\w)n't\b", r"\1 not", text)
    return re.sub(r"\b(I|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey)'(m|re|s|ll|d)\b", lambda m: f"{m[1]} {FULL[m[2]]}", text)


@LONG
def test_every_frame_makes_sentences_in_every_tense_and_split() -> None:
    for frame in frames():
        for tenses in frame.tenses:
            for number, split in enumerate(("train", "validation", "test", "train")):
                trees = Speaker(Draw(f"{frame.name} {number}", split), tenses).text(frame)
                spoken = [spelled(english(tree)) for tree in trees]
                assert spoken and all(re.fullmatch(r"[A-Z].*[.?!]", sentence) for sentence in spoken), (frame, spoken)


def faults(pattern: str, allowed: Sequence[str] = ()) -> list[str]:
    """The sentences in which an expression is found, but for those where what it finds is allowed."""
    rule = re.compile(pattern)
    return [f"{match[0]!r} in {s}" for s in sentences() for match in rule.finditer(s) if match[0] not in allowed][:10]


def matches(pattern: str) -> int:
    """How many sentences an expression is found in: a rule that never applies proves nothing."""
    rule = re.compile(pattern)
    return sum(bool(rule.search(sentence)) for sentence in sentences())


def any_of(words: Iterable[str]) -> str:
    """An expression for one of these words."""
    return f"(?:{'|'.join(sorted(words))})"


@LONG
def test_sentences_are_written_as_sentences() -> None:
    for text in (*drawn("plain")[:FEW], *drawn("exchange")[:FEW]):
        for sentence in text.sentences:
            assert re.fullmatch(r"[A-Z][A-Za-z'’,.?! -]*[.?!]", sentence), sentence
            assert not re.search(r"\s[.,?!']|\s\s|[,.?!][A-Za-z]|,[.?!]", sentence), sentence
    assert faults(r"\bi\b|\w n't|['’] ") == []
    assert faults(r"\b([A-Za-z]+),? \1\b", ("her her", "you you", "that that")) == []  # *gives her her book*


@LONG
def test_a_and_an() -> None:
    like_a_consonant, silent = r"(?:uni|use|euro|one\b)", r"(?:hour|honest)"
    assert faults(rf"\b[Aa] (?!{like_a_consonant})[aeiouAEIOU]\w*") == faults(rf"\b[Aa] {silent}") == []
    assert faults(rf"\b[Aa]n (?!{silent})[^aeiouAEIOU]\w*") == faults(rf"\b[Aa]n {like_a_consonant}") == []
    assert matches(r"\b[Aa]n [aeiou]") > 200 * PART and matches(rf"\b[Aa]n? (?:{like_a_consonant}|{silent})") > 20 * PART


MANY = "men women children mice teeth feet shoes gloves trousers glasses books dogs cats boys girls teachers doctors cars houses keys"
SINGLE = "man woman child mouse book dog cat boy girl teacher doctor car house key"
MASS = "bread cheese milk water rice money grass snow music honey butter"


def test_determiners_go_with_their_nouns() -> None:
    many, single, mass = (any_of(row.split()) for row in (MANY, SINGLE, MASS))
    assert faults(rf"\b(?:[Aa]n?|[Ee]very|[Tt]his|[Tt]hat) (?:(?!few )\w+ )?{many}\b", ("that gloves",)) == []
    assert faults(rf"\b(?:[Tt]wo|[Tt]hree|[Mm]any|[Ss]everal|[Tt]hese|[Tt]hose) (?:(?!friend)\w+ )?{single}\b") == []
    assert faults(rf"\b(?:[Aa]n?|[Mm]any|[Tt]wo|[Ss]everal|a few|[Tt]hese|[Tt]hose) (?:\w+ )?{mass}\b(?! )") == []
    assert matches(rf"\b(?:[Tt]wo|[Tt]hree|[Mm]any|[Ss]everal|[Tt]hese|[Tt]hose) (?:\w+ )?{many}\b") > 50 * PART


SUBJECTS = {"I": "am was do have", "you": "are were do have", "we": "are were do have", "they": "are were do have"}
SUBJECTS |= dict.fromkeys(("he", "she", "it"), "is was does has")
FINITE = {word for forms in SUBJECTS.values() for word in forms.split()}
ADVERBS = r"(?:(?:always|often|sometimes|rarely|usually|never|already|just|no longer) )?"
LINKS = r"(?:because|when|if|but|so|while)"


def opening(*subjects: str) -> str:
    """Where a clause begins with one of these subjects."""
    return rf"(?:(?:^|(?<=[,.] )){any_of(s[0].upper() + s[1:] for s in subjects)}|\b{LINKS} {any_of(subjects)}) "


@SAMPLED
@pytest.mark.parametrize("pronoun", SUBJECTS)
def test_a_pronoun_agrees_with_its_verb(pronoun: str) -> None:
    right = set(SUBJECTS[pronoun].split())
    wrong = any_of(FINITE - right)
    assert faults(rf"{opening(pronoun)}{ADVERBS}{wrong}\b") == []
    assert faults(rf"^(?:\w+ )?(?:{wrong}|{any_of(w.capitalize() for w in FINITE - right)}) {pronoun}\b.*\?$") == []
    assert matches(rf"{opening(pronoun)}{any_of(right)}\b") > 20 * PART


BASES = (
    "go eat drink see hear buy find lose write open clean wash carry wear want need love hate like know live work sleep sing "
    "run walk play give send think say"
)


def third(base: str) -> str:
    """The third person of a regular verb, and of *go*."""
    return base[:-1] + "ies" if re.search("[^aeiou]y$", base) else base + ("es" if re.search("(?:[osx]|[cs]h)$", base) else "s")


def test_verbs_agree_with_their_subjects() -> None:
    bases, thirds = any_of(BASES.split()), any_of(map(third, BASES.split()))
    assert faults(rf"{opening('he', 'she')}{ADVERBS}{bases}\b") == []
    assert faults(rf"{opening('I', 'we', 'they')}{ADVERBS}{thirds}\b") == []
    assert matches(rf"{opening('he', 'she')}{ADVERBS}{thirds}\b") > 100 * PART
    many, single = any_of(MANY.split()), any_of(SINGLE.split())
    first = r"^(?:The|This|That|My|Your|Our|An?|Every|These|Those|Two|Three|Some|Many|Several|All the) (?:[a-z]+ )?"
    assert faults(rf"{first}{single} {ADVERBS}(?:are|were|have|do|{bases})\b") == []
    assert faults(rf"{first}{many} {ADVERBS}(?:is|was|has|does|{thirds})\b") == []
    assert matches(rf"{first}{many} {ADVERBS}(?:are|were|have|do|{bases})\b") > 40 * PART


def test_verbs_agree_past_a_noun_between() -> None:
    many, single = any_of(MANY.split()), any_of(SINGLE.split())
    between = r"(?:on|in|under|near|with|behind|next to) the (?:[a-z]+ )?"
    assert faults(rf"^The (?:[a-z]+ )?{single} {between}\w+ (?:are|were|do|have)\b") == []
    assert faults(rf"^The (?:[a-z]+ )?{many} {between}\w+ (?:is|was|does|has)\b") == []
    assert matches(rf"^The (?:[a-z]+ )?{many} {between}\w+ (?:are|were|do|have)\b") > 10 * PART


# Written by hand: base, past, participle.
IRREGULAR = """
go went gone, eat ate eaten, drink drank drunk, see saw seen, hear heard heard, buy bought bought, find found found, lose lost lost,
write wrote written, break broke broken, wear wore worn, know knew known, meet met met, forget forgot forgotten, choose chose chosen,
build built built, hide hid hidden, throw threw thrown, catch caught caught, drive drove driven, ride rode ridden, take took taken,
leave left left, sing sang sung, feed fed fed, bite bit bitten, begin began begun, give gave given, send sent sent, lend lent lent,
sell sold sold, bring brought brought, tell told told, sleep slept slept, run ran run, swim swam swum, fly flew flown, win won won,
come came come, fall fell fallen, get got got, wake woke woken, sit sat sat, think thought thought, say said said, make made made,
speak spoke spoken, steal stole stolen, understand understood understood, draw drew drawn, become became become, have had had
"""
VERBS = [tuple(row.split()) for row in IRREGULAR.replace("\n", " ").split(",")]
BASE, PAST, PARTICIPLE = ({verb[place] for verb in VERBS} for place in range(3))


@LONG
def test_irregular_verbs_keep_their_forms() -> None:
    regular = {base + ("d" if base.endswith("e") else "ed") for base in BASE - {"see", "find"}} | {
        "runned",
        "swimmed",
        "winned",
    }
    assert faults(rf"\b{any_of(regular)}\b") == []
    perfect = r"\b(?:has|have|had|been)(?: not| never| already| just)? "
    assert faults(rf"{perfect}{any_of(PAST - PARTICIPLE)}\b") == [] and matches(perfect + any_of(PARTICIPLE - PAST)) > 50 * PART
    people = opening("I", "he", "she", "we", "they", "you")
    assert faults(rf"{people}{ADVERBS}{any_of(PARTICIPLE - PAST - BASE)}\b") == []
    assert matches(rf"{people}{any_of(PAST - PARTICIPLE)}\b") > 500 * PART
    helped = r"\b(?:will|can|cannot|must|should|might|could|would|did|does|do)(?: not)? "
    assert (
        faults(rf"{helped}(?:{any_of(PAST - BASE)}|{any_of(map(third, BASES.split()))}|(?!need|feed)\w+ed|is|was|has)\b") == []
    )
    assert len([past for past in sorted(PAST) if not matches(rf"\b{past}\b")]) <= (0 if ALL else 2)


AUXILIARIES = "am is are was were do does did have has had will would can cannot could must should might"


def test_questions_begin_with_an_auxiliary_or_a_question_word() -> None:
    auxiliary, asked_of = any_of(AUXILIARIES.split()), r"(?:who|what|which \w+|how many (?:\w+ )?\w+|where|when|why|how)"
    for sentence in sentences():
        if sentence.endswith("?"):
            start = sentence.lower().removeprefix("hello, ").removeprefix("of course. ")
            assert re.match(rf"{auxiliary} (?!not)|{asked_of} ", start), sentence
            if re.match(r"(?:where|when|why) ", start):
                assert re.match(rf"\w+ {auxiliary} ", start), sentence
    assert faults(r"^(?:Does|Did|Is|Are|Was|Were|Where|Why)\b.*[.!]$") == []
    assert matches(r"\?$") > 5000 * PART


def test_negations_have_an_auxiliary_and_are_not_doubled() -> None:
    auxiliary = any_of(AUXILIARIES.split())
    phrase = r"(?: [A-Za-z]+){0,5}?"  # *Is the old woman not …*
    for sentence in sentences():
        if re.search(r"\bnot\b", sentence):
            assert re.search(rf"\b{auxiliary}{phrase} not\b|^Not very|^Do not|\b(?:to|or) not\b|n't", sentence, re.I), sentence
    assert faults(r"\b(?:not|never|cannot) (?:\w+ ){0,3}(?:no|never|not|some|nothing)\b") == []
    assert matches(r"\b(?:did|does|do) not \w+") > 500 * PART


LONGER = "beautiful expensive famous serious dangerous interesting difficult important boring useful comfortable modern patient delicious"
SHORT = """
bigger biggest, smaller smallest, older oldest, younger youngest, taller tallest, better best, worse worst, happier
happiest, easier easiest, hotter hottest, thinner thinnest, fatter fattest, wider widest, nicer nicest, heavier
heaviest, cheaper cheapest, longer longest, faster fastest, richer richest, stronger strongest, kinder kindest, dirtier
dirtiest, lazier laziest, cleaner cleanest, sadder saddest, shorter shortest, higher highest, weaker weakest, braver
bravest, funnier funniest, prouder proudest, shyer shyest, newer newest, noisier noisiest, friendlier friendliest,
deeper deepest, narrower narrowest, lower lowest, slower slowest, prettier prettiest, poorer poorest, cleverer
cleverest, ruder rudest, angrier angriest, darker darkest, brighter brightest, lighter lightest, warmer warmest, colder
coldest, softer softest, harder hardest, quieter quietest, busier busiest, safer safest, sharper sharpest, drier driest,
wetter wettest
"""
GRADED = [tuple(row.split()) for row in SHORT.replace("\n", " ").split(",") if row.strip()]


def test_comparatives_and_superlatives() -> None:
    more, most = ({pair[place] for pair in GRADED} for place in (0, 1))
    for sentence in sentences():
        for form in re.findall(r"\b(?!rather|other)(\w+) than\b", sentence):
            assert form in more or re.search(rf"\b(?:more|less) {form} than\b", sentence), sentence
    assert faults(rf"\b(?:more|most|as|very|too|quite) {any_of(more | most)}\b") == []
    assert faults(rf"\b{any_of(LONGER.split())}(?:er|est)\b") == []
    assert faults(rf"\bthe {any_of(more)} \w+ (?:is|was|are|were)\b") == []
    short, long = (100, 20) if ALL else (60, 8)
    assert matches(rf"\b{any_of(more)} than\b") > short and matches(rf"\bmore {any_of(LONGER.split())} than\b") > long
    assert matches(rf"\b{any_of(most)}\b") > 10 * PART


# Gold labels
CLOSED = {
    "DET": "the a an every", "PRON": "he she him we us they them", "CCONJ": "and or but", "SCONJ": "because if while",
    "ADP": "from behind under into near without", "PART": "'s not", "PUNCT": ", . ? !", "NUM": "two three four ten twelve",
    "AUX": "will would could should must might was were is are am cannot",
}  # fmt: skip
TAGS = {word: tag for tag, row in CLOSED.items() for word in row.split()}
POINTING = ("these", "those")  # *these are mine*, *these books are mine*
TAGS |= {"very": "ADV", "why": "ADV", "yes": "INTJ", "it": "PRON", "you": "PRON"}


def test_labels_lie_on_the_words() -> None:
    for story in tales():
        at = 0
        for word in story.words:
            assert story.text[word.start : word.end] == word.text and not story.text[at : word.start].strip(), story.text
            assert story.sentences[word.sentence] and word.pos, (word, story.text)
            at = word.end
        assert at == len(story.text)


def test_closed_words_have_their_part_of_speech() -> None:
    seen: Counter[str] = Counter()
    wrong = set()
    for story in tales():
        for word, after in zip(story.words, story.words[1:], strict=False):
            low = word.text.lower()
            alone = re.fullmatch(r"(?:is|are|was|were)(?:n['’]t)?|\?", after.text) is not None
            tag = ("PRON" if alone else "DET") if low in POINTING else TAGS.get(low)
            if tag:
                seen[low] += 1
                if word.pos != tag:
                    wrong.add((low, word.pos, story.text))
    assert sorted(wrong)[:10] == []
    assert seen.keys() >= {"the", "he", "because", "will", "two", ".", "not"}


GIRLS = "Anna Clara Emma Ida Lily Maya Nora Sara Zoe Ella Mary Alice Julia Laura Lucy Helen Jane Olivia Eva Kate"
BOYS = "Adam Ben David Frank Hugo Leo Max Oscar Peter Tom Sam John Paul Jack James Daniel Martin Michael Thomas Robert"
PLACES = "Paris London Rome Berlin Madrid Tokyo Dublin Boston France Canada"


def test_names_are_mentions() -> None:
    kinds: Counter[str] = Counter()
    for story in tales():
        named = {place: m for m in story.mentions for place in range(m.first, m.last + 1)}
        for n, word in enumerate(story.words):
            if word.text in (*GIRLS.split(), *BOYS.split(), *PLACES.split()):
                assert word.pos == "PROPN", story.text
                mention = named.get(n)
                assert mention is not None and mention.form == "name", (word.text, story.text)
                assert mention.kind == ("place" if word.text in PLACES.split() else "person"), (word.text, mention, story.text)
                kinds[mention.kind] += 1
    assert kinds["person"] > 500 and kinds["place"] > 50


ANIMALS = {"dog", "cat", "horse", "cow", "rabbit", "lion", "mouse", "bird", "sheep", "wolf"}
NUMBER = {"he": "sg", "she": "sg", "him": "sg", "it": "sg", "they": "pl", "them": "pl", "their": "pl", "his": "sg", "its": "sg"}
GENDER = (
    {"he": "m", "him": "m", "his": "m", "she": "f", "it": "n", "its": "n"}
    | dict.fromkeys(GIRLS.split(), "f")
    | dict.fromkeys(BOYS.split(), "m")
)
GENDER |= dict.fromkeys(["mother", "sister", "aunt", "daughter", "woman", "girl", "grandmother", "wife", "queen"], "f")
GENDER |= dict.fromkeys(["father", "brother", "uncle", "son", "man", "boy", "grandfather", "husband", "king"], "m")
GENDER |= dict.fromkeys(["book", "car", "key", "house", "letter", "table", "cake", "box", "bag", "film"], "n")


def test_chains_agree_in_number_and_gender() -> None:
    chains = 0
    for story in tales():
        entities = {entity for mention in story.mentions for entity in mention.entities}
        for entity in entities:
            chain = [m for m in story.chain(entity) if len(m.entities) == 1]
            texts = [story.words[m.last].text for m in chain]
            numbers = {NUMBER[text.lower()] for text in texts if text.lower() in NUMBER}
            genders = {GENDER.get(text) or GENDER.get(text.lower()) for text in texts} - {None}
            assert len(numbers) <= 1 and len(genders) <= 1, (entity, texts, story.text)
            assert len({m.kind for m in chain}) <= 1, (entity, texts, story.text)
            chains += len(texts) > 1
            nouns = {text.lower() for m, text in zip(chain, texts, strict=True) if m.form == "description"}
            assert len(nouns) <= 1, (nouns, story.text)
            if nouns & ANIMALS:
                assert chain[0].kind == "animal", story.text
    assert chains > 1000


SINGULAR, PLURAL = {"is", "was", "has", "does", "isn't", "doesn't", "wasn't"}, {"are", "were", "have", "do", "aren't", "don't"}


def test_the_number_of_a_verb_is_that_of_its_form() -> None:
    labels: Counter[str] = Counter()
    for story in tales():
        for n, word in enumerate(story.words):
            low = word.text.lower().replace("’", "'")
            if word.number:
                assert word.pos in ("VERB", "AUX"), (word, story.text)
                labels[word.number] += 1
                assert word.number == ("sg" if low in SINGULAR else "pl" if low in PLURAL else word.number), (word, story.text)
                if word.pos == "VERB" and low not in SINGULAR | PLURAL:
                    assert (word.number == "sg") == low.endswith("s") or low in ("miss", "cross"), (word, story.text)
            before = story.words[n - 1].text.lower() if n else ""
            if before in ("he", "she") and low in SINGULAR:
                assert word.number == "sg", (word, story.text)
            if before in ("we", "they") and low in ("are", "were"):
                assert word.number == "pl", (word, story.text)
    assert labels["sg"] > 1000 and labels["pl"] > 300
