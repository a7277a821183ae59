"""The words of the microworld, read from the lists in `words/`: classes, forms, facts, parts of speech."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from explorer.errors import FileError, TextError, unknown
from explorer.microworld.forms import article, capital, ing, past, plural, third
from explorer.microworld.versions import VERSION, World, world

FOLDER = Path(__file__).parent / "words"
SPLITS = ("train", "validation", "test")
OFTEN = {"girl": 18, "boy": 18}  # how many times as often as a rare name each common one is drawn
DENIED = {"don't": ("didn't", "didn't", "doesn't", "don't"), "won't": ("wouldn't", "wouldn't", "won't", "won't"),
          "can't": ("couldn't", "couldn't", "can't", "can't"), "isn't": ("wasn't", "weren't", "isn't", "aren't"),
          "can": ("could", "could", "can", "can"), "will": ("would", "would", "will", "will"),
          "be": ("was", "were", "is", "are")}  # fmt: skip
AUXILIARY = {*DENIED, "have", "do"}


def check_split(split: str) -> None:
    """Refuse a name that no split of the world has."""
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)


class Verb:
    """A verb with all its forms."""

    pos, kind, sense = "VERB", "", ""

    def __init__(self, base: str, forms: tuple[str, str] | None = None) -> None:
        self.base, _, sense = base.partition("#")
        self.sense = f"{self.base}.{sense}" if sense else ""
        regular = past(self.base)
        before, self.part = forms or (regular, regular)
        self.past, self.past_plural, self.present, self.plural = DENIED.get(
            self.base, (before, before, third(self.base), self.base)
        )
        self.ing = ing(self.base)
        self.name, self.lemma = self.base, self.base

    def tokens(self, attr: str) -> list[tuple[str, str]]:
        """The one word of a form, with its part of speech."""
        return [(getattr(self, attr), "VERB")]


class Agreeing(dict[str, str]):
    """Lemma to the form that agrees with one number, in one tense."""


class Word:
    """A noun, name, adjective or adverb in one number, with the forms that a sentence may ask for."""

    def __init__(self, text: str, pos: str, *, kind: str = "thing", mass: bool = False, several: str | None = None) -> None:
        bare, _, sense = text.partition("#")
        single = bare.replace("_", " ")
        many = (several or plural(single)).replace("_", " ")
        self.lemma, self.pos, self.kind, self.mass, self.number = single, pos, kind, mass, "sg"
        self.sense = f"{single}.{sense}" if sense else ""
        self.s, self.cap_s = many, capital(many)
        self._spell(single, f"some {single}" if mass else article(single), ("it", "it", "its"))

    def _spell(self, name: str, some: str, pronouns: tuple[str, str, str]) -> None:
        self.name, self.cap_name, self.a, self.cap_a = name, capital(name), some, capital(some)
        self.it, self.them, self.its = pronouns
        self.cap_it, self.cap_its = capital(self.it), capital(self.its)

    def many(self) -> Word:
        """The same noun in the plural."""
        other = Word.__new__(Word)
        other.__dict__.update(self.__dict__)
        other.number = "pl"
        other._spell(self.s, f"some {self.s}", ("they", "them", "their"))
        return other

    def agree(self, tables: dict[tuple[str, str], Agreeing]) -> None:
        """Give the word the verb forms of its number."""
        self.past, self.present = tables[self.number, "past"], tables[self.number, "present"]

    def tokens(self, attr: str) -> list[tuple[str, str]]:
        """The words of one of its forms, each with its part of speech."""
        words = getattr(self, attr).split(" ")
        if attr.endswith(("it", "them", "its")):
            return [(words[0], "PRON")]
        first = [(words.pop(0), "DET")] if attr.endswith("a") and attr in ("a", "cap_a") and self.pos != "ADV" else []
        return first + [(word, self.pos) for word in words]


class Lexicon:
    """Everything that is known about words."""

    def __init__(self, of: World, folder: Path = FOLDER) -> None:
        self.verbs: dict[str, Verb] = {name: Verb(name) for name in DENIED}
        self.classes: dict[str, list[Word | Verb]] = {}
        self.held: dict[str, list[Word | Verb]] = {}
        self.facts: dict[str, dict[str, Word | Verb]] = {}
        self.pos: dict[str, str] = {}
        self.senses: dict[str, str] = {}
        self.nouns: dict[str, Word] = {}
        self.plurals: dict[int, Word] = {}
        early = ("verbs", "closed")  # a function word that is a noun as well counts as a function word
        files = list(of.files(folder))
        for stem in early:
            for path in (file for file in files if file.stem == stem):
                self._read(path)
        for path in (file for file in files if file.stem not in (*early, "facts")):
            self._read(path)
        for path in (file for file in files if file.stem == "facts"):
            self._read_facts(path)
        self.tables = {
            (number, tense): Agreeing({lemma: getattr(verb, form) for lemma, verb in self.verbs.items()})
            for number, tense, form in (
                ("sg", "past", "past"), ("pl", "past", "past_plural"), ("sg", "present", "present"), ("pl", "present", "plural"),
            )
        }  # fmt: skip
        self._finish()

    def _read(self, path: Path) -> None:
        name, pos, options = "", "", []
        for line in lines(path):
            if line.startswith("!"):
                base, before, part = line[2:].split()
                self.verbs[base] = Verb(base, (before, part))
            elif line.startswith("="):
                name, pos, *options = line[2:].split()
                self.classes.setdefault(name, [])
            else:
                for entry in line.split():
                    self._add(name, pos, options, entry)

    def _add(self, name: str, pos: str, options: list[str], entry: str) -> None:
        held_out, entry = entry.startswith("*"), entry.lstrip("*")
        if "#" in entry:
            self.senses[entry.partition("/")[0]] = pos
        text, _, several = entry.partition("/")
        kind = next((option[5:] for option in options if option.startswith("kind:")), "thing" if pos == "NOUN" else "")
        if pos == "VERB":
            word: Word | Verb = self.verbs.setdefault(text.partition("#")[0], Verb(text))
        else:
            sense = text if several == "" or "#" not in several else text + several[several.index("#") :]
            word = Word(text, pos, kind=kind, mass="mass" in options, several=several or None)
            word.sense = Word(sense, pos).sense
            if pos == "NOUN":
                self.nouns.setdefault(word.lemma, word)
        for group in (name, *(o for o in options if ":" not in o and o != "mass")):
            (self.held if held_out else self.classes).setdefault(group, []).append(word)

    def _read_facts(self, path: Path) -> None:
        table: dict[str, Word | Verb] = {}
        group = ""
        for line in lines(path):
            if line.startswith(">"):
                relation, group = line[2:].split()
                table = self.facts.setdefault(relation, {})
                continue
            subject, _, target = line.partition(": ")
            spelled = target.partition("#")[0].replace("_", " ")
            if group == "sounds":
                table[subject] = Verb(target)
                continue
            kind = "place" if group == "workplaces" else "thing"
            noun = self.nouns.setdefault(spelled, Word(target, "NOUN", kind=kind))
            table[subject] = noun
            self.classes.setdefault(group, []).append(noun)

    def _finish(self) -> None:
        for name, options in (*self.classes.items(), *self.held.items()):
            for word in options:
                if isinstance(word, Word):
                    self._register(word, name)
        self.participles = {verb.part: name for name, verb in self.verbs.items()}
        for verb in self.verbs.values():
            for form in (verb.base, verb.past, verb.past_plural, verb.present, verb.plural, verb.part, verb.ing):
                self.pos.setdefault(form, "AUX" if verb.base in AUXILIARY else "VERB")

    def _register(self, word: Word, name: str) -> None:
        self.pos.setdefault(word.lemma, word.pos)
        word.agree(self.tables)
        if word.pos == "NOUN" and not word.mass:
            self.pos.setdefault(word.s, "NOUN")
            if id(word) not in self.plurals:
                self.plurals[id(word)] = word.many()
                self.plurals[id(word)].agree(self.tables)

    def pos_of_class(self, name: str) -> str:
        """The part of speech of a class of words."""
        return self.classes[name][0].pos if self.classes.get(name) else ""

    def sense(self, word: str, sense: str) -> str:
        """The full name of a sense: bank.river, also for *banks*."""
        for entry in self.senses if sense else ():
            base, _, name = entry.partition("#")
            if name == sense and word.lower().startswith(base[: max(3, len(base) - 1)]):
                return f"{base}.{sense}"
        if not sense:
            return ""
        raise TextError(f"A story says {word}#{sense}, a sense that no word list has. Add it to words/closed.txt.")

    def part_of_speech(self, word: str, sense: str = "") -> str:
        """What a word of a template is, by its sense where it has one."""
        for entry, pos in self.senses.items() if sense else ():
            if entry.endswith("#" + sense) and word.lower().startswith(entry.partition("#")[0][:4]):
                return pos
        return self.pos.get(word) or self.pos.get(word.lower()) or ""

    def split(self, split: str) -> dict[str, list[Word | Verb]]:
        """The classes as one split may draw from them: held-out words only in the test, where they make a good quarter."""
        check_split(split)
        by_group = {}
        for name, words in self.classes.items():
            weighted = words * OFTEN.get(name, 1) + self.classes.get(f"rare{name}", [])
            held_out = [*self.held.get(name, []), *self.held.get(f"rare{name}", [])]
            times = max(1, round(len(weighted) / (3 * len(held_out)))) if held_out and split == "test" else 0
            by_group[name] = weighted + held_out * times
        return by_group


def lines(path: Path) -> Iterator[str]:
    """The lines of a list that are not empty and no comment."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise FileError(f"Could not read the word list {path}: {error.strerror}. Install the package again.") from error
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def lexicon(version: str = VERSION) -> Lexicon:
    """The words of one version of the microworld; read once."""
    return _lexicon(version)


@cache
def _lexicon(version: str) -> Lexicon:
    return Lexicon(world(version))
