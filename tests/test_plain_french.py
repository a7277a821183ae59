"""French of the plain world: reference sentences, and the rules of French checked from outside; alignment of the pairs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from itertools import islice

import pytest
from conftest import LONG
from test_plain_world import WORDS

from explorer.errors import ChoiceError
from explorer.microworld.grammar import words
from explorer.microworld.grammar.conjugation import conjugate
from explorer.microworld.grammar.english import english
from explorer.microworld.grammar.frames import PREPOSITIONS
from explorer.microworld.grammar.french import french
from explorer.microworld.grammar.pairing import Pair, aligned, pairs
from explorer.microworld.grammar.plain import hidden, spelled
from explorer.microworld.grammar.tree import (
    NP,
    Addressed,
    Adverb,
    Clause,
    Comparative,
    Complement,
    Exists,
    Features,
    Fronted,
    Gap,
    Joined,
    Lexeme,
    Link,
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

ANNA, PAUL, OSCAR = ProperName("Anna", "f"), ProperName("Paul", "m"), ProperName("Oscar", "m")
I, YOU, WE, THEY = Pronoun(1), Pronoun(2), Pronoun(1, True), Pronoun(3, True)  # noqa: E741
HE, SHE, IT_F, IT_M = Pronoun(3), Pronoun(3, False, "f"), Pronoun(3, False, "f", True), Pronoun(3, False, "m", True)
THE_GIRLS, HER = Pronoun(3, True, "f"), SHE
BUT, BECAUSE = Link("but", "mais", comma=True), Link("because", "parce que")
WHEN_FIRST, IF_FIRST = Link("when", "quand", first=True), Link("if", "si", first=True)


def adjective(en: str) -> words.Adjective:
    return next(a for a in words.adjectives() if a.en == en)


def the(fr: str, *adjectives: str, plural: bool = False, det: str = "the", of: NP | None = None) -> Phrase:
    noun = next(n for n in words.nouns() if n.fr == fr)
    return Phrase(noun, det, plural, tuple(adjective(a) for a in adjectives), of)


def verb(en: str, fr: str, flag: str = "") -> words.TranslatedVerb:
    return next(v for v in words.verbs() if (v.en[0], v.fr.infinitive) == (en, fr) and (not flag or flag in v.flags))


def do(who: NP, en: str, fr: str, tense: str = "present", *tail: object, flag: str = "", **rest: object) -> Clause:
    return Clause(who, verb(en, fr, flag), tense, tail=tail, **rest)  # type: ignore[arg-type]


def when(en: str) -> Adverb:
    return next(t for t in words.adverbs() if t.en == en)


def at(preposition: str, inner: NP) -> Location:
    return Location(preposition.replace("_", " "), PREPOSITIONS[preposition], inner)


AGED = verb("be", "avoir", "aged")
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
    (Clause(ANNA, AGED, object=the("an", plural=True, det="ten"), tail=(when("old"),)), "Anna is ten years old.", "Anna a dix ans."),
    (QuestionTree(do(HE, "read", "lire", "progressive", object=Gap(Features(2, False, "m"))), "what"),
     "What is he reading?", "Qu'est-ce qu'il lit ?"),
    (do(PAUL, "love", "aimer", object=the("sœur", of=HE)), "Paul loves his sister.", "Paul aime sa sœur."),
    (do(ANNA, "lose", "perdre", "past", object=the("chapeau", of=SHE)), "Anna lost her hat.", "Anna a perdu son chapeau."),
    (do(ANNA, "lose", "perdre", "past", object=the("écharpe", of=SHE)), "Anna lost her scarf.", "Anna a perdu son écharpe."),
    (do(ANNA, "find", "trouver", "past", object=the("voiture", "old", of=the("professeur"))),
     "Anna found the teacher's old car.", "Anna a trouvé la vieille voiture du professeur."),
    (Exists(the("chat", det="a"), tail=(at("in", the("jardin")),)),
     "There is a cat in the garden.", "Il y a un chat dans le jardin."),
    (Exists(the("pain", det="no"), "present", "not", (at("on", the("table")),)),
     "There is no bread on the table.", "Il n'y a pas de pain sur la table."),
    (Clause(Relative(the("homme"), do(Gap(agreement(the("homme"))), "sell", "vendre", "past",
     object=the("voiture"))), tail=(Predicate(adjective("rich")),)),
     "The man who sold the car is rich.", "L'homme qui a vendu la voiture est riche."),
    (Clause(Relative(the("pomme"), SHE_ATE), tense="past", tail=(Predicate(adjective("red")),)),
     "The apple that Paul ate was red.", "La pomme que Paul a mangée était rouge."),
    (do(ANNA, "go", "aller", "past", at("to", the("gare"))), "Anna went to the station.", "Anna est allée à la gare."),
    (do(THEY, "go", "aller", "past", at("to", the("marché"))), "They went to the market.", "Ils sont allés au marché."),
    (do(ANNA, "go", "aller", "present", at("to", ProperName("Canada", "m", "Canada", "country", "au")), when("every day")),
     "Anna goes to Canada every day.", "Anna va au Canada tous les jours."),
    (do(SHE, "get", "lever", "past"), "She got up.", "Elle s'est levée."),
    (Clause(ANNA, tail=(Comparative(adjective("tall"), "more", PAUL),)),
     "Anna is taller than Paul.", "Anna est plus grande que Paul."),
    (Clause(the("gâteau", plural=True), tail=(Comparative(adjective("good"), "more", the("pain")),)),
     "The cakes are better than the bread.", "Les gâteaux sont meilleurs que le pain."),
    (Clause(the("église", det="this"), tail=(Of(the("maison", "old", det="most"),
     the("ville"), "in"),)),
     "This church is the oldest house in the town.", "Cette église est la plus vieille maison de la ville."),
    (Clause(SHE, tail=(Profession(the("chanteur").noun),)), "She is a singer.", "Elle est chanteuse."),
    (Joined(Clause(the("voiture"), tail=(Predicate(adjective("old")),)), BUT, do(IT_F, "work", "fonctionner")),
     "The car is old, but it works.", "La voiture est vieille, mais elle fonctionne."),
    (Joined(do(ANNA, "buy", "acheter", "past", object=the("voiture", det="a")), BUT, SOLD),
     "Anna bought a car, but she sold it.", "Anna a acheté une voiture, mais elle l'a vendue."),
    (Joined(do(SHE, "arrive", "arriver", "arriving"), WHEN_FIRST, do(HE, "leave", "partir", "will")),
     "When she arrives, he will leave.", "Quand elle arrivera, il partira."),
    (Joined(do(IT_M, "rain", "pleuvoir", "present"), IF_FIRST, do(HE, "stay", "rester", "will",
     at("at", the("hôtel")))),
     "If it rains, he will stay at the hotel.", "S'il pleut, il restera à l'hôtel."),
    (do(SHE, "know", "connaître", object=PAUL), "She knows Paul.", "Elle connaît Paul."),
    (do(SHE, "know", "savoir", "present", Complement(Clause(PAUL, tail=(Predicate(adjective("sad")),)))),
     "She knows that Paul is sad.", "Elle sait que Paul est triste."),
    (do(HE, "walk", "marcher", "was", at("along", Of(the("rive"), the("canal")))),
     "He was walking along the bank of the canal.", "Il marchait le long de la rive du canal."),
    (do(HE, "work", "travailler", "used", at("at", the("banque"))),
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
    (Clause(Phrase(words.feminines()["student"]), tail=(Predicate(adjective("brave")),)),
     "The student is brave.", "L'étudiante est courageuse."),
]  # fmt: skip


def crossing(reason: str) -> Joined:
    """The lecture's example: what *it* means decides between il and elle."""
    it = IT_M if reason == "tired" else IT_F
    first = do(the("animal"), "cross", "traverser", "past", negation="not", object=the("rue"))
    return Joined(first, BECAUSE, Clause(it, tense="past", tail=(Predicate(adjective(reason), "too"),)))


@cache
def drawn(split: str = "train", count: int = 4000) -> tuple[Pair, ...]:
    return tuple(pairs(count, 11, split))


@pytest.mark.parametrize(("tree", "said", "translated"), REFERENCES, ids=[r[1] for r in REFERENCES])
def test_a_tree_is_said_as_a_teacher_would(tree: Sentence, said: str, translated: str) -> None:
    assert (spelled(english(tree)), spelled(french(tree), "french")) == (said, translated)


def test_it_takes_the_gender_of_what_it_means() -> None:
    tired, wide = (spelled(french(crossing(reason)), "french") for reason in ("tired", "wide"))
    assert spelled(english(crossing("wide"))) == "The animal did not cross the street because it was too wide."
    assert tired == "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    assert wide == "L'animal n'a pas traversé la rue parce qu'elle était trop large."


def linked(tree: Sentence) -> set[tuple[str, str]]:
    first, second = english(tree), french(tree)
    return {(capital(first, i), capital(second, j)) for i, j in aligned(first, second)}


def capital(sentence: list[Lexeme], at: int) -> str:
    return sentence[at].text if at else sentence[at].text[:1].upper() + sentence[at].text[1:]


LINKS = {
    "Paul bought a red car.": "Paul-Paul a-une red-rouge car-voiture bought-a bought-acheté",
    "She gives it to them.": "it-le to-leur them-leur",
    "Anna found the teacher's old car.": "'s-du teacher-professeur car-voiture the-du",
    "They went to the market.": "to-au the-au",
    "She misses Paul.": "She-lui misses-manque Paul-Paul",
    "He does not want to see her.": "not-ne not-pas her-la",
}


def test_alignment_follows_reordering_and_merging() -> None:
    by_english = {said: linked(tree) for tree, said, _ in REFERENCES}
    assert by_english["She sees him."] == {("She", "Elle"), ("sees", "voit"), ("him", "le"), (".", ".")}
    for said, links in LINKS.items():
        assert {tuple(link.split("-")) for link in links.split()} <= by_english[said], said


FUNCTION = {
    "old",
    "le",
    "la",
    "les",
    "l'",
    "du",
    "de",
    "des",
    "d'",
    "some",
    "any",
    "un",
    "une",
    "a",
    "an",
    "que",
    "qu'",
    "pour",
    "à",
    "that",
    "ce",
    "c'",
}


@LONG
def test_every_content_word_is_aligned_and_indices_are_in_range() -> None:
    for pair in drawn():
        rows, columns = ({link[side] for link in pair.alignment} for side in (0, 1))
        assert max(rows) < len(pair.english_words) and max(columns) < len(pair.french_words) and min(rows | columns) >= 0
        left = [w for i, w in enumerate(pair.english_words) if i not in rows]
        left += [w for j, w in enumerate(pair.french_words) if j not in columns]
        assert {w.lower() for w in left} <= FUNCTION, (left, pair)


@LONG
def test_words_give_back_the_text() -> None:
    for pair in drawn():
        assert re.sub(r"\s", "", pair.french) == "".join(pair.french_words)
        assert re.sub(r"\s", "", pair.english) == "".join(pair.english_words)
        assert pair.english[0].isupper() and pair.french[0].isupper() and "  " not in pair.english + pair.french
        assert not re.search(r"\s[.,']|[^\s][?!]", pair.french), pair.french


HEARD = "aàâeéèêiîoôuûœ"
ASPIRATED = ("hibou", "huit", "onze", "haut", "hamster", "hérisson", "hache", "haricot", "héros")


def vowel(word: str) -> bool:
    """Whether a French word begins with a sound before which le, de, que … lose their vowel (written here by hand)."""
    word = word.lower()
    return word[0] in HEARD or word == "y" or (word[0] == "h" and not word.startswith(ASPIRATED))


def test_elision_is_made_where_it_must_be_and_nowhere_else() -> None:
    full = {"le", "la", "de", "ne", "que", "je", "me", "te", "se", "ce", "ma", "ta", "sa", "beau", "nouveau"}
    for pair in drawn():
        for before, word, after in zip(("", *pair.french_words), pair.french_words, pair.french_words[1:], strict=False):
            low = word.lower()
            if before.startswith(("fai", "fer")) and low == "beau":  # the weather: no noun follows
                continue
            assert not (low in full and vowel(after)), pair.french
            assert not (low.endswith("'") and not vowel(after) and low != "s'"), pair.french
            assert not (low == "si" and after in ("il", "ils")), pair.french
            if low in ("cet", "bel", "nouvel", "vieil"):
                assert vowel(after), pair.french


def test_prepositions_and_articles_are_contracted() -> None:
    for pair in drawn():
        assert not re.search(r"\bde (des|du|de)\b", pair.french), pair.french
        for match in re.finditer(r"(\w+) (?:pas |plus |jamais )?(?:de|à) (?:le|les) (\w+)", pair.french):
            # only a pronoun stays apart: after "oublier de", "essayer de", "commencer à" and before an infinitive
            assert re.match(r"oubli|essa|commenc|décid|demand|dit|prom", match[1]), pair.french
            assert re.search(r"(er|ir|re|leur|lui)$", match[2]), pair.french
    assert sum(bool(re.search(r"\b(au|aux|du|des)\b", pair.french)) for pair in drawn()) > 500


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
            if not name or name == "souris" or sentence[n - 1] == "appareil":
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
    assert checked > 500


ÊTRE = r"(suis|es|est|sommes|êtes|sont)"
ENDINGS = {"Elle": "e", "Elles": "es", "Il": "", "Ils": "s", "Nous": "s"}
ENDINGS |= dict.fromkeys(("Anna", "Clara", "Emma", "Lucie", "Marie", "Nina", "Julie", "La reine", "La fille", "Ma mère"), "e")
ENDINGS |= dict.fromkeys(("Adam", "David", "Marc", "Max", "Oscar", "Paul", "Tom", "Le roi", "Le garçon", "Mon père"), "")
MOVED = r"(allé|arrivé|parti|venu|tombé|resté|rentré|sorti)(e?s?)\b"


def test_participles_with_être_agree_with_their_subject() -> None:
    checked = 0
    for pair in drawn():
        match = re.match(rf"^({'|'.join(ENDINGS)}) (?:n'|ne )?(?:y )?{ÊTRE} (?:pas |jamais |déjà |plus )?{MOVED}", pair.french)
        if match:
            checked += 1
            assert match[4] == ENDINGS[match[1]], pair.french
    assert checked > 20


def test_participles_with_avoir_agree_with_an_object_before_them_only() -> None:
    before = 0
    for pair in drawn():
        if re.search(r"\b(la|les|l'|que|qu'|combien|m'|t'|nous|vous)", pair.french.lower()):
            before += bool(re.search(r"(é|u|i)(es|e)\b", pair.french))
            continue
        assert not re.search(r"\b(a|ai|as|avons|avez|ont) (pas |jamais |déjà )?\w+(ée|ées|és)\b", pair.french), pair.french
    assert before > 30


def test_how_many_agrees_with_what_is_counted() -> None:
    checked = 0
    for pair in drawn():
        match = re.search(r"^Combien d['e] ?(\w+) est-ce que? ?.* (?:a|ai|ont|avez|avons) \w+?(e?s)\b ?", pair.french)
        if match and match[1].removesuffix("s") in FEMININE | MASCULINE:
            checked += 1
            assert (match[2] == "es") == (match[1].removesuffix("s") in FEMININE), pair.french
    assert checked > 1


def test_negation_has_both_halves() -> None:
    for pair in drawn():
        if re.search("ne va pas|ne fait rien|n'était rien", pair.french):  # idioms: *What is wrong?*
            continue
        french = [w.lower() for w in pair.french_words]
        english = WORDS.findall(re.sub(r"No[,.]|No problem|Not very well", "", pair.english).replace("’", "'").lower())
        denied = sum(w in ("ne", "n'") for w in french)
        halves = sum(w in ("pas", "jamais") for w in french) - len(re.findall("Pas de problème|Pas très bien", pair.french))
        assert denied == halves + pair.english.lower().count("no longer"), pair.french
        assert denied == sum(w in ("not", "never", "cannot", "no") or w.endswith("n't") for w in english), pair


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


def test_the_same_seed_gives_the_same_pairs_in_every_process() -> None:
    shown = "[(p.english, p.french, p.alignment) for p in pairs(100, 5)]"
    command = [sys.executable, "-c", f"from explorer.microworld.grammar.pairing import pairs; print({shown})"]
    for seed in ("0", "4321"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        printed = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=True).stdout
        assert printed == f"{[(p.english, p.french, p.alignment) for p in pairs(100, 5)]}\n"
    assert [p.english for p in pairs(50, 6)] != [p.english for p in pairs(50, 5)]
    assert list(pairs(20, 5)) == list(islice(pairs(100, 5), 20))


@LONG
def test_splits_share_no_text_and_training_meets_no_hidden_combination() -> None:
    train, validation, test = drawn(), drawn("validation", 1500), drawn("test", 1500)
    texts = [{p.english for p in part} for part in (train, validation, test)]
    assert not texts[0] & texts[1] and not texts[0] & texts[2] and not texts[1] & texts[2]
    assert not any(p.unmet for p in train)
    unmet = {c for p in validation + test for c in p.unmet}
    assert len(unmet) > 100 and all(hidden(c) for c in unmet)


def test_what_visitors_type_first_is_in_training_from_version_2_1_on_and_from_2_2_on_alone_too() -> None:
    first = {
        "What is your name?": "Comment vous appelez-vous ?",
        "How old are you?": "Quel âge avez-vous ?",
        "Birds can fly.": "Les oiseaux peuvent voler.",
    }
    found = {version: {p.english: p.french for p in pairs(4800, 3, version=version)} for version in ("2.0", "2.1", "2.2")}
    said = {version: {asked for text in texts for asked in first if text.startswith(asked)} for version, texts in found.items()}
    assert said == {"2.0": set(), "2.1": {*first}, "2.2": {*first}}
    assert {text: french for text, french in found["2.2"].items() if text in first} == first
    assert {text for text in found["2.1"] if text in first} == {"Birds can fly."}
    for split in ("validation", "test"):
        texts = [pair.english for pair in pairs(300, 3, split)]
        assert not [text for text in texts if text.startswith(tuple(first))], split


@LONG
def test_one_english_text_has_one_translation() -> None:
    met: dict[str, str] = {}
    for pair in (*drawn(), *drawn("test", 1500)):
        assert met.setdefault(pair.english, pair.french) == pair.french


def test_a_wrong_split_count_or_version_is_explained() -> None:
    for call, message in (
        (lambda: next(pairs(1, 0, "dev")), "train, validation, test"),
        (lambda: next(pairs(-1, 0)), "count=-1"),
        (lambda: next(pairs(1, "a")), "seed='a'"),  # type: ignore[arg-type]
        (lambda: next(pairs(1, 0, version="9")), "Choose one of: 2.0, 2.1, 2.2"),
    ):
        with pytest.raises(ChoiceError, match=message):
            call()
