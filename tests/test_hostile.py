"""Whatever is given to a public function: a result that holds what it promises, or an error of one line; nothing else, and soon."""

from __future__ import annotations

import inspect
import io
import resource
import signal
from collections import UserList, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hostile
import numpy as np
import pandas
import pytest
import torch
from conftest import ALL, LONG, SAMPLED, some
from hypothesis import HealthCheck, Phase, given, settings
from test_public_names import NAMES

import explorer as ex
from explorer.corruption.strategies import STRATEGIES
from explorer.errors import LONGEST, ChoiceError, FileError, check_seed, check_whole, one_line, unknown
from explorer.errors.kinds import check_kind, checked
from explorer.records.equality import same

pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")  # of long arguments: the failure is said
EACH = 110 if ALL else 4  # cases of each function: more than 10,000 in all, or more than 500
SECONDS, WAIT, MEMORY = 120, 600, 8 << 30  # the most that one case takes: of a processor, by the clock, and of memory


@contextmanager
def within(seconds: int, wait: int, memory: int) -> Iterator[None]:
    """While inside, an alarm after some seconds of a processor or by the clock, and no more than so much memory on top."""

    def alarm(*_: object) -> None:
        raise TimeoutError(f"no answer within {seconds} seconds of a processor, or {wait} by the clock")

    limits = resource.getrlimit(resource.RLIMIT_AS)
    before = {kind: signal.signal(kind, alarm) for kind in (signal.SIGALRM, signal.SIGPROF)}
    if (statm := Path("/proc/self/statm")).is_file():
        taken = int(statm.read_text("ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + memory, limits[1]))
    signal.alarm(wait)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        for kind, handler in before.items():
            signal.signal(kind, handler)


def survives(name: str, args: dict[str, Any]) -> None:
    """One case: a result in order, or an error of one line."""
    try:
        with within(SECONDS, WAIT, MEMORY), hostile.counted_as("calls of public functions"):
            hostile.check(hostile.ask(name, args))
    except ex.ExplorerError as error:
        message = str(error)
        assert message.strip() and "\n" not in message and len(message) <= LONGEST + 10, message[:2000]


@LONG
def test_every_public_name_is_tried() -> None:
    assert set(hostile.CALLS) | set(hostile.LEFT_OUT) == set(NAMES)
    assert sum(bool(hostile.usual(name)) for name in hostile.CALLS) * EACH > (10_000 if ALL else 500)


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written beside the running program is written here."""
    monkeypatch.chdir(tmp_path)


@SAMPLED
@pytest.mark.parametrize("name", some(hostile.CALLS, *list(hostile.CALLS)[::3]))  # test_public_names.py calls each as well
def test_the_usual_call_works(name: str) -> None:
    hostile.check(hostile.ask(name, hostile.usual(name)))


@SAMPLED
@pytest.mark.parametrize("name", [name for name, make in hostile.CALLS.items() if make is not dict])
def test_nothing_but_a_result_or_an_error_of_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "a" / "b" / "c" / "d"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)  # whatever a relative path leads to is inside the folder of this test
    run: Callable[[], None] = settings(
        max_examples=EACH, derandomize=True, deadline=None, database=None, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(given(hostile.spoiled(name))(lambda args: survives(name, args)))  # fmt: skip
    run()


SEEDED = [name for name in hostile.CALLS if "seed" in inspect.signature(hostile.public(name)).parameters]


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_is_checked_everywhere(name: str) -> None:
    for seed in (-1, 1.5, "3", None, True, 2**63, 10**20):
        with pytest.raises(ex.ExplorerError, match="seed"):
            hostile.ask(name, {**hostile.usual(name), "seed": seed})


@SAMPLED
@pytest.mark.parametrize(
    "name", some(hostile.CALLS, *list(hostile.CALLS)[3::8], "microworld.uses", "decode", "analysis.saturation")
)
def test_an_equal_value_of_another_kind_gives_the_same_result(name: str) -> None:
    """`for seed in np.arange(3)`, `beams=np.uint8(3)`: what is accepted is also used as what it is."""
    first = hostile.plainly(hostile.ask(name, hostile.CALLS[name]()))
    for args in hostile.with_twins(name):
        with hostile.counted_as("values of another kind"):
            assert same(first, hostile.plainly(hostile.ask(name, args))), args


def test_messages_are_one_line_and_end_with_what_to_do() -> None:
    message = str(ex.ExplorerError("There is\nno " + "x" * 50_000 + " model.\nTake another."))
    assert message.startswith("There is no x") and message.endswith("Take another.") and "\n" not in message
    assert len(message) <= LONGEST + 10 and one_line("a\r\n\tb") == "a b" and one_line("a\ud800b") == r"a\ud800b"
    many = str(unknown("model", "y" * 100_000, [f"name{n}" for n in range(5000)]))
    assert len(many) <= LONGEST + 10 and "5,000 in all" in many


def test_arguments_are_checked_by_their_annotations() -> None:
    calls: list[object] = []

    @checked
    def asked(count: int, names: list[str] | None = None, share: float = 0.5, place: str | Path = "x") -> int:
        calls.append((count, names, share, place))
        return count

    assert asked(3, ["a"]) == 3 and asked(count=4, share=1) == 4
    for wrong, message in (
        ({"count": "3"}, "count='3' must be a whole number; this is str"),
        ({"count": True}, "count=True must be a whole number; this is bool"),
        ({"count": 2**63}, "must be a whole number"),
        ({"count": 1, "names": "ab"}, "names='ab' must be a list, each a text or None"),
        ({"count": 1, "names": [1]}, "each a text"),
        ({"count": 1, "share": float("nan")}, "share=nan must be a number"),
        ({"count": 1, "place": 3}, "place=3 must be a text or a path"),
    ):
        with pytest.raises(ChoiceError) as error:
            asked(**wrong)  # type: ignore[arg-type]
        assert message in str(error.value)
    for place in ("a\0b", "\ud800", "x" * 256, "x/" * 3000):
        with pytest.raises(FileError, match="is not a path"):
            asked(1, place=place)
    assert len(calls) == 2, "nothing is begun with what is refused"
    with pytest.raises(TypeError, match="missing"):
        asked()  # type: ignore[call-arg]
    with pytest.raises(ChoiceError, match="this is set"):
        check_kind("x", {1}, str)


@pytest.mark.parametrize("given", [np.array(["a", "b"]), pandas.Series(["a", "b"]), deque(["a", "b"]), UserList(["a", "b"])])
def test_an_array_or_a_column_is_taken_as_the_list_that_it_stands_for(given: Any) -> None:
    """Asked whether it is empty, an array refuses to say: what is handed on is a list, whose parts were looked at."""

    @checked
    def joined(texts: Sequence[str], more: Sequence[str] | None = None, every: Iterable[str] = ()) -> str:
        return "".join([*texts, *(more or ()), *every])

    assert joined(given, given, given) == "ababab" and joined(given[:0] if hasattr(given, "dtype") else [], None) == ""
    wrong: tuple[Any, ...] = (
        np.zeros((2, 0)),
        np.array(3.0),
        torch.tensor(1 + 1j),
        torch.tensor([1]),
        deque([1]),
        UserList([b"a"]),
    )
    for other in wrong:
        for name in ("texts", "more", "every"):
            with pytest.raises(ChoiceError, match=f"{name}=.*a list, each a text"):
                joined(**{"texts": ["a"], name: other})


def test_two_texts_in_a_list_are_no_pair() -> None:
    """Of a list `ex.trace` makes a record of each; what reads one text would join them without a word."""
    bert, gpt2, both = hostile.model("bert"), hostile.model("gpt2"), ["A dog ran.", "It was tired."]
    assert len(ex.trace(bert, both)) == 2
    for call in (lambda: ex.analysis.information_flow(bert, both), lambda: ex.decode(gpt2, both), lambda: ex.lens(bert, both)):  # type: ignore[arg-type]
        with pytest.raises(ChoiceError, match="a list of 2 texts"):
            call()


def test_a_list_that_holds_itself_is_refused() -> None:
    @checked
    def asked(value: Any) -> Any:
        return value

    inside: list[Any] = []
    inside.append(inside)
    named: dict[str, Any] = {}
    named["a"] = named
    for value in (inside, named):
        with pytest.raises(ChoiceError, match="contains itself"):
            asked(value)


def test_what_an_attack_found_is_one_sentence() -> None:
    bert = hostile.model("bert")
    for call in (
        lambda: ex.analysis.text_losses(bert, []),
        lambda: ex.check(io.StringIO("x"), [1.0]),
        lambda: list(ex.text.matches("dog", torch.tensor([1 + 1j]))),
        lambda: ex.analysis.contexts(bert, "dog", deque(["a", "b"])),
        lambda: ex.training.budget(bert, {"batch": 8}, ["A dog ran."]),
        lambda: ex.training.lr_share("constant", 1, 10, float("-inf")),
        lambda: ex.training.lr_share("constant", 1, 10, 10**400),
        lambda: ex.training.budget(bert, {"steps": 100, "batch": "-1"}, ["A dog ran."]),
        lambda: ex.training.along(bert, ["A dog ran."], plan={"objective": ["mlm"]}),
        lambda: ex.analysis.count_ratios(hostile.model("word2vec"), "he", "she", []),
        lambda: ex.board(hostile.traced(), model=hostile.traced()),
        lambda: ex.analysis.exposure_bias(hostile.model("t5"), ex.microworld.texts(8, 1)),
        *(lambda name=name: ex.fit("gpt2", steps=1, **{name: None}) for name in ("smoothing", "random_until", "pairs_after")),
        *(lambda name=name: ex.build("gpt2", tokenizer=bert.tokenizer, **{name: Unprinted()}) for name in ("family", "layers")),
        lambda: ex.fit("gpt2", steps=1, rate=10**6000),
        lambda: ex.microworld.stories(2, torch.tensor([1])),  # type: ignore[arg-type]
        lambda: ex.text.first_tokens(iter([5]), bert.tokenizer, 6),  # type: ignore[arg-type]
        lambda: ex.configure("bert", "toy", 100, position=np.timedelta64(3, "D")),
        lambda: ex.views["masks"](hostile.traced(), layer=np.array([None, 1], dtype=object)),
        lambda: ex.views["masks"](hostile.traced(), layer=torch.ones(2)),
        lambda: ex.SetVector(torch.ones(2), "encoder", 0, 0, 0, [0.0]),  # type: ignore[arg-type]
        lambda: ex.analysis.exposure_bias(hostile.model("electra"), ex.microworld.texts(8, 1)),
        lambda: ex.AddVector("encoder", 0, ["0.0"] * 127 + ["x"], 1.0),  # type: ignore[arg-type]
        lambda: ex.AddVector("encoder", 0, np.full(128, np.nan), 1.0),
        lambda: ex.analysis.projections_over_steps(dict.fromkeys((1, 2), hostile.model("electra"))),
        lambda: ex.check([1.0, 2.0], torch.ones(2, device="meta")),
        lambda: bert.outputs_many(hostile.traced()),  # type: ignore[arg-type]
        lambda: ex.text.first_tokens({0: ["A dog."]}, bert.tokenizer, 6),  # type: ignore[arg-type]
    ):
        with pytest.raises(ex.ExplorerError):
            call()


@pytest.mark.parametrize("value", [-1, 1.5, "3", None, True, 2**63, float("nan"), [], b"1"])
def test_one_checker_for_whole_numbers(value: Any) -> None:
    with pytest.raises(ChoiceError, match="whole number"):
        check_seed(value)
    with pytest.raises(ChoiceError, match="whole number of at least 0"):
        check_whole("count", value, 0)
    with pytest.raises(ChoiceError, match="at most 5"):
        check_whole("count", 6, 0, 5)


class Unprinted:
    """What cannot be printed."""

    def __repr__(self) -> str:
        raise ValueError


def nested(depth: int) -> list[Any]:
    """A list in a list in a list."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


AWKWARD = [nested(5000), 10**6000, Unprinted(), [Unprinted()], [10**6000], {10**6000: Unprinted()}, ["a"] * 3000 + [5]]


AWKWARDLY = dict.fromkeys(("SetUnit", "AddVector", "board", "fit", "text.word_counts", *[*hostile.CALLS][2::4]))


@SAMPLED
@pytest.mark.parametrize("name", some(hostile.CALLS, *AWKWARDLY))
def test_what_cannot_be_printed_or_ends_in_another_kind_is_refused(name: str) -> None:
    """Each argument in turn: a message must not print its value the plain way, nor trust the first parts of a long list."""
    for part in hostile.usual(name):
        for value in AWKWARD:
            survives(name, {**hostile.usual(name), part: value})


@SAMPLED
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_option_of_a_corruption_is_checked(strategy: str) -> None:
    tokenizer = hostile.model("t5" if strategy == "t5" else "bert").tokenizer
    for option in {*STRATEGIES[strategy].options} - {"sample"}:  # a function of one's own raises what it raises
        for value in (*AWKWARD, None, "x", "", b"x", [1, 2], int, float("inf"), float("nan"), 1e300, 10**9, -1):
            survives("corrupt", {"text": hostile.TEXT, "strategy": strategy, "tokenizer": tokenizer, option: value})
