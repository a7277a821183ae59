"""When, how and where: expressions that are translated as a whole, prepositions, names and conjunctions."""

from __future__ import annotations

from explorer.microworld.grammar.tree import Link, ProperName
from explorer.microworld.grammar.words import Adverb

# Which tenses a time goes with: past, to come, habit, now.
TIME_LINES = """
yesterday | hier | past
last night | hier soir | past
last week | la semaine dernière | past
last year | l'année dernière | past
last Sunday | dimanche dernier | past
two days ago | il y a deux jours | past
a long time ago | il y a longtemps | past
this morning | ce matin | past now
tomorrow | demain | come
tonight | ce soir | come
next week | la semaine prochaine | come
next year | l'année prochaine | come
next Monday | lundi prochain | come
soon | bientôt | come
later | plus tard | come
today | aujourd'hui | past come now
every day | tous les jours | habit
every evening | tous les soirs | habit
every week | toutes les semaines | habit
on Sundays | le dimanche | habit
on Mondays | le lundi | habit
in the morning | le matin | habit
in the evening | le soir | habit
at night | la nuit | habit
in summer | en été | habit
in winter | en hiver | habit
now | maintenant | now
at the moment | en ce moment | now
"""
OFTEN_LINES = """
always | toujours
often | souvent
sometimes | parfois
rarely | rarement
usually | d'habitude
"""
MANNER_LINES = """
well | bien | skill
badly | mal | skill
quickly | vite | pace
slowly | lentement | pace care
carefully | soigneusement | care
quietly | doucement | care quiet
happily | joyeusement | joy
"""
LAND_LINES = """
France | France | en
Italy | Italie | en
Spain | Espagne | en
Germany | Allemagne | en
England | Angleterre | en
Canada | Canada | au
Japan | Japon | au
Portugal | Portugal | au
Paris | Paris | à
London | Londres | à
Rome | Rome | à
Berlin | Berlin | à
Lyon | Lyon | à
"""


def _adverbs(lines: str) -> tuple[Adverb, ...]:
    rows = ([cell.strip() for cell in line.split("|")] for line in lines.strip().splitlines())
    return tuple(Adverb(en, fr, tenses="".join(tenses)) for en, fr, *tenses in rows)


TIMES, OFTEN, MANNERS = _adverbs(TIME_LINES), _adverbs(OFTEN_LINES), _adverbs(MANNER_LINES)
ALREADY = Adverb("already", "déjà")
_LANDS = [[cell.strip() for cell in line.split("|")] for line in LAND_LINES.strip().splitlines()]
IN_LANDS = tuple(Adverb(f"in {en}", f"{prep} {fr}") for en, fr, prep in _LANDS)
TO_LANDS = tuple(Adverb(f"to {en}", f"{prep} {fr}") for en, fr, prep in _LANDS)
FROM_LANDS = tuple(
    Adverb(f"from {en}", f"du {fr}" if prep == "au" else f"d'{fr}" if fr[0] in "AEI" else f"de {fr}") for en, fr, prep in _LANDS
)
AT_HOME, GO_HOME = Adverb("at home", "à la maison"), Adverb("home", "à la maison")
BY = tuple(
    Adverb(f"by {en}", f"{fr}")
    for en, fr in (
        ("car", "en voiture"),
        ("bus", "en bus"),
        ("train", "en train"),
        ("plane", "en avion"),
        ("bicycle", "à vélo"),
    )
)

WOMEN = "Anna Clara Emma Lucie Marie Nina Rose Sara Zoé Julie"
MEN = "Adam David Léo Marc Max Oscar Paul Pierre Tom Louis"
NAMES = tuple(ProperName(text, gender) for gender, texts in (("f", WOMEN), ("m", MEN)) for text in texts.split())
TITLES = (Adverb("sir", "monsieur"), Adverb("madam", "madame"))


INSIDE, ON, UNDER = ("in", "dans"), ("on", "sur"), ("under", "sous")
AT, TO, FROM, WITH = ("at", "à"), ("to", "à"), ("from", "de"), ("with", "avec")
FOR, WITHOUT, ALONG, THROUGH = (
    ("for", "pour"),
    ("without", "sans"),
    ("along", "le long de"),
    ("through", "à travers"),
)
NEARBY = (
    ("near", "près de"), ("behind", "derrière"), ("in front of", "devant"),
    ("next to", "à côté de"), ("far from", "loin de"), ("opposite", "en face de"),
)  # fmt: skip

BECAUSE, BUT, AND, SO = (
    Link("because", "parce que"),
    Link("but", "mais", True),
    Link("and", "et", True),
    Link("so", "donc", True),
)
WHEN, WHEN_FIRST, IF_FIRST = Link("when", "quand"), Link("when", "quand", first=True), Link("if", "si", first=True)
WHILE, ALSO, THEN = Link("while", "pendant que"), Link("and", "et"), Link("and then", "et puis")
