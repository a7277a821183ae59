"""Who does what to whom: read from the order of a template's items, because English says it by order and prepositions."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.text.microworld.markup import Item

BARE = {"be", "look", "feel", "seem", "become", "stand", "lie", "live", "sleep", "sit", "belong", "fall", "hear", "see", "know"}
TWO = {"give", "show", "lend", "send", "bring", "tell", "ask", "teach", "sell", "buy", "throw", "take"}
TOLD = {"tell", "ask", "teach", "thank"}
BY_PREPOSITION = {
    "from": "source", "with": "companion", "by": "agent", "in": "place", "on": "place", "at": "place", "near": "place",
    "behind": "place", "under": "place", "into": "goal", "to": "goal", "across": "path", "through": "path", "down": "path",
    "along": "path", "past": "path", "for": "beneficiary", "about": "topic", "of": "", "around": "path", "after": "goal",
    "against": "opponent", "onto": "goal", "above": "place", "between": "place",
}  # fmt: skip
BREAKS = {",", ";", '"', ".", "?", "!", ":", "because", "so", "but", "when", "while", "that", "who", "which", "if", "until", "where"}
Found = list[tuple[int, int, str]]  # verb item, mention item, role


def roles(items: Sequence[Item], participles: dict[str, str]) -> Found:
    """For every finite verb of a sentence, the items that take part and how."""
    found: Found = []
    verbs = [n for n, item in enumerate(items) if item.lemma]
    for n, verb in enumerate(verbs):
        stop = min(next((v for v in verbs[n + 1 :]), len(items)), _end(items, verb))
        passive = _passive(items, verb, participles)
        event = verb if passive is None else passive
        lemma = items[verb].lemma if passive is None else participles[items[event].text]
        before = _subjects(items, verb)
        role = "patient" if passive is not None and "by" in _words(items, verb, stop) else _subject_role(lemma, passive)
        if passive is not None and lemma in ("give", "show", "tell", "teach") and _objects(items, event, stop, "x"):
            role = "recipient"
        found += [(event, subject, role) for subject in before]
        found += [(event, item, name) for item, name in _objects(items, event, stop, lemma)]
    return found


def _words(items: Sequence[Item], start: int, stop: int) -> list[str]:
    return [item.text for item in items[start:stop]]


def _end(items: Sequence[Item], verb: int) -> int:
    return next((n for n in range(verb + 1, len(items)) if items[n].text.lower() in BREAKS), len(items))


def _passive(items: Sequence[Item], verb: int, participles: dict[str, str]) -> int | None:
    after = items[verb + 1] if verb + 1 < len(items) else None
    is_passive = items[verb].lemma == "be" and after is not None and after.pos == "VERB" and after.text in participles
    return verb + 1 if is_passive else None


def _subject_role(lemma: str, passive: int | None) -> str:
    if passive is not None:
        return "patient"
    return "theme" if lemma in BARE else "agent"


def _governed(items: Sequence[Item], n: int) -> str:
    """The preposition before a noun phrase, over its article and adjectives."""
    while n > 0:
        n -= 1
        item = items[n]
        if item.pos == "ADP":
            return item.text.lower()
        if not (item.pos in ("DET", "ADJ", "NUM") or (item.slot and item.form == "description") or item.form == "pronoun"):
            return ""
    return ""


def _meant(item: Item) -> bool:
    return bool(item.who) and not item.path.endswith("his")


def _subjects(items: Sequence[Item], verb: int) -> list[int]:
    found: list[int] = []
    n = verb - 1
    while n >= 0:
        word = items[n].text.lower()
        if word in ("who", "which", "that") and n == verb - 1:
            return _nearest(items, n)
        if items[n].lemma or (word in BREAKS and not (word == "," and _inserted(items, n))):
            break
        if _meant(items[n]) and items[n].pos == "" and _governed(items, n) == "":
            found.append(n)
        elif items[n].form == "pronoun":
            found.append(n)
        n -= 1
    return sorted(found)


def _inserted(items: Sequence[Item], n: int) -> bool:
    """Whether a comma closes or opens words put in between, as in `Anna, the baker, sang`."""
    inside = [k for k in range(max(0, n - 6), min(len(items), n + 7)) if items[k].text == "," and k != n]
    return any(all(not items[k].lemma for k in range(min(n, m), max(n, m))) for m in inside)


def _nearest(items: Sequence[Item], n: int) -> list[int]:
    return next(([k] for k in range(n - 1, max(-1, n - 5), -1) if _meant(items[k])), [])


def _objects(items: Sequence[Item], verb: int, stop: int, lemma: str) -> Found | list[tuple[int, str]]:  # type: ignore[return]
    found: list[tuple[int, str]] = []
    bare: list[int] = []
    for n in range(verb + 1, stop):
        if not _meant(items[n]):
            continue
        by = _governed(items, n)
        if by == "" or by not in BY_PREPOSITION:
            bare.append(n)
        elif BY_PREPOSITION[by]:
            found.append((n, "recipient" if by == "to" and lemma in TWO else BY_PREPOSITION[by]))
    if lemma == "be" or lemma in ("feel", "become"):
        return sorted(found)
    double = lemma in TWO and len(bare) > 1
    for n in bare:
        first = n == bare[0]
        found.append((n, "recipient" if first and (double or lemma in TOLD) else "patient"))
    return sorted(found)
