"""A first, small corpus: short stories made from a seed, so that the first models have something to learn.

Every story has people who keep their name and pronoun, and reasons that follow from what happened:
*it was too tired* is said of what can be tired, *it was too wide* of what can be wide. The sentences of the
lectures are never generated (`HELD_OUT`), so a lesson may show them as new.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

HELD_OUT = (
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The trophy didn't fit in the suitcase because it was too big.",
    "The trophy didn't fit in the suitcase because it was too small.",
)

GIRLS = ("Anna", "Clara", "Emma", "Ida", "Lily", "Maya", "Nora", "Rose", "Sara", "Zoe")
BOYS = ("Adam", "Ben", "David", "Frank", "Hugo", "Leo", "Max", "Oscar", "Peter", "Tom")
JOBS = ("baker", "doctor", "farmer", "painter", "sailor", "singer", "tailor", "teacher", "vet", "writer")
ANIMALS = ("animal", "bear", "cat", "cow", "dog", "donkey", "duck", "goat", "horse", "sheep")
PATHS = ("bridge", "canal", "field", "path", "river", "road", "square", "street", "track", "yard")
THINGS = ("ball", "book", "cake", "clock", "guitar", "hat", "jacket", "lamp", "radio", "trophy", "vase", "violin")
BOXES = ("bag", "basket", "box", "case", "chest", "cupboard", "drawer", "suitcase")
ROOMS = ("attic", "bedroom", "cellar", "garage", "garden", "hall", "kitchen", "office")
PLACES = tuple(
    ["bank", "beach", "cinema", "harbour", "library", "market", "museum", "park", "school", "station", "theatre", "town"]
)
COLOURS = ("black", "blue", "brown", "golden", "green", "grey", "red", "silver", "white", "yellow")
FOODS = ("bread", "butter", "cheese", "honey", "milk", "rice", "soup", "tea")
ALIVE = ("tired", "afraid", "hungry", "thirsty", "weak", "sick")
FLAT = ("wide", "muddy", "long", "busy", "steep", "icy")


@dataclass(frozen=True)
class Person:
    """Someone in a story, with the words that stand for them."""

    name: str
    he: str
    him: str
    his: str
    job: str


def a(noun: str) -> str:
    """The noun with its article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def people(chance: random.Random) -> tuple[Person, Person]:
    """Two people with different names."""
    names = chance.sample(GIRLS + BOYS, 2)
    return tuple(  # type: ignore[return-value]
        Person(n, *(("she", "her", "her") if n in GIRLS else ("he", "him", "his")), job)
        for n, job in zip(names, chance.sample(JOBS, 2), strict=True)
    )


def opening(chance: random.Random, who: Person) -> str:
    """The first sentence: who it is about."""
    return chance.choice(
        (
            f"{who.name} was {a(who.job)} in a small town.",
            f"Once there was {a(who.job)} called {who.name}.",
            f"{who.name} worked as {a(who.job)} near the {chance.choice(PLACES)}.",
            f"The {who.job} was called {who.name}.",
        )
    )


def ending(chance: random.Random, who: Person, glad: bool) -> str:
    """The last sentence: how it felt."""
    mood = chance.choice(("happy", "glad", "proud") if glad else ("sad", "angry", "lonely"))
    return chance.choice(
        (f"In the end {who.name} was {mood}.", f"That evening {who.he} was {mood}.", f"So {who.name} felt {mood}.")
    )


def crossing(chance: random.Random) -> list[str]:
    """An animal will not cross, because of what it is or because of what the way is."""
    who, friend = people(chance)
    animal, path, food = chance.choice(ANIMALS), chance.choice(PATHS), chance.choice(FOODS)
    alive = chance.random() < 0.5
    reason = chance.choice(ALIVE if alive else FLAT)
    verb = chance.choice(("didn't cross", "would not cross", "could not cross"))
    story = [
        opening(chance, who),
        f"{who.he.capitalize()} had {a(chance.choice(COLOURS))} {animal}.",
        f"The {animal} {verb} the {path} because it was too {reason}.",
    ]
    if alive:
        story += [f"{who.name} gave the {animal} some {food}.", f"Then it was not {reason} any more and it crossed the {path}."]
    else:
        story += [f"{friend.name} knew another {path}.", f"It was not {reason}, and the {animal} crossed it."]
    return [*story, ending(chance, who, True)]


def packing(chance: random.Random) -> list[str]:
    """A thing does not fit, because it is too big or because what should hold it is too small."""
    who, friend = people(chance)
    thing, box = chance.choice(THINGS), chance.choice(BOXES)
    big = chance.random() < 0.5
    size = chance.choice(("big", "large", "heavy") if big else ("small", "little", "narrow"))
    story = [
        opening(chance, who),
        f"{who.he.capitalize()} wanted to take the {thing} to {friend.name}.",
        f"The {thing} didn't fit in the {box} because it was too {size}.",
    ]
    story.append(f"So {who.he} bought {a('smaller ' + thing) if big else a('bigger ' + box)}.")
    return [*story, f"{friend.name} thanked {who.him} for the {thing}.", ending(chance, friend, True)]


def losing(chance: random.Random) -> list[str]:
    """Something is lost and looked for."""
    who, friend = people(chance)
    thing, colour, room = chance.choice(THINGS), chance.choice(COLOURS), chance.choice(ROOMS)
    found = chance.random() < 0.6
    story = [
        opening(chance, who),
        f"One day {who.he} could not find {who.his} {colour} {thing}.",
        f"{who.name} looked for the {thing} in the {chance.choice(ROOMS)} and asked {friend.name}.",
        f'"I saw your {thing} in the {room}," said {friend.name}.',
    ]
    if found:
        story.append(f"{who.name} went to the {room} and there was the {colour} {thing}.")
    else:
        story.append(f"{who.name} went to the {room}, but the {thing} was not there.")
    return [*story, ending(chance, who, found)]


def walking(chance: random.Random) -> list[str]:
    """Two people go somewhere, and the weather matters."""
    who, friend = people(chance)
    rain = chance.random() < 0.5
    place, animal = chance.choice(PLACES), chance.choice(ANIMALS)
    return [
        f"It was a {'rainy' if rain else 'sunny'} day.",
        f"{who.name} and {friend.name} walked to the {place}.",
        f"They saw {a(animal)} near the {chance.choice(PATHS)}.",
        f"{who.name} was {'wet' if rain else 'hot'} because {who.he} had no {'jacket' if rain else 'hat'}.",
        f"{friend.name} gave {who.him} {friend.his} {'jacket' if rain else 'hat'}.",
        ending(chance, who, True),
    ]


def breaking(chance: random.Random) -> list[str]:
    """Something breaks, and somebody is sorry."""
    who, friend = people(chance)
    thing, colour = chance.choice(THINGS), chance.choice(COLOURS)
    sorry = chance.random() < 0.6
    story = [
        f"{who.name} had {a(colour)} {thing} in the {chance.choice(ROOMS)}.",
        f"{friend.name}, the {friend.job}, ran through the room and hit the {thing}.",
        f"The {thing} fell and it broke.",
    ]
    if sorry:
        story += [f'"I am sorry," said {friend.name}.', f"{friend.he.capitalize()} bought {a(colour)} {thing} for {who.name}."]
    else:
        story += [f"{friend.name} said nothing and went home.", f"{who.name} had no {thing} any more."]
    return [*story, ending(chance, who, sorry)]


def cooking(chance: random.Random) -> list[str]:
    """Somebody is hungry and somebody cooks."""
    who, friend = people(chance)
    first, second = chance.sample(FOODS, 2)
    return [
        opening(chance, who),
        f"{who.name} was hungry and wanted some {first}.",
        f"There was no {first} in the kitchen, so {who.he} asked {friend.name}.",
        f'"I have no {first}, but I have {second}," said {friend.name}.',
        f"{who.name} ate the {second} and thanked {friend.him}.",
        ending(chance, who, True),
    ]


SCRIPTS: tuple[Callable[[random.Random], list[str]], ...] = (crossing, packing, losing, walking, breaking, cooking)


def stories(count: int, seed: int) -> Iterator[list[str]]:
    """`count` stories as lists of sentences: the same for the same seed, and none that holds a lecture's sentence."""
    chance = random.Random(seed)
    while count:
        story = chance.choice(SCRIPTS)(chance)
        if not set(story) & set(HELD_OUT):
            count -= 1
            yield story
