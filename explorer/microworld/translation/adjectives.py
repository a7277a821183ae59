"""The adjectives: English, French masculine and feminine, on which side of the noun French puts it, and of what it is said."""

ADJECTIVE_LINES = """
big | grand grande | before | thing building room holder outdoors part clothes
small | petit petite | before | thing building room animal young human holder outdoors clothes vehicle fruit
old | vieux vieille | before | thing person animal building vehicle clothes
new | nouveau nouvelle | before | thing building vehicle clothes film job
young | jeune | before | person animal
beautiful | beau belle | before | person animal building thing clothes gift nature outdoors
pretty | joli jolie | before | person clothes gift toy
good | bon bonne | before | food drink job film idea readable
bad | mauvais mauvaise | before | food idea film readable
tall | grand grande | before | person high
fat | gros grosse | before | animal
long | long longue | before | readable way clothes film song
red | rouge | after | thing clothes vehicle gift opening
blue | bleu bleue | after | thing clothes vehicle opening
green | vert verte | after | thing clothes vehicle opening
white | blanc blanche | after | thing clothes vehicle animal gift building opening
black | noir noire | after | thing clothes vehicle animal
yellow | jaune | after | thing clothes vehicle gift
grey | gris grise | after | animal clothes vehicle
brown | marron | after | animal clothes
heavy | lourd lourde | after | thing holder
light | léger légère | after | thing holder
empty | vide | after | holder room building
clean | propre | after | clothes room thing
dirty | sale | after | clothes room thing
expensive | cher chère | after | clothes vehicle thing
rich | riche | after | person
poor | pauvre | after | human
happy | heureux heureuse | after | human
sad | triste | after | person
tired | fatigué fatiguée | after | person animal
sick | malade | after | person animal
angry | fâché fâchée | after | human
strong | fort forte | after | person animal
brave | courageux courageuse | after | person
shy | timide | after | person animal
clever | intelligent intelligente | after | person animal
funny | drôle | after | person film
famous | célèbre | after | person building
serious | sérieux sérieuse | after | person
lazy | paresseux paresseuse | after | person animal
polite | poli polie | after | person
proud | fier fière | after | human
dangerous | dangereux dangereuse | after | animal way
interesting | intéressant intéressante | after | idea film readable
difficult | difficile | after | taught explained asked
easy | facile | after | taught explained asked
important | important importante | after | idea readable
boring | ennuyeux ennuyeuse | after | film readable
useful | utile | after | idea thing machine
hot | chaud chaude | after | warm
cold | froid froide | after | warm
fresh | frais fraîche | after | food drink
French | français française | after | job film readable
English | anglais anglaise | after | job film readable
Italian | italien italienne | after | job film readable
modern | moderne | after | building machine
quiet | calme | after | outdoors way town
wide | large | after | way
narrow | étroit étroite | after | way
wild | sauvage | after | wildlife
"""

INVARIABLE = ("brown",)

COMPARATIVES = {
    "big": ("bigger", "biggest"), "small": ("smaller", "smallest"), "old": ("older", "oldest"),
    "young": ("younger", "youngest"), "pretty": ("prettier", "prettiest"), "good": ("better", "best"),
    "bad": ("worse", "worst"), "tall": ("taller", "tallest"), "fat": ("fatter", "fattest"), "long": ("longer", "longest"),
    "heavy": ("heavier", "heaviest"), "light": ("lighter", "lightest"), "clean": ("cleaner", "cleanest"),
    "dirty": ("dirtier", "dirtiest"), "rich": ("richer", "richest"), "poor": ("poorer", "poorest"),
    "happy": ("happier", "happiest"), "sad": ("sadder", "saddest"), "angry": ("angrier", "angriest"),
    "strong": ("stronger", "strongest"), "brave": ("braver", "bravest"), "clever": ("cleverer", "cleverest"),
    "funny": ("funnier", "funniest"), "lazy": ("lazier", "laziest"), "proud": ("prouder", "proudest"),
    "easy": ("easier", "easiest"), "hot": ("hotter", "hottest"), "cold": ("colder", "coldest"),
    "fresh": ("fresher", "freshest"), "new": ("newer", "newest"), "quiet": ("quieter", "quietest"),
    "wide": ("wider", "widest"), "narrow": ("narrower", "narrowest"), "shy": ("shyer", "shyest"),
}  # fmt: skip
