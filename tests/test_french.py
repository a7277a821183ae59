"""English and French pairs: reference translations, the rules of French checked from outside, alignment, splits, determinism."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from itertools import islice

import pytest
from conftest import ALL, LONG

from explorer.errors import ChoiceError
from explorer.microworld.grammar.conjugation import conjugate
from explorer.microworld.grammar.english import english as said
from explorer.microworld.grammar.pairing import pair_of
from explorer.microworld.grammar.plain import PlainText
from explorer.microworld.grammar.tree import (
    Addressed,
    Both,
    Clause,
    Comparative,
    Complement,
    Counted,
    Exists,
    Features,
    Fronted,
    Gap,
    Home,
    Joined,
    Location,
    Of,
    Phrase,
    Predicate,
    Profession,
    Pronoun,
    ProperName,
    QuestionTree,
    Relative,
    Sentence,
    agreement,
)
from explorer.microworld.grammar.words import Adverb
from explorer.microworld.translation import Pair, adverbs, pairs
from explorer.microworld.translation.frames import FRAMES
from explorer.microworld.translation.frames_describing import AGED, OLD
from explorer.microworld.translation.lexicon import FEMININES, adjective, noun, verb
from explorer.microworld.translation.pairing import LECTURE, combinations, hidden

ANNA, PAUL, OSCAR = ProperName("Anna", "f"), ProperName("Paul", "m"), ProperName("Oscar", "m")
I, YOU, WE, THEY = Pronoun(1), Pronoun(2), Pronoun(1, True), Pronoun(3, True)  # noqa: E741
HE, SHE, IT_F, IT_M = Pronoun(3), Pronoun(3, False, "f"), Pronoun(3, False, "f", True), Pronoun(3, False, "m", True)
THE_GIRLS, HER = Pronoun(3, True, "f"), SHE


def the(fr: str, *adjectives: str, plural: bool = False, det: str = "the", of: object = None) -> Phrase:
    return Phrase(noun(fr), det, plural, tuple(adjective(a) for a in adjectives), of)  # type: ignore[arg-type]


def do(who: object, en: str, fr: str, tense: str = "present", *tail: object, flag: str = "", **rest: object) -> Clause:
    return Clause(who, verb(en, fr, flag), tense, tail=tail, **rest)  # type: ignore[arg-type]


def when(en: str) -> Adverb:
    return next(t for t in adverbs.TIMES + adverbs.OFTEN + adverbs.TO_LANDS if t.en == en)


SHE_ATE = Clause(PAUL, verb("eat", "manger"), "past", object=Gap(agreement(the("pomme"))))
SOLD = Clause(SHE, verb("sell", "vendre"), "past", object=IT_F)
REFERENCES = [
    (do(PAUL, "buy", "acheter", "past", object=the("voiture", "red", det="a")),
     "Paul bought a red car.", "Paul a acheté une voiture rouge."),
    (do(WE, "see", "voir", object=the("maison", "big", det="a")), "We see a big house.", "Nous voyons une grande maison."),
    (do(I, "see", "voir", object=the("homme", "old", det="a")), "I see an old man.", "Je vois un vieil homme."),
    (do(I, "see", "voir", object=the("animal", "beautiful", det="this")),
     "I see this beautiful animal.", "Je vois ce bel animal."),
    (do(I, "buy", "acheter", "will", object=the("ordinateur", "new", det="a")),
     "I will buy a new computer.", "J'achèterai un nouvel ordinateur."),
    (do(SHE, "see", "voir", object=HE), "She sees him.", "Elle le voit."),
    (do(SHE, "give", "donner", object=IT_M, recipient=THEY), "She gives it to them.", "Elle le leur donne."),
    (do(HE, "give", "donner", "past", object=the("livre", det="a"), recipient=I),
     "He gave me a book.", "Il m'a donné un livre."),
    (do(ANNA, "sell", "vendre", "past", object=THE_GIRLS), "Anna sold them.", "Anna les a vendues."),
    (do(ANNA, "phone", "téléphoner", "will", object=HER), "Anna will phone her.", "Anna lui téléphonera."),
    (do(HE, "eat", "manger", negation="not", object=the("pain", det="any")),
     "He does not eat any bread.", "Il ne mange pas de pain."),
    (do(HE, "have", "avoir", negation="no", object=the("pain", det="no")), "He has no bread.", "Il n'a pas de pain."),
    (do(HE, "eat", "manger", object=the("viande", det="some")), "He eats some meat.", "Il mange de la viande."),
    (do(HE, "drink", "boire", object=the("eau", det="")), "He drinks water.", "Il boit de l'eau."),
    (do(HE, "love", "aimer", object=the("fromage", det="")), "He loves cheese.", "Il aime le fromage."),
    (do(SHE, "see", "voir", "perfect", negation="never", object=the("lac")),
     "She has never seen the lake.", "Elle n'a jamais vu le lac."),
    (QuestionTree(do(ANNA, "have", "avoir", object=the("chien", det="a"))), "Does Anna have a dog?", "Est-ce qu'Anna a un chien ?"),
    (Addressed(QuestionTree(Clause(Pronoun(2, False, "f", False, False), tail=(Predicate(adjective("happy")),))), ANNA),
     "Are you happy, Anna?", "Est-ce que tu es heureuse, Anna ?"),
    (QuestionTree(do(ANNA, "live", "habiter"), "where"), "Where does Anna live?", "Où est-ce qu'Anna habite ?"),
    (QuestionTree(do(Gap(Features(2, False, "m")), "eat", "manger", "past", object=the("gâteau")), "who"),
     "Who ate the cake?", "Qui a mangé le gâteau ?"),
    (QuestionTree(do(HE, "meet", "rencontrer", "past", object=Gap(Features(5, True, "f"))), "", the("fille", plural=True, det="how many")),
     "How many girls did he meet?", "Combien de filles est-ce qu'il a rencontrées ?"),
    (do(HE, "explain", "expliquer", "past", object=the("leçon"), recipient=SHE),
     "He explained the lesson to her.", "Il lui a expliqué la leçon."),
    (Clause(ANNA, AGED, object=the("an", plural=True, det="ten"), tail=(OLD,)), "Anna is ten years old.", "Anna a dix ans."),
    (QuestionTree(do(HE, "read", "lire", "progressive", object=Gap(Features(2, False, "m"))), "what"),
     "What is he reading?", "Qu'est-ce qu'il lit ?"),
    (do(PAUL, "love", "aimer", object=the("sœur", of=HE)), "Paul loves his sister.", "Paul aime sa sœur."),
    (do(ANNA, "lose", "perdre", "past", object=the("chapeau", of=SHE)), "Anna lost her hat.", "Anna a perdu son chapeau."),
    (do(ANNA, "lose", "perdre", "past", object=the("écharpe", of=SHE)), "Anna lost her scarf.", "Anna a perdu son écharpe."),
    (do(ANNA, "find", "trouver", "past", object=the("voiture", "old", of=the("professeur"))),
     "Anna found the teacher's old car.", "Anna a trouvé la vieille voiture du professeur."),
    (Exists(the("chat", det="a"), tail=(Location(*adverbs.INSIDE, the("jardin")),)),
     "There is a cat in the garden.", "Il y a un chat dans le jardin."),
    (Exists(the("pain", det="no"), "present", "not", (Location(*adverbs.ON, the("table")),)),
     "There is no bread on the table.", "Il n'y a pas de pain sur la table."),
    (Clause(Relative(the("homme"), do(Gap(agreement(the("homme"))), "sell", "vendre", "past",
     object=the("voiture"))), tail=(Predicate(adjective("rich")),)),
     "The man who sold the car is rich.", "L'homme qui a vendu la voiture est riche."),
    (Clause(Relative(the("pomme"), SHE_ATE), tense="past", tail=(Predicate(adjective("red")),)),
     "The apple that Paul ate was red.", "La pomme que Paul a mangée était rouge."),
    (do(ANNA, "go", "aller", "past", Location(*adverbs.TO, the("gare"))), "Anna went to the station.", "Anna est allée à la gare."),
    (do(THEY, "go", "aller", "past", Location(*adverbs.TO, the("marché"))), "They went to the market.", "Ils sont allés au marché."),
    (do(SHE, "go", "aller", "going", there=True), "She is going to go there.", "Elle va y aller."),
    (do(ANNA, "go", "aller", "present", when("to Canada"), when("every day")),
     "Anna goes to Canada every day.", "Anna va au Canada tous les jours."),
    (do(HE, "go", "aller", "past", Home("to", the("médecin"), False)),
     "He went to the doctor's.", "Il est allé chez le médecin."),
    (do(Both(ANNA, PAUL), "have", "avoir", "past", object=Counted("three")),
     "Anna and Paul had three of them.", "Anna et Paul en avaient trois."),
    (do(SHE, "get", "lever", "past"), "She got up.", "Elle s'est levée."),
    (Clause(ANNA, tail=(Comparative(adjective("tall"), "more", PAUL),)),
     "Anna is taller than Paul.", "Anna est plus grande que Paul."),
    (Clause(the("gâteau", plural=True), tail=(Comparative(adjective("good"), "more", the("pain")),)),
     "The cakes are better than the bread.", "Les gâteaux sont meilleurs que le pain."),
    (Clause(the("église", det="this"), tail=(Of(Phrase(noun("maison"), "most", False, (adjective("old"),)),
     the("ville"), "in"),)),
     "This church is the oldest house in the town.", "Cette église est la plus vieille maison de la ville."),
    (Clause(SHE, tail=(Profession(noun("chanteur")),)), "She is a singer.", "Elle est chanteuse."),
    (Joined(Clause(the("voiture"), tail=(Predicate(adjective("old")),)), adverbs.BUT, do(IT_F, "work", "fonctionner")),
     "The car is old, but it works.", "La voiture est vieille, mais elle fonctionne."),
    (Joined(do(ANNA, "buy", "acheter", "past", object=the("voiture", det="a")), adverbs.BUT, SOLD),
     "Anna bought a car, but she sold it.", "Anna a acheté une voiture, mais elle l'a vendue."),
    (Joined(do(SHE, "arrive", "arriver", "arriving"), adverbs.WHEN_FIRST, do(HE, "leave", "partir", "will")),
     "When she arrives, he will leave.", "Quand elle arrivera, il partira."),
    (Joined(do(IT_M, "rain", "pleuvoir", "present"), adverbs.IF_FIRST, do(HE, "stay", "rester", "will",
     Location(*adverbs.AT, the("hôtel")))),
     "If it rains, he will stay at the hotel.", "S'il pleut, il restera à l'hôtel."),
    (do(SHE, "know", "connaître", object=PAUL), "She knows Paul.", "Elle connaît Paul."),
    (do(SHE, "know", "savoir", "present", Complement(Clause(PAUL, tail=(Predicate(adjective("sad")),)))),
     "She knows that Paul is sad.", "Elle sait que Paul est triste."),
    (do(HE, "walk", "marcher", "was", Location(*adverbs.ALONG, Of(the("rive"), the("canal")))),
     "He was walking along the bank of the canal.", "Il marchait le long de la rive du canal."),
    (do(HE, "work", "travailler", "used", Location(*adverbs.AT, the("banque"))),
     "He used to work at the bank.", "Il travaillait à la banque."),
    (do(the("chauve-souris", plural=True), "fly", "voler"), "The bats fly.", "Les chauves-souris volent."),
    (do(SHE, "buy", "acheter", "past", object=the("batte", det="a")), "She bought a bat.", "Elle a acheté une batte."),
    (do(SHE, "miss", "manquer", object=PAUL), "She misses Paul.", "Paul lui manque."),
    (do(HE, "need", "avoir", object=the("pain", det="")), "He needs bread.", "Il a besoin de pain."),
    (do(ANNA, "play", "jouer", object=the("piano"), flag="music"), "Anna plays the piano.", "Anna joue du piano."),
    (do(PAUL, "play", "jouer", helper=verb("want", "vouloir", "willing"), flag="alone"),
     "Paul wants to play.", "Paul veut jouer."),
    (do(HE, "see", "voir", helper=verb("want", "vouloir", "willing"), negation="not", object=HER),
     "He does not want to see her.", "Il ne veut pas la voir."),
    (do(OSCAR, "sleep", "dormir", helper=verb("can", "pouvoir"), negation="not"),
     "Oscar cannot sleep.", "Oscar ne peut pas dormir."),
    (Fronted(when("yesterday"), do(SHE, "leave", "partir", "past")), "Yesterday, she left.", "Hier, elle est partie."),
    (Addressed(do(YOU, "close", "fermer", "order", object=the("porte")), Adverb("sir", "monsieur")),
     "Close the door, sir!", "Fermez la porte, monsieur !"),
    (do(ANNA, "read", "lire", adverb=when("often"), object=the("livre", det="some", plural=True)),
     "Anna often reads some books.", "Anna lit souvent des livres."),
    (do(HE, "find", "trouver", "past", object=the("clé", "small", det="some", plural=True)),
     "He found some small keys.", "Il a trouvé de petites clés."),
    (Clause(Phrase(FEMININES["student"]), tail=(Predicate(adjective("brave")),)),
     "The student is brave.", "L'étudiante est courageuse."),
]  # fmt: skip


def crossing(reason: str) -> Joined:
    """The lecture's example: what *it* stands for decides between il and elle."""
    it = IT_M if reason == "tired" else IT_F
    first = do(the("animal"), "cross", "traverser", "past", negation="not", object=the("rue"))
    return Joined(first, adverbs.BECAUSE, Clause(it, tense="past", tail=(Predicate(adjective(reason), "too"),)))


WORDS = {
    "english": re.compile(r"'s\b|\w+(?:-\w+)*|[^\w\s]", re.IGNORECASE),
    "french": re.compile(r"aujourd'hui|\w+(?:-\w+)*'?|[^\w\s]", re.IGNORECASE),
}  # of a text; the apostrophe stays with *l'* in French and with *'s* in English


def translate(tree: Sentence) -> Pair:
    return pair_of(PlainText("", "", (tree,), (tuple(said(tree)),), ()))


COUNT = 6000  # pairs in which a rule is looked for,
MANY = 12000 if ALL else COUNT  # and one that rarely applies


@cache
def drawn(split: str = "train", count: int = COUNT) -> tuple[Pair, ...]:
    return tuple(pairs(count, 11, split))


@pytest.mark.parametrize(("tree", "english", "french"), REFERENCES, ids=[r[1] for r in REFERENCES])
def test_a_tree_is_said_as_a_teacher_would(tree: object, english: str, french: str) -> None:
    pair = translate(tree)  # type: ignore[arg-type]
    assert (pair.english, pair.french) == (english, french)


@LONG
def test_it_takes_the_gender_of_what_it_stands_for() -> None:
    tired, wide = translate(crossing("tired")), translate(crossing("wide"))
    assert tired.english == "The animal did not cross the street because it was too tired."
    assert tired.french == "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    assert wide.french == "L'animal n'a pas traversé la rue parce qu'elle était trop large."
    assert not LECTURE & {pair.english for pair in drawn()}


def linked(pair: Pair) -> set[tuple[str, str]]:
    return {(pair.english_words[i], pair.french_words[j]) for i, j in pair.alignment}


LINKS = {
    "Paul bought a red car.": "Paul-Paul a-une red-rouge car-voiture bought-a bought-acheté",
    "She gives it to them.": "it-le to-leur them-leur",
    "Anna found the teacher's old car.": "'s-du teacher-professeur car-voiture the-du",
    "They went to the market.": "to-au the-au",
    "She misses Paul.": "She-lui misses-manque Paul-Paul",
    "He does not want to see her.": "not-ne not-pas her-la",
}


def test_alignment_follows_reordering_and_merging() -> None:
    by_english = {english: linked(translate(tree)) for tree, english, _ in REFERENCES}  # type: ignore[arg-type]
    assert by_english["She sees him."] == {("She", "Elle"), ("sees", "voit"), ("him", "le"), (".", ".")}
    for english, links in LINKS.items():
        assert {tuple(link.split("-")) for link in links.split()} <= by_english[english], english


ARTICLES = {"old", "le", "la", "les", "l'", "du", "de", "des", "d'", "some", "any"}


@LONG
def test_every_word_is_aligned_but_articles_and_years_old_that_the_other_language_leaves_out() -> None:
    for pair in drawn():
        english = {i for i, _ in pair.alignment}
        french = {j for _, j in pair.alignment}
        left = [w for i, w in enumerate(pair.english_words) if i not in english]
        left += [w for j, w in enumerate(pair.french_words) if j not in french]
        assert {w.lower() for w in left} <= ARTICLES, (left, pair)


def test_words_give_back_the_text_and_the_text_the_words() -> None:
    for pair in (*drawn(), *(translate(tree) for tree, _, _ in REFERENCES)):  # type: ignore[arg-type]
        assert tuple(WORDS["english"].findall(pair.english)) == pair.english_words
        assert tuple(WORDS["french"].findall(pair.french)) == pair.french_words
        assert re.sub(r"\s", "", pair.french) == "".join(pair.french_words)
        assert re.sub(r"\s", "", pair.english) == "".join(pair.english_words)
        assert pair.english[0].isupper() and pair.french[0].isupper()
        assert "  " not in pair.english + pair.french


HEARD = "aàâeéèêiîoôuûœ"
ASPIRATED = ("hibou", "huit", "onze", "haut")


def vowel(word: str) -> bool:
    """Whether a French word begins with a sound before which le, de, que … lose their vowel (written here by hand)."""
    word = word.lower()
    return word[0] in HEARD or word == "y" or (word[0] == "h" and not word.startswith(ASPIRATED))


def test_elision_is_made_where_it_must_be_and_nowhere_else() -> None:
    full = {"le", "la", "de", "ne", "que", "je", "me", "te", "se", "ce", "ma", "ta", "sa", "beau", "nouveau"}
    for pair in drawn():
        for word, after in zip(pair.french_words, pair.french_words[1:], strict=False):
            low = word.lower()
            assert not (low in full and vowel(after)), pair.french
            assert not (low.endswith("'") and not vowel(after) and low != "s'"), pair.french
            assert not (low == "si" and after in ("il", "ils")), pair.french
            if low in ("cet", "bel", "nouvel", "vieil"):
                assert vowel(after), pair.french


@LONG
def test_prepositions_and_articles_are_contracted() -> None:
    pronouns = 0
    for pair in drawn(count=MANY):
        assert not re.search(r"\bde (des|du|de)\b", pair.french), pair.french
        for match in re.finditer(r"(\w+) (?:pas |plus |jamais )?(?:de|à) (?:le|les) (\w+)", pair.french):
            # only a pronoun stands uncontracted, after "oublier de", "essayer de", "commencer à" and before an infinitive
            pronouns += 1
            assert re.match(r"oubli|essa|commenc", match[1]) and re.search(r"(er|ir|re|leur|lui)$", match[2]), pair.french
    assert pronouns > 1


# Written by hand for this test: nouns with their gender, adjectives with the four forms they may have.
FEMININE, MASCULINE = (
    frozenset(row.split())
    for row in (
        "voiture maison école église gare table chaise lampe robe chemise pomme fleur porte fenêtre rue ville souris vache photo",
        "livre chat chien train bateau chapeau manteau gâteau hôpital hôtel musée camion piano vélo vase jardin pont ballon",
    )
)
FORMS = [
    "rouge rouge rouges rouges", "grand grande grands grandes", "petit petite petits petites", "vert verte verts vertes",
    "blanc blanche blancs blanches", "noir noire noirs noires", "lourd lourde lourds lourdes", "cher chère chers chères",
    "nouveau nouvelle nouveaux nouvelles", "vieux vieille vieux vieilles", "beau belle beaux belles", "long longue longs longues",
    "vide vide vides vides", "sale sale sales sales", "bleu bleue bleus bleues", "gris grise gris grises",
    "étroit étroite étroits étroites",
]  # fmt: skip
KNOWN = {form: {n for row in FORMS for n, f in enumerate(row.split()) if f == form} for row in FORMS for form in row.split()}
KNOWN |= {"nouvel": {0}, "vieil": {0}, "bel": {0}}
DETERMINERS = {"le": 0, "la": 1, "les": 2, "un": 0, "une": 1, "du": 0, "au": 0, "cette": 1, "ce": 0, "cet": 0, "sa": 1, "ma": 1}


def number(word: str) -> tuple[str, bool]:
    """A noun of the lists above as singular, and whether it was plural."""
    for singular in (word, word.removesuffix("s"), word.removesuffix("x"), word.removesuffix("aux") + "al"):
        if singular in FEMININE | MASCULINE:
            return singular, singular != word
    return "", False


def test_adjectives_beside_a_noun_agree_with_it() -> None:
    checked = 0
    for pair in drawn():
        sentence = [w.lower() for w in pair.french_words]
        for n, word in enumerate(sentence):
            name, plural = number(word)
            if not name or name == "souris":
                continue
            row = (name in FEMININE) + 2 * plural
            for beside in (sentence[n - 1] if n else "", sentence[n + 1]):
                if beside in KNOWN:
                    checked += 1
                    assert row in KNOWN[beside], (word, beside, pair.french)
            before = sentence[n - 1] if n else ""
            if before in DETERMINERS:
                checked += 1
                assert DETERMINERS[before] == (2 if plural else row), (before, word, pair.french)
    assert checked > 800


ÊTRE = r"(suis|es|est|sommes|êtes|sont)"
ENDINGS = {"Elle": "e", "Elles": "es", "Il": "", "Ils": "s", "Nous": "s"}
ENDINGS |= dict.fromkeys(("Anna", "Clara", "Emma", "Lucie", "Marie", "Nina", "Julie", "La reine", "La fille", "Ma mère"), "e")
ENDINGS |= dict.fromkeys(("Adam", "David", "Marc", "Max", "Oscar", "Paul", "Tom", "Le roi", "Le garçon", "Mon père"), "")
MOVED = r"(allé|arrivé|parti|venu|tombé|resté|rentré|sorti)(e?s?)\b"


def test_participles_with_être_agree_with_their_subject() -> None:
    checked = 0
    for pair in drawn(count=MANY):
        match = re.match(rf"^({'|'.join(ENDINGS)}) (?:n'|ne )?(?:y )?{ÊTRE} (?:pas |jamais |déjà |plus )?{MOVED}", pair.french)
        if match:
            checked += 1
            assert match[4] == ENDINGS[match[1]], pair.french
    assert checked > 50


def test_participles_with_avoir_agree_with_an_object_before_them_only() -> None:
    before = 0
    for pair in drawn(count=MANY):
        if re.search(r"\b(la|les|l'|que|qu'|combien|m'|t'|nous|vous)", pair.french.lower()):
            before += bool(re.search(r"(é|u|i)(es|e)\b", pair.french))
            continue
        assert not re.search(r"\b(a|ai|as|avons|avez|ont) (pas |jamais |déjà )?\w+(ée|ées|és)\b", pair.french), pair.french
    assert before > 100


def test_how_many_agrees_with_what_is_counted() -> None:
    checked = 0
    for pair in drawn(count=MANY):
        match = re.search(r"^Combien d['e] ?(\w+) est-ce que? ?.* (?:a|ai|ont|avez|avons) \w+?(e?s)\b ?", pair.french)
        if match and match[1].removesuffix("s") in FEMININE | MASCULINE:
            checked += 1
            assert (match[2] == "es") == (match[1].removesuffix("s") in FEMININE), pair.french
    assert checked > 5


def test_negation_has_both_halves() -> None:
    for pair in drawn():
        french, english = ([w.lower() for w in side] for side in (pair.french_words, pair.english_words))
        denied = sum(w in ("ne", "n'") for w in french)
        assert denied == sum(w in ("pas", "jamais") for w in french) + pair.english.lower().count("no longer"), pair.french
        assert denied == sum(w in ("not", "never", "cannot", "no") for w in english), pair


BESCHERELLE = """
manger | mange manges mange mangeons mangez mangent | mangeais | mangerai | mangé
commencer | commence commences commence commençons commencez commencent | commençais | commencerai | commencé
acheter | achète achètes achète achetons achetez achètent | achetais | achèterai | acheté
préférer | préfère préfères préfère préférons préférez préfèrent | préférais | préférerai | préféré
jeter | jette jettes jette jetons jetez jettent | jetais | jetterai | jeté
nettoyer | nettoie nettoies nettoie nettoyons nettoyez nettoient | nettoyais | nettoierai | nettoyé
envoyer | envoie envoies envoie envoyons envoyez envoient | envoyais | enverrai | envoyé
finir | finis finis finit finissons finissez finissent | finissais | finirai | fini
vendre | vends vends vend vendons vendez vendent | vendais | vendrai | vendu
être | suis es est sommes êtes sont | étais | serai | été
avoir | ai as a avons avez ont | avais | aurai | eu
aller | vais vas va allons allez vont | allais | irai | allé
faire | fais fais fait faisons faites font | faisais | ferai | fait
prendre | prends prends prend prenons prenez prennent | prenais | prendrai | pris
boire | bois bois boit buvons buvez boivent | buvais | boirai | bu
voir | vois vois voit voyons voyez voient | voyais | verrai | vu
écrire | écris écris écrit écrivons écrivez écrivent | écrivais | écrirai | écrit
connaître | connais connais connaît connaissons connaissez connaissent | connaissais | connaîtrai | connu
venir | viens viens vient venons venez viennent | venais | viendrai | venu
courir | cours cours court courons courez courent | courais | courrai | couru
peindre | peins peins peint peignons peignez peignent | peignais | peindrai | peint
offrir | offre offres offre offrons offrez offrent | offrais | offrirai | offert
suivre | suis suis suit suivons suivez suivent | suivais | suivrai | suivi
"""


@pytest.mark.parametrize("line", BESCHERELLE.strip().splitlines())
def test_conjugation(line: str) -> None:
    infinitive, present, past, future, participle = (cell.strip() for cell in line.split("|"))
    match = conjugate(infinitive)
    assert " ".join(match.present) == present
    assert (match.imparfait[0], match.future[0], match.participle) == (past, future, participle)


@LONG
def test_one_english_sentence_has_one_translation() -> None:
    met: dict[str, str] = {}
    for pair in (*drawn(count=MANY), *drawn("test", 1500)):
        assert met.setdefault(pair.english, pair.french) == pair.french


def test_the_same_seed_gives_the_same_pairs_in_every_process() -> None:
    shown = "[(p.english, p.french, p.alignment) for p in pairs(300, 5)]"
    command = [sys.executable, "-c", f"from explorer.microworld.translation import pairs; print({shown})"]
    for seed in ("0", "4321"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        printed = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=True).stdout
        assert printed == f"{[(p.english, p.french, p.alignment) for p in pairs(300, 5)]}\n"
    assert [p.english for p in pairs(50, 6)] != [p.english for p in pairs(50, 5)]
    assert list(pairs(20, 5)) == list(islice(pairs(300, 5), 20))


@LONG
def test_splits_share_no_sentence_and_training_meets_no_hidden_combination() -> None:
    train, validation, test = drawn(), drawn("validation", 1500), drawn("test", 1500)
    texts = [{p.english for p in part} for part in (train, validation, test)]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]
    assert not any(p.unmet for p in train)
    unmet = {c for p in validation + test for c in p.unmet}
    assert len(unmet) > 100 and all(hidden(c) for c in unmet)
    assert 0.1 < sum(bool(p.unmet) for p in test) / len(test) < 0.6


def test_combinations_name_what_a_sentence_joins() -> None:
    tree = do(ANNA, "sell", "vendre", object=the("voiture", "red", det="a"))
    assert sorted(combinations(Joined(tree, adverbs.BUT, do(HE, "work", "travailler")))) == ["red car", "sell car"]


@LONG
def test_there_is_room_to_learn() -> None:
    train = tuple(pairs(20000, 0)) if ALL else drawn()
    assert len({p.english for p in train}) >= 0.95 * len(train)
    assert len({w.lower() for p in train for w in p.english_words}) >= 600
    assert len(FRAMES) >= 60 and {p.frame for p in train} == set(FRAMES)
    assert 6 <= sum(len(p.english_words) for p in train) / len(train) <= 14
    met = {p.english_words[i : i + 4] for p in train for i in range(len(p.english_words) - 3)}
    windows = [p.english_words[i : i + 4] for p in drawn("test", 1500) for i in range(len(p.english_words) - 3)]
    assert sum(four not in met for four in windows) / len(windows) > 0.4


def test_a_wrong_split_or_count_is_explained() -> None:
    for call, message in (
        (lambda: next(pairs(1, 0, "dev")), "train, validation, test"),
        (lambda: next(pairs(-1, 0)), "count=-1"),
        (lambda: next(pairs(1, "a")), "seed='a'"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ChoiceError, match=message):
            call()
