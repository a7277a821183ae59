"""Every public name says what it is, with an example that runs, and with types that a reader can import."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import LONG, SAMPLED

import explorer as ex

ROOMS = ("analysis", "corruption", "decoding", "microworld", "text", "training")
CONSTANTS = (str, tuple, frozenset, dict)
OTHERS = {"filling_steps", "Blanks", "DecodingStrategy", "Settings", "State", "Stepper", "Label", "Mention", "Role", "Story"}


def verbs(room: str) -> list[str]:
    """What a room offers by name: its functions and classes, and what it names as its topic."""
    listed = importlib.import_module(f"explorer.{room}")
    return [name for name in listed.__all__ if name not in OTHERS and not isinstance(getattr(listed, name), CONSTANTS)]


TOPICS = {"analysis.costs": "explorer.analysis.costs", "text.classroom": "explorer.text.classroom"}
METHODS = {  # of what the public names return, as the front page and the notebooks use them
    "records.trace:Trace": ("axes", "at", "block"),
    "records.trace:Attention": ("stage",),
    "text.tokenizers:Tokenizer": ("encode", "decode", "save"),
    "models.model:TextModel": ("tokens", "outputs", "logits"),
    "models.finetuned:FinetunedModel": ("classify",),
    "training.run:Run": ("stop",),
}
NAMES = [*ex.__all__, *(f"{room}.{name}" for room in ROOMS for name in verbs(room))]


def public_thing(name: str) -> Any:
    return pkgutil.resolve_name(name if ":" in name else f"explorer:{name}")


def topic_names() -> list[str]:
    """Every function that a topic of a room defines."""
    members = {topic: vars(importlib.import_module(file)).items() for topic, file in TOPICS.items()}
    return [
        f"{topic}.{name}"
        for topic, file in TOPICS.items()
        for name, member in members[topic]
        if callable(member) and getattr(member, "__module__", "") == file
    ]


@cache
def opened(name: str) -> Any:
    return importlib.import_module("explorer.models.load").load(name, device="cpu")


METHOD_NAMES = [f"explorer.{kind}.{name}" for kind, names in METHODS.items() for name in names]


@SAMPLED
@pytest.mark.parametrize("name", [*NAMES, *topic_names(), *METHOD_NAMES])
def test_every_public_name_has_an_example_that_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    what = public_thing(name)
    module = what if isinstance(what, ModuleType) else inspect.getmodule(what)
    sources = doctest.DocTestFinder(recurse=False).find(what, name, module=module, globs={**vars(module), "ex": ex})
    tests = [test for test in sources if test.examples]
    assert tests, f"{name} has no example"
    if name not in ("load", "training.Siamese"):  # no other changes a model, so each is opened once
        monkeypatch.setitem(vars(ex), "load", lambda name, **options: opened(name))
    for test in tests:
        output: list[str] = []
        failed, tried = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=output.append)
        assert tried and not failed, "".join(output)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_its_verbs_and_none_is_hidden_by_a_file(room: str) -> None:
    listed = public_thing(room)
    for name in verbs(room):
        assert name in dir(listed) and getattr(listed, name) is getattr(listed, name)
        assert isinstance(getattr(listed, name), ModuleType) == (f"{room}.{name}" in TOPICS), (
            f"explorer.{room}.{name} is a file, too"
        )
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = listed.nothing_like_it


LIBRARY = ("records", "microworld", "text", "corruption", "nn", "models", "decoding", "analysis", "training")


@LONG
def test_a_public_function_is_the_only_one_of_its_name() -> None:
    """In the rooms that compute, whoever looks for a public function finds one. Topics are called with their own name before it."""
    public = {name.rpartition(".")[2] for name in NAMES if inspect.isfunction(public_thing(name))}
    homes: dict[str, set[str]] = {}
    package = Path(ex.__file__).parent
    for path in (path for room in LIBRARY for path in (package / room).rglob("*.py")):
        if f"explorer.{'.'.join(path.relative_to(package).with_suffix('').parts)}" not in TOPICS.values():
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.FunctionDef) and node.name in public:
                    homes.setdefault(node.name, set()).add(path.name)
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isfunction(public_thing(name))])
def test_types_in_help_can_be_imported(name: str) -> None:
    what = public_thing(name)
    signature = inspect.signature(what)
    for annotation in (*(p.annotation for p in signature.parameters.values()), signature.return_annotation):
        assert annotation is not inspect.Parameter.empty, "every parameter says its type"
        if isinstance(annotation, str):
            eval(annotation, {**vars(importlib.import_module(what.__module__))}, {"DataFrame": object, "TYPE_CHECKING": True})


def test_lessons_hold_their_texts_and_exercises_and_results_are_listed() -> None:
    trace = ex.trace(opened("bert"), "The animal was tired.", blocks=True)
    assert len(ex.lesson("attention").exercises(trace)) >= 4
    assert ex.lesson("vectors").editing.CORPUS and "editing" in dir(ex.lesson("vectors"))
    with pytest.raises(AttributeError, match="has no 'cake'"):
        _ = ex.lesson("attention").cake
    with pytest.raises(ex.ExplorerError, match="no lesson 'attenton'. Did you mean 'attention'"):
        ex.lesson("attenton")
    assert "scale" in ex.results() and ex.result("scale").lines
    with pytest.raises(ex.ExplorerError, match="no result 'scales'. Did you mean 'scale'"):
        ex.result("scales")


def test_sentences_of_two_languages_belong_together() -> None:
    pairs = list(ex.microworld.pairs(5, 3))
    for language in ("english", "french"):
        assert ex.microworld.sentences_in(language, 5, 3) == [getattr(pair, language) for pair in pairs]
    with pytest.raises(ex.ExplorerError, match="no language 'German'"):
        ex.microworld.sentences_in("German", 1, 1)


def test_a_tokenizer_brings_its_own_vocabulary_and_merges() -> None:
    shelf = ex.text.classroom.shelf()
    known = shelf["wordpiece"].core.get_vocab()
    assert list(ex.text.matches("breadbasket", shelf["wordpiece"])) == list(ex.text.matches("breadbasket", known))
    last = list(ex.text.replay("street", shelf["bpe"]))[-1]
    assert "".join(last.pieces) == "▁street"
    assert [text.replace("·", "▁") for text in shelf["bpe"].encode("street", special=False).texts] == list(last.pieces)
    with pytest.raises(ex.ExplorerError, match="Only a BPE tokenizer"):
        list(ex.text.replay("street", shelf["words"]))
