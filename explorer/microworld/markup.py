"""The small language in which stories are written, and what one sentence of it becomes.

`{A}` is a person's name, `{A.he}` `{A.him}` `{A.his}` the pronouns, `{A.job}` what the person is; `{t}` a noun, `{a t}` with its
article, `{t.it}` its pronoun, `{t.s}` its plural; `{=glad}` any word of a class; `{they:A+B}` a word that means several (*them* where
no verb follows). `<go>` is a verb in the story's tense, `<go+>` its plural, `<go@k>` in the number of k, `<go!>` in the present
whatever the tense, `<=move>` any verb of a class, `<~s>` the verb s of the cast. `bank#river` is a word with its sense, `play/NOUN`
one with its part of speech; `[one|other]` is a choice of words; ` || ` stands between two sentences; + and - before one say how it feels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.errors import TextError
from explorer.microworld.forms import capital
from explorer.microworld.items import Item
from explorer.microworld.lexicon import Lexicon
from explorer.microworld.roles import HELPING, roles

PIECE = re.compile(r"\{([^}]+)\}|<([^>]+)>|('s\b|[A-Za-z](?:[\w'-]*\w)?)(?:#(\w+))?(?:/([A-Z]+))?|(\s+)|(.)")
VERB = re.compile(r"([=~]?)([\w']+)(?:#(\w+))?(!?)(?:(\+)|@(\w+))?$")
PRONOUNS = ("he", "him", "his", "himself", "it", "them", "its")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a story in one tense: a format string, what must be drawn for it, and its items."""

    text: str
    draws: tuple[tuple[str, str], ...]
    items: tuple[Item, ...]
    feeling: int
    roles: tuple[tuple[int, int, str], ...]


class Parser:
    """Reads one sentence of the small language."""

    def __init__(self, words: Lexicon, tense: str, prefix: str) -> None:
        self.words, self.tense, self.prefix = words, tense, prefix
        self.out: list[str] = []
        self.items: list[Item] = []
        self.draws: list[tuple[str, str]] = []
        self.start = True

    def read(self, text: str) -> Sentence:
        """The compiled sentence; a leading + or - says how it feels."""
        feeling = {"+": 1, "-": -1}.get(text[0], 0)
        text = text[1:].strip() if feeling else text
        for match in PIECE.finditer(text):
            slot, verb, word, sense, pos, space, mark = match.groups()
            if space:
                self.out.append(" ")
            elif slot:
                self._slot(slot)
            elif verb:
                self._verb(verb)
            elif word:
                self._word(word, sense or "", pos or "")
            else:
                self._mark(mark)
        parsed = tuple(roles(self.items, self.words.participles))
        return Sentence("".join(self.out), tuple(self.draws), tuple(self.items), feeling, parsed)

    def _mark(self, mark: str) -> None:
        opens = mark == '"' and (not self.out or self.out[-1] == " ")
        self.start = opens or mark in ".?!" or (self.start and mark != '"')
        self.out.append(mark)
        self.items.append(Item(mark, "PUNCT"))

    def _word(self, word: str, sense: str, pos: str) -> None:
        tag = pos or self._after_to(word) or self.words.part_of_speech(word, sense) or "X"
        text = self._cap(word)
        self.out.append(text)
        self.items.append(Item(text, tag, self.words.sense(word, sense)))

    def _after_to(self, word: str) -> str:
        """After *to* or an auxiliary a word that can be a verb is one: *to open*, *could help*."""
        before = self.items[-1] if self.items else None
        helped = before is not None and (before.text in ("to", "will", "can", "must") or before.lemma in HELPING)
        return "VERB" if helped and word in self.words.verbs else ""

    def _cap(self, word: str) -> str:
        text, self.start = (capital(word) if self.start else word), False
        return text

    def _draw(self, group: str) -> str:
        if group not in self.words.classes:
            raise TextError(f"A story draws from {group!r}, which is not a class of words. Add it to a list in words/.")
        key = f"{self.prefix}{len(self.draws)}"
        self.draws.append((key, group))
        return key

    def _slot(self, slot: str) -> None:
        if ":" in slot:
            word, _, whom = slot.partition(":")
            text = self._cap(word)
            self.out.append(text)
            self.items.append(Item(text, "PRON", who=tuple(whom.split("+")), form="pronoun"))
            return
        some, slot = slot.startswith("a "), slot.removeprefix("a ")
        drawn = slot.startswith("=")
        key, _, path = slot.lstrip("=").partition(".")
        pos = self.words.pos_of_class(key) if drawn else ""
        key = self._draw(key) if drawn else key
        last = path.rpartition(".")[2]
        form = "pronoun" if last in PRONOUNS else "name" if path == "" and key.isupper() else "description"
        if path in ("job", "kin"):
            path += "."
        attr = "a" if some else "" if path.endswith(".") else last
        whole = self._attr(path, attr or "name", drawn)
        self.out.append(f"{{{key}.{whole}}}")
        who = (key,) if pos in ("", "NOUN", "PROPN") else ()
        self.items.append(Item(pos=pos, key=key, path=whole, who=who, form=form, slot=True))

    def _attr(self, path: str, attr: str, drawn: bool) -> str:
        owner = path.rpartition(".")[0]
        caps = ("name", "a", "he", "his", "it", "its", "s")
        attr = f"cap_{attr}" if self.start and attr in caps else attr
        self.start = False
        return f"{owner}.{attr}" if owner else attr

    def _verb(self, verb: str) -> None:
        match = VERB.match(verb)
        if match is None:
            raise TextError(f"<{verb}> is no verb of a story. Write <go>, <go+>, <go@k>, <go!> or <=class>.")
        drawn, lemma, sense, now, many, owner = match.groups()
        tense = "present" if now else self.tense
        number = owner or ("pl" if many else "sg")
        form = {"pastsg": "past", "pastpl": "past_plural", "presentsg": "present", "presentpl": "plural"}.get(
            tense + number, ""
        )
        name = self.words.sense(lemma, sense) if sense else ""
        if drawn:
            key = self._draw(lemma) if drawn == "=" else lemma
            self.out.append(f"{{{key}.{form}}}")
            self.items.append(Item(key=key, path=form, pos="VERB", lemma=lemma, number=number, slot=True))
        elif owner:
            text = f"{{{owner}.{tense}[{lemma}]}}"
            self.out.append(text)
            self.items.append(Item("", self._pos(lemma), name, owner, f"{tense}[{lemma}]", lemma=lemma, number=number))
        else:
            text = self._cap(getattr(self._known(lemma), form))
            self.out.append(text)
            self.items.append(Item(text, self._pos(lemma), name, lemma=lemma, number=number))
        self.start = False

    def _known(self, lemma: str):  # type: ignore[no-untyped-def]
        if lemma not in self.words.verbs:
            raise TextError(f"A story says <{lemma}>, which is not a verb in the word lists. Add it to words/closed.txt.")
        return self.words.verbs[lemma]

    def _pos(self, lemma: str) -> str:
        self._known(lemma)
        return "AUX" if lemma in ("be", "have", "do", "don't", "won't", "can't", "isn't", "can", "will") else "VERB"


class Line:
    """One way to say a step of a story: a text with choices, compiled when a choice is first made."""

    def __init__(self, text: str) -> None:
        self.parts = [part.split("|") if n % 2 else [part] for n, part in enumerate(re.split(r"[\[\]]", text))]
        self.count = 1
        for part in self.parts:
            self.count *= len(part)
        self.forms: dict[tuple[str, int], tuple[Sentence, ...]] = {}

    def spell(self, choice: int) -> str:
        """The text of one of its `count` choices."""
        text = ""
        for part in self.parts:
            choice, n = divmod(choice, len(part))
            text += part[n]
        text = re.sub(r"\{they:([^}]+)\}(?! <)", r"{them:\1}", text)
        return re.sub(r" +([,.?!])", r"\1", re.sub(r" {2,}", " ", text)).strip()

    def compiled(self, words: Lexicon, tense: str, choice: int, step: int) -> tuple[Sentence, ...]:
        """Its sentences in one tense; the step's number keeps apart what different steps draw."""
        texts = self.spell(choice).split(" || ")
        return tuple(Parser(words, tense, f"_{step}_{n}_").read(text) for n, text in enumerate(texts))
