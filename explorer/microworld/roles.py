"""Who does what to whom: read from the order of a template's items, because English says it by order and prepositions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explorer.microworld.items import Item

BARE = {"be", "look", "feel", "seem", "become", "stand", "lie", "live", "sleep", "sit", "belong", "fall", "hear", "see", "know"}
TWO = {"give", "show", "lend", "send", "bring", "tell", "ask", "teach", "sell", "buy", "throw", "take"}
TOLD = {"tell", "ask", "teach", "thank"}
AIMED = {"look", "point", "laugh", "shout", "smile", "throw"}
BY_PREPOSITION = {
    "from": "source", "with": "companion", "by": "agent", "in": "place", "on": "place", "at": "place", "near": "place",
    "behind": "place", "under": "place", "into": "goal", "to": "goal", "across": "path", "through": "path", "down": "path",
    "along": "path", "past": "path", "for": "beneficiary", "about": "topic", "of": "", "around": "path", "after": "goal",
    "against": "opponent", "onto": "goal", "above": "place", "between": "place",
}  # fmt: skip
BREAKS = {
    ",",
    ";",
    '"',
    ".",
    "?",
    "!",
    ":",
    "because",
    "so",
    "but",
    "when",
    "while",
    "that",
    "who",
    "which",
    "if",
    "until",
    "where",
}
HELPING = ("can", "will", "can't", "won't", "don't", "do", "have")
Found = list[tuple[int, int, str]]  # verb item, mention item, role


def roles(items: Sequence[Item], participles: Mapping[str, str]) -> Found:
    """For every finite verb of a sentence, the items that take part and how."""
    triples: Found = []
    before: list[int] = []
    verbs = [n for n, item in enumerate(items) if item.lemma]
    for n, verb in enumerate(verbs):
        stop = min(next((v for v in verbs[n + 1 :]), len(items)), _end(items, verb))
        passive = _passive(items, verb, participles)
        event = _event(items, verb) if passive is None else passive
        lemma = participles[items[event].text] if passive is not None else items[event].lemma or items[event].text
        role = _subject_role(lemma, passive)
        after = _objects(items, event, stop, lemma)
        if passive is not None and lemma in TWO and any(name in ("patient", "recipient") for _, name in after):
            role, after = "recipient", [(item, "patient" if name == "recipient" else name) for item, name in after]
        if verb and items[verb - 1].text == '"':  # "…," said Anna
            after = [(item, "agent" if name == "patient" else name) for item, name in after]
        before = before if _joined(items, verb) and before else _subjects(items, verb)
        if not before and lemma in BARE:  # in the town there lived a baker
            after = [(item, "theme" if name == "patient" else name) for item, name in after]
        triples += [(event, subject, role) for subject in before]
        triples += [(event, item, name) for item, name in after]
    return _once(items, triples)


def _joined(items: Sequence[Item], verb: int) -> bool:
    """Whether a verb shares the subject of the verb before it: *sings* in `Anna dances and sings`."""
    n = verb - 1
    while n > 0 and items[n].pos == "ADV":
        n -= 1
    return items[n].text in ("and", "or", "but")


def _once(items: Sequence[Item], triples: Found) -> Found:
    """Each participant of an event once: `Anna, the baker,` is one."""
    kept: dict[tuple[int, tuple[str, ...]], tuple[int, int, str]] = {}
    for verb, item, name in triples:
        kept.setdefault((verb, items[item].who), (verb, item, name))
    return list(kept.values())


def _event(items: Sequence[Item], verb: int) -> int:
    """The verb that carries the meaning: *see* in `could see`."""
    if items[verb].lemma in HELPING:
        for n in range(verb + 1, min(verb + 4, len(items))):
            if items[n].pos == "VERB" and not items[n].lemma:
                return n
            if items[n].pos not in ("ADV", "PART"):
                break
    return verb


def _end(items: Sequence[Item], verb: int) -> int:
    return next((n for n in range(verb + 1, len(items)) if items[n].text.lower() in BREAKS), len(items))


def _passive(items: Sequence[Item], verb: int, participles: Mapping[str, str]) -> int | None:
    after = items[verb + 1] if verb + 1 < len(items) else None
    is_passive = items[verb].lemma == "be" and after is not None and after.pos == "VERB" and after.text in participles
    return verb + 1 if is_passive else None


def _subject_role(lemma: str, passive: int | None) -> str:
    if passive is not None:
        return "patient"
    return "theme" if lemma in BARE else "agent"


def _governed(items: Sequence[Item], n: int) -> str:
    """The preposition before a noun phrase, over its article, adjectives and `her friend`."""
    name = items[n].form == "name"
    while n > 0:
        n -= 1
        item = items[n]
        if item.pos == "ADP":
            before = items[n - 1].text.lower() if n else ""
            return "near" if before == "next" else item.text.lower()  # next to
        kin = "kin" in item.path or item.path.endswith("his")
        if not (kin or (not name and item.pos in ("DET", "ADJ", "NUM"))):
            return ""
        name = name and not kin
    return ""


def _meant(item: Item) -> bool:
    return bool(item.who) and item.pos in ("", "NOUN", "PROPN", "PRON") and not item.path.endswith(("his", "its", "kin.name"))


def _subjects(items: Sequence[Item], verb: int) -> list[int]:
    subjects: list[int] = []
    n = verb - 1
    while n >= 0:
        word = items[n].text.lower()
        if word in ("who", "which", "that") and n == verb - 1:
            return _nearest(items, n)
        if items[n].lemma or (word in BREAKS and not (word == "," and _inserted(items, n))):
            break
        if _meant(items[n]) and _governed(items, n) == "":
            subjects.append(n)
        n -= 1
    return sorted(subjects)


def _inserted(items: Sequence[Item], n: int) -> bool:
    """Whether a comma closes or opens words put in between, as in `Anna, the baker, sang`."""
    inside = [k for k in range(max(0, n - 6), min(len(items), n + 7)) if items[k].text == "," and k != n]
    return any(all(not items[k].lemma for k in range(min(n, m), max(n, m))) for m in inside)


def _nearest(items: Sequence[Item], n: int) -> list[int]:
    return next(([k] for k in range(n - 1, max(-1, n - 5), -1) if _meant(items[k])), [])


def _objects(items: Sequence[Item], verb: int, stop: int, lemma: str) -> list[tuple[int, str]]:
    objects: list[tuple[int, str]] = []
    bare: list[int] = []
    for n in range(verb + 1, stop):
        if not _meant(items[n]):
            continue
        by = _governed(items, n)
        if by == "" or by not in BY_PREPOSITION:
            bare.append(n)
        elif BY_PREPOSITION[by]:
            name = "goal" if by == "at" and lemma in AIMED else BY_PREPOSITION[by]
            objects.append((n, "recipient" if by == "to" and lemma in TWO else name))
    if lemma == "be" or lemma in ("feel", "become"):
        return sorted(objects)
    listed = len(bare) > 1 and any(item.text in ("and", ",") for item in items[bare[0] : bare[1]])
    double = lemma in TWO and len(bare) > 1 and not listed
    for n in bare:
        first = n == bare[0]
        objects.append((n, "recipient" if first and (double or lemma in TOLD) else "patient"))
    return sorted(objects)
