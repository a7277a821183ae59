"""French verbs: three regular groups, the spelling changes of the first, and a table of the irregular ones.

A form is chosen by a number from 0 to 5: je, tu, il/elle, nous, vous, ils/elles.
"""

from __future__ import annotations

from typing import NamedTuple

Six = tuple[str, str, str, str, str, str]
PAST = ("ais", "ais", "ait", "ions", "iez", "aient")
TO_COME = ("ai", "as", "a", "ons", "ez", "ont")

# infinitive | six present forms | stem of the future | participle
IRREGULAR = """
être | suis es est sommes êtes sont | ser | été
avoir | ai as a avons avez ont | aur | eu
aller | vais vas va allons allez vont | ir | allé
faire | fais fais fait faisons faites font | fer | fait
dire | dis dis dit disons dites disent | dir | dit
lire | lis lis lit lisons lisez lisent | lir | lu
écrire | écris écris écrit écrivons écrivez écrivent | écrir | écrit
conduire | conduis conduis conduit conduisons conduisez conduisent | conduir | conduit
construire | construis construis construit construisons construisez construisent | construir | construit
rire | ris ris rit rions riez rient | rir | ri
sourire | souris souris sourit sourions souriez sourient | sourir | souri
suivre | suis suis suit suivons suivez suivent | suivr | suivi
boire | bois bois boit buvons buvez boivent | boir | bu
croire | crois crois croit croyons croyez croient | croir | cru
voir | vois vois voit voyons voyez voient | verr | vu
savoir | sais sais sait savons savez savent | saur | su
devoir | dois dois doit devons devez doivent | devr | dû
recevoir | reçois reçois reçoit recevons recevez reçoivent | recevr | reçu
pouvoir | peux peux peut pouvons pouvez peuvent | pourr | pu
vouloir | veux veux veut voulons voulez veulent | voudr | voulu
connaître | connais connais connaît connaissons connaissez connaissent | connaîtr | connu
prendre | prends prends prend prenons prenez prennent | prendr | pris
apprendre | apprends apprends apprend apprenons apprenez apprennent | apprendr | appris
comprendre | comprends comprends comprend comprenons comprenez comprennent | comprendr | compris
mettre | mets mets met mettons mettez mettent | mettr | mis
peindre | peins peins peint peignons peignez peignent | peindr | peint
éteindre | éteins éteins éteint éteignons éteignez éteignent | éteindr | éteint
venir | viens viens vient venons venez viennent | viendr | venu
revenir | reviens reviens revient revenons revenez reviennent | reviendr | revenu
souvenir | souviens souviens souvient souvenons souvenez souviennent | souviendr | souvenu
dormir | dors dors dort dormons dormez dorment | dormir | dormi
partir | pars pars part partons partez partent | partir | parti
sortir | sors sors sort sortons sortez sortent | sortir | sorti
ouvrir | ouvre ouvres ouvre ouvrons ouvrez ouvrent | ouvrir | ouvert
offrir | offre offres offre offrons offrez offrent | offrir | offert
courir | cours cours court courons courez courent | courr | couru
pleuvoir | pleus pleus pleut pleuvons pleuvez pleuvent | pleuvr | plu
voudrait | voudrais voudrais voudrait voudrions voudriez voudraient | voudr | voulu
"""

# Verbs in -er whose stem changes before a silent e; those in é keep it in the future.
STRONG = {
    "acheter": "achèt", "lever": "lèv", "emmener": "emmèn", "promener": "promèn", "préférer": "préfèr",
    "espérer": "espèr", "appeler": "appell", "jeter": "jett", "essayer": "essai", "nettoyer": "nettoi",
    "envoyer": "envoi", "aboyer": "aboi",
}  # fmt: skip


class Conjugation(NamedTuple):
    """The forms of one French verb that the grammar uses."""

    infinitive: str
    present: Six
    imparfait: Six
    future: Six
    participle: str
    orders: tuple[str, str]  # to one friend, to anybody else


def _six(stem: str, endings: tuple[str, ...]) -> Six:
    return tuple(stem + ending for ending in endings)  # type: ignore[return-value]


def _soften(stem: str, ending: str) -> str:
    """Keep the sound of c and g before a and o: *mangeons*, *commençait*."""
    if ending[0] in "ao":
        stem = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    return stem + ending


def _first_group(infinitive: str) -> Conjugation:
    stem = infinitive[:-2]
    strong = STRONG.get(infinitive, stem)
    present = (strong + "e", strong + "es", strong + "e", _soften(stem, "ons"), stem + "ez", strong + "ent")
    kept = stem if infinitive.endswith("érer") else strong
    future = "enverr" if infinitive == "envoyer" else kept + "er"
    past: Six = tuple(_soften(stem, ending) for ending in PAST)  # type: ignore[assignment]
    return Conjugation(infinitive, present, past, _six(future, TO_COME), stem + "é", (present[0], present[4]))


def _other_groups(infinitive: str) -> tuple[Six, str, str]:
    """Present, future stem and participle of *finir* and *vendre*."""
    stem = infinitive[:-2]
    if infinitive.endswith("ir"):
        return _six(stem, ("is", "is", "it", "issons", "issez", "issent")), infinitive, stem + "i"
    return _six(stem, ("s", "s", "", "ons", "ez", "ent")), infinitive[:-1], stem + "u"


def _table() -> dict[str, tuple[Six, str, str]]:
    rows = [[cell.strip() for cell in line.split("|")] for line in IRREGULAR.strip().splitlines()]
    return {verb: (tuple(six.split()), future, participle) for verb, six, future, participle in rows}  # type: ignore[misc]


def conjugate(infinitive: str) -> Conjugation:
    """The forms of a French verb from its infinitive."""
    if infinitive.endswith("er") and infinitive not in KNOWN:
        return _first_group(infinitive)
    present, future, participle = KNOWN.get(infinitive) or _other_groups(infinitive)
    past = "ét" if infinitive == "être" else present[3].removesuffix("ons")
    stem = present[0] if infinitive.endswith(("ouvrir", "offrir")) else "va" if infinitive == "aller" else present[1]
    return Conjugation(infinitive, present, _six(past, PAST), _six(future, TO_COME), participle, (stem, present[4]))


KNOWN = _table()
