"""Every public name says what it is, with an example that runs, and with types that a reader can import."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

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
    what: Any = ex
    for part in name.split("."):
        what = getattr(what, part)
    return what


def examples(name: str) -> Iterator[doctest.DocTest]:
    what = public_thing(name)
    module = what if isinstance(what, ModuleType) else inspect.getmodule(what)
    for test in doctest.DocTestFinder(recurse=False).find(what, name, module=module, globs={**vars(module), "ex": ex}):
        if test.examples:
            yield test


@cache
def opened(name: str) -> Any:
    return importlib.import_module("explorer.models.load").load(name, device="cpu")


def shared(name: str, **options: Any) -> Any:
    return opened(name)


def run_examples(tests: list[doctest.DocTest]) -> None:
    for test in tests:
        output: list[str] = []
        failed, tried = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=output.append)
        assert tried and not failed, "".join(output)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = list(examples(name))
    assert tests, f"{name} has no example"
    if name not in ("load", "training.Siamese"):  # no other changes a model, so each is opened once
        monkeypatch.setitem(vars(ex), "load", shared)
    run_examples(tests)


def topic_names() -> list[str]:
    """Every function that a topic of a room defines."""
    files = {topic: importlib.import_module(file) for topic, file in TOPICS.items()}
    return [
        f"{topic}.{name}"
        for topic, file in files.items()
        for name, member in vars(file).items()
        if callable(member) and getattr(member, "__module__", "") == file.__name__
    ]


@pytest.mark.parametrize("name", topic_names())
def test_every_function_of_a_topic_has_an_example_that_runs(name: str) -> None:
    assert list(examples(name)), f"{name} has no example"
    run_examples(list(examples(name)))


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in METHODS.items() for name in names])
def test_the_methods_that_notebooks_use_have_examples_that_run(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home, _, class_name = kind.partition(":")
    file = importlib.import_module(f"explorer.{home}")
    method = getattr(getattr(file, class_name), name)
    examples = doctest.DocTestFinder(recurse=False).find(method, name, module=file, globs={**vars(file), "ex": ex})
    assert examples and examples[0].examples, f"{class_name}.{name} has no example"
    monkeypatch.setitem(vars(ex), "load", shared)
    run_examples(examples)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_its_verbs_and_none_is_hidden_by_a_file(room: str) -> None:
    listed = public_thing(room)
    topics = {"analysis": {"costs"}, "text": {"classroom"}}.get(room, set())
    for name in verbs(room):
        assert name in dir(listed) and getattr(listed, name) is getattr(listed, name)
        assert isinstance(getattr(listed, name), ModuleType) == (name in topics), f"explorer.{room}.{name} is a file, too"
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = listed.nothing_like_it


LIBRARY = ("records", "microworld", "text", "corruption", "nn", "models", "decoding", "analysis", "training")


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


@pytest.mark.parametrize("name", NAMES)
def test_types_in_help_can_be_imported(name: str) -> None:
    what = public_thing(name)
    if not inspect.isfunction(what):
        return
    scope = {**vars(importlib.import_module(what.__module__))}
    signature = inspect.signature(what)
    annotations = [p.annotation for p in signature.parameters.values()] + [signature.return_annotation]
    assert all(annotation is not inspect.Parameter.empty for annotation in annotations), "every parameter says its type"
    late = {"DataFrame": object, "TYPE_CHECKING": True}
    for annotation in annotations:
        if isinstance(annotation, str):
            eval(annotation, scope, late)  # noqa: S307


def test_lessons_hold_their_texts_and_exercises() -> None:
    trace = ex.trace(opened("bert"), "The animal was tired.", blocks=True)
    assert len(ex.lesson("attention").exercises(trace)) >= 4
    assert ex.lesson("vectors").editing.CORPUS and "editing" in dir(ex.lesson("vectors"))
    with pytest.raises(AttributeError, match="has no 'cake'"):
        _ = ex.lesson("attention").cake
    with pytest.raises(ex.ExplorerError, match="no lesson 'attenton'. Did you mean 'attention'"):
        ex.lesson("attenton")


def test_results_are_listed_and_a_wrong_name_says_so() -> None:
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
