"""French verbs: three regular groups, the spelling changes of the first, and a table of the irregular ones.

A form is chosen by a number from 0 to 5: je, tu, il/elle, nous, vous, ils/elles.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

Six = tuple[str, str, str, str, str, str]
TABLE = Path(__file__).parent / "words" / "french_verbs.tsv"  # infinitive, six present forms, stem of the future, participle
PAST = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
# Verbs in -er whose stem changes before a silent e; those in é keep it in the future.
STRONG = {
    "acheter": "achèt", "lever": "lèv", "emmener": "emmèn", "promener": "promèn", "enlever": "enlèv", "préférer": "préfèr",
    "espérer": "espèr", "appeler": "appell", "jeter": "jett", "essayer": "essai", "nettoyer": "nettoi", "envoyer": "envoi",
    "aboyer": "aboi",
}  # fmt: skip


ORDERS = {  # the four whose imperative is a subjunctive
    "être": ("sois", "soyons", "soyez"), "avoir": ("aie", "ayons", "ayez"), "savoir": ("sache", "sachons", "sachez"),
    "vouloir": ("veuille", "veuillons", "veuillez"),
}  # fmt: skip


class Conjugation(NamedTuple):
    """The forms of one French verb that the grammar uses."""

    infinitive: str
    present: Six
    imparfait: Six
    future: Six
    conditional: Six
    participle: str
    orders: tuple[str, str, str]  # to one friend, to us, to anybody else


def _six(stem: str, endings: tuple[str, ...]) -> Six:
    return tuple(stem + ending for ending in endings)  # type: ignore[return-value]


def _soften(stem: str, ending: str) -> str:
    """Keep the sound of c and g before a and o: *mangeons*, *commençait*."""
    if ending[0] in "ao":
        stem = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    return stem + ending


def _first_group(infinitive: str) -> tuple[Six, Six, str, str]:
    stem = infinitive[:-2]
    strong = STRONG.get(infinitive, stem)
    present = (strong + "e", strong + "es", strong + "e", _soften(stem, "ons"), stem + "ez", strong + "ent")
    past: Six = tuple(_soften(stem, ending) for ending in PAST)  # type: ignore[assignment]
    kept = stem if infinitive.endswith("érer") else strong
    return present, past, "enverr" if infinitive == "envoyer" else kept + "er", stem + "é"


def _other_groups(infinitive: str) -> tuple[Six, Six, str, str]:
    """*finir*, *vendre* and the table."""
    stem = infinitive[:-2]
    if infinitive in irregular():
        present, future, participle = irregular()[infinitive]
    elif infinitive.endswith("ir"):
        present, future, participle = _six(stem, ("is", "is", "it", "issons", "issez", "issent")), infinitive, stem + "i"
    else:
        present, future, participle = _six(stem, ("s", "s", "", "ons", "ez", "ent")), infinitive[:-1], stem + "u"
    past = _six("ét" if infinitive == "être" else present[3].removesuffix("ons"), PAST)
    return present, past, future, participle


@cache
def irregular() -> dict[str, tuple[Six, str, str]]:
    """The table of irregular verbs: present, stem of the future, participle."""
    lines = (line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#"))
    return {verb: (tuple(six.split()), future, participle) for verb, six, future, participle in lines}  # type: ignore[misc]


@cache
def conjugate(infinitive: str) -> Conjugation:
    """The forms of a French verb from its infinitive."""
    regular = infinitive.endswith("er") and infinitive not in irregular()
    present, past, future, participle = (_first_group if regular else _other_groups)(infinitive)
    first = infinitive.endswith(("er", "ouvrir", "offrir", "cueillir"))
    familiar = "va" if infinitive == "aller" else present[0] if first else present[1]
    orders = ORDERS.get(infinitive, (familiar, present[3], present[4]))
    return Conjugation(infinitive, present, past, _six(future, FUTURE), _six(future, PAST), participle, orders)
