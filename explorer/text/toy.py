"""A first, small corpus: short stories generated from a seed.

Every story has people who keep their name and pronoun, and reasons that follow from what happened: *it was too tired* is said of what
can be tired, *it was too wide* of what can be wide. The sentences of the lectures are never generated (`HELD_OUT`), so a lesson may
show them as new.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from explorer.errors.kinds import checked

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
class ToyPerson:
    """Someone in a story, with their pronouns."""

    name: str
    he: str
    him: str
    his: str
    job: str


def a(noun: str) -> str:
    """The noun with its article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def people(rng: random.Random) -> tuple[ToyPerson, ToyPerson]:
    """Two people with different names."""
    names = rng.sample(GIRLS + BOYS, 2)
    return tuple(  # type: ignore[return-value]
        ToyPerson(n, *(("she", "her", "her") if n in GIRLS else ("he", "him", "his")), job)
        for n, job in zip(names, rng.sample(JOBS, 2), strict=True)
    )


def opening(rng: random.Random, who: ToyPerson) -> str:
    """The first sentence: who it is about."""
    return rng.choice(
        (
            f"{who.name} was {a(who.job)} in a small town.",
            f"Once there was {a(who.job)} called {who.name}.",
            f"{who.name} worked as {a(who.job)} near the {rng.choice(PLACES)}.",
            f"The {who.job} was called {who.name}.",
        )
    )


def ending(rng: random.Random, who: ToyPerson, glad: bool) -> str:
    """The last sentence: how it felt."""
    mood = rng.choice(("happy", "glad", "proud") if glad else ("sad", "angry", "lonely"))
    return rng.choice(
        (f"In the end {who.name} was {mood}.", f"That evening {who.he} was {mood}.", f"So {who.name} felt {mood}.")
    )


def crossing(rng: random.Random) -> list[str]:
    """An animal will not cross, because of what it is or because of what the way is."""
    who, friend = people(rng)
    animal, path, food = rng.choice(ANIMALS), rng.choice(PATHS), rng.choice(FOODS)
    alive = rng.random() < 0.5
    reason = rng.choice(ALIVE if alive else FLAT)
    verb = rng.choice(("didn't cross", "would not cross", "could not cross"))
    story = [
        opening(rng, who),
        f"{who.he.capitalize()} had {a(rng.choice(COLOURS))} {animal}.",
        f"The {animal} {verb} the {path} because it was too {reason}.",
    ]
    if alive:
        story += [f"{who.name} gave the {animal} some {food}.", f"Then it was not {reason} any more and it crossed the {path}."]
    else:
        story += [f"{friend.name} knew another {path}.", f"It was not {reason}, and the {animal} crossed it."]
    return [*story, ending(rng, who, True)]


def packing(rng: random.Random) -> list[str]:
    """A thing does not fit, because it is too big or because what should hold it is too small."""
    who, friend = people(rng)
    thing, box = rng.choice(THINGS), rng.choice(BOXES)
    big = rng.random() < 0.5
    size = rng.choice(("big", "large", "heavy") if big else ("small", "little", "narrow"))
    story = [
        opening(rng, who),
        f"{who.he.capitalize()} wanted to take the {thing} to {friend.name}.",
        f"The {thing} didn't fit in the {box} because it was too {size}.",
    ]
    story.append(f"So {who.he} bought {a('smaller ' + thing) if big else a('bigger ' + box)}.")
    return [*story, f"{friend.name} thanked {who.him} for the {thing}.", ending(rng, friend, True)]


def losing(rng: random.Random) -> list[str]:
    """Something is lost and looked for."""
    who, friend = people(rng)
    thing, colour, room = rng.choice(THINGS), rng.choice(COLOURS), rng.choice(ROOMS)
    luck = rng.random() < 0.6
    story = [
        opening(rng, who),
        f"One day {who.he} could not find {who.his} {colour} {thing}.",
        f"{who.name} looked for the {thing} in the {rng.choice(ROOMS)} and asked {friend.name}.",
        f'"I saw your {thing} in the {room}," said {friend.name}.',
    ]
    if luck:
        story.append(f"{who.name} went to the {room} and there was the {colour} {thing}.")
    else:
        story.append(f"{who.name} went to the {room}, but the {thing} was not there.")
    return [*story, ending(rng, who, luck)]


def walking(rng: random.Random) -> list[str]:
    """Two people go somewhere, and the weather matters."""
    who, friend = people(rng)
    rain = rng.random() < 0.5
    place, animal = rng.choice(PLACES), rng.choice(ANIMALS)
    return [
        f"It was a {'rainy' if rain else 'sunny'} day.",
        f"{who.name} and {friend.name} walked to the {place}.",
        f"They saw {a(animal)} near the {rng.choice(PATHS)}.",
        f"{who.name} was {'wet' if rain else 'hot'} because {who.he} had no {'jacket' if rain else 'hat'}.",
        f"{friend.name} gave {who.him} {friend.his} {'jacket' if rain else 'hat'}.",
        ending(rng, who, True),
    ]


def breaking(rng: random.Random) -> list[str]:
    """Something breaks, and somebody is sorry."""
    who, friend = people(rng)
    thing, colour = rng.choice(THINGS), rng.choice(COLOURS)
    sorry = rng.random() < 0.6
    story = [
        f"{who.name} had {a(colour)} {thing} in the {rng.choice(ROOMS)}.",
        f"{friend.name}, the {friend.job}, ran through the room and hit the {thing}.",
        f"The {thing} fell and it broke.",
    ]
    if sorry:
        story += [f'"I am sorry," said {friend.name}.', f"{friend.he.capitalize()} bought {a(colour)} {thing} for {who.name}."]
    else:
        story += [f"{friend.name} said nothing and went home.", f"{who.name} had no {thing} any more."]
    return [*story, ending(rng, who, sorry)]


def cooking(rng: random.Random) -> list[str]:
    """Somebody is hungry and somebody cooks."""
    who, friend = people(rng)
    first, second = rng.sample(FOODS, 2)
    return [
        opening(rng, who),
        f"{who.name} was hungry and wanted some {first}.",
        f"There was no {first} in the kitchen, so {who.he} asked {friend.name}.",
        f'"I have no {first}, but I have {second}," said {friend.name}.',
        f"{who.name} ate the {second} and thanked {friend.him}.",
        ending(rng, who, True),
    ]


SCRIPTS: tuple[Callable[[random.Random], list[str]], ...] = (crossing, packing, losing, walking, breaking, cooking)


@checked
def toy_stories(count: int, seed: int) -> Iterator[list[str]]:
    """`count` stories as lists of sentences: the same for the same seed, and none that holds a lecture's sentence.

    >>> len(list(ex.text.toy_stories(3, seed=1)))
    3
    """
    rng = random.Random(seed)
    while count:
        story = rng.choice(SCRIPTS)(rng)
        if not set(story) & set(HELD_OUT):
            count -= 1
            yield story
