"""The app for a room: what its visitors may choose, and how much of the machine each may use. Without a room everything is free."""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from explorer.app import room_openings, streamlit_inside, vote_file
from explorer.app.own_questions import exercise_of
from explorer.app.room import settle, settled
from explorer.app.vote import BOOTH
from explorer.errors import ChoiceError, ExplorerError, FileError, TextError
from explorer.training.jobs import JobQueue, JobSpec, job_queue

CLOSED = (
    "In this room only the shipped models open: folders, names on the hub and uploads are turned off. On your own computer "
    "(`explorer app`) you can open any checkpoint here."
)
SEARCH = 5.0  # seconds between two searches for garbage
MOST = {"letters": 100_000, "steps": 5000, "queue": 32, "idle": 1440, "minutes": 1440, "votes": 100_000}


@dataclass(frozen=True)
class Classroom:
    """The settings of a room. `models` are those that visitors may choose (none named: all of them).

    `letters` of a text, `steps` and `minutes` of a training, `queue` trainings at once; a training that nobody has looked at for
    `idle` minutes is stopped. `opens_with` are models that pages open with, `text` the sentence that most pages share, `texts` by page
    those of the others. `uploads` allows folders, hub names and uploaded checkpoints; with `guess_first` a picture waits for an answer
    to its question. `public` is the address that visitors use, `key` opens the pages of the teacher. `votes` are those that are counted
    a minute from one address; with `keep_votes` they are also kept on the disk, in `votes_file`. `question` are the teacher's own.
    With `hand_ins` students hand in their homework, which is kept in the folder `tray`.
    """

    models: tuple[str, ...] = ()
    opens_with: tuple[str, ...] = ()
    text: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    letters: int = 600
    steps: int = 500
    minutes: int = 10
    queue: int = 6
    idle: int = 10
    uploads: bool = False
    guess_first: bool = False
    public: str = ""
    key: str = ""
    votes: int = 120
    keep_votes: bool = False
    votes_file: str = ""
    hand_ins: bool = False
    tray: str = ""
    question: tuple[dict[str, Any], ...] = field(default=())

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
                raise ChoiceError(f"{name} = {value!r} must be a whole number from 1 to {most:,}.")
        for name in ("models", "opens_with"):
            if not isinstance(value := getattr(self, name), tuple) or not all(isinstance(model, str) for model in value):
                raise ChoiceError(f'{name} must be a list of names, for example {name} = ["bert", "gpt2"].')
        room_openings.check_texts(self.text, self.texts, self.letters)
        for name in ("uploads", "guess_first", "keep_votes", "hand_ins"):
            if not isinstance(value := getattr(self, name), bool):
                raise ChoiceError(f"{name} = {value!r} must be true or false.")
        if not all(isinstance(text, str) for text in (self.public, self.key)):
            raise ChoiceError('public and key must be texts, for example public = "http://lecture.example:8501".')
        if not isinstance(self.question, tuple) or not all(isinstance(given, dict) for given in self.question):
            raise ChoiceError("Own questions begin with [[question]] each. See docs/classroom.md.")
        for given in self.question:
            exercise_of(given)


def classroom_of(settings: dict[str, object]) -> Classroom:
    """A room from the settings of a TOML file.

    >>> classroom_of({"models": ["bert"], "steps": 200}).steps
    200
    """
    known = {field.name for field in fields(Classroom)}
    if unknown := sorted(set(settings) - known):
        raise ChoiceError(f"A classroom has no setting {unknown[0]!r}. It has: {', '.join(sorted(known))}.")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    return Classroom(**given)  # type: ignore[arg-type]


def opened(settings: Path | None, where: str, port: int) -> str:
    """Read the limits of a room and hand them to the server that is about to start; the lines that say where the room is."""
    import secrets
    import tomllib

    try:
        given = tomllib.loads(settings.read_text("utf-8")) if settings is not None else {}
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{settings} cannot be read as a TOML file ({error}). See docs/classroom.md.") from error
    classroom = classroom_of(given)
    room_openings.check_models(classroom.opens_with, classroom.models)
    key = secrets.token_urlsafe(9)
    if classroom.keep_votes:  # a server that is started again has the same key, so the teacher's open pages stay the teacher's
        classroom = replace(classroom, votes_file=str(vote_file.file_of(port)))
        key = vote_file.read_kept(Path(classroom.votes_file)).get("key", key)
    if classroom.hand_ins:
        classroom = replace(classroom, tray=str(vote_file.folder() / f"hand-ins-{port}"))
    classroom = with_key(classroom, key, f"http://{_reachable(where)}:{port}")
    settle(written(classroom))
    return f"Students: {classroom.public}/\nTeacher:  {for_teacher('status')}\nVote:     {for_teacher('vote')}\n"


def for_teacher(page: str) -> str:
    """The address of a page of this room that opens it as the teacher's."""
    classroom = room()
    return f"{classroom.public}/{page}?teacher={classroom.key}" if classroom else f"/{page}"


def _reachable(where: str) -> str:
    """The address by which other computers find this one; no packet is sent to find out."""
    import socket

    if where not in ("0.0.0.0", "::", ""):
        return where
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation: a datagram socket sends nothing when it connects
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()


def written(room: Classroom) -> str:
    """A room as the process of the server is given it."""
    return json.dumps(asdict(room))


def room() -> Classroom | None:
    """The room that this server is for; None where it is somebody's own."""
    return _read(settled())


@lru_cache(maxsize=4)
def _read(settings: str) -> Classroom | None:
    return classroom_of(json.loads(settings)) if settings else None


def allowed(names: Iterable[str]) -> list[str]:
    """Those of these models that visitors may choose; all of them where none of them is named."""
    every, classroom = list(names), room()
    some = [name for name in every if classroom is None or not classroom.models or name in classroom.models]
    return some or every


def open_model(key: str, offered: Sequence[str], usual: str) -> None:
    """Have a list of models open with one of the teacher's."""
    if (classroom := room()) is not None:
        room_openings.fill_model(key, classroom.opens_with, offered, usual)


def open_text(page: str) -> None:
    """Have a page open with the teacher's text."""
    if (classroom := room()) is not None:
        room_openings.fill_text(page, classroom.text, classroom.texts)


def check_text(texts: Iterable[object]) -> None:
    """Refuse what is longer than a text may be in this room."""
    classroom = room()
    longest = max((len(text) for text in texts if isinstance(text, str)), default=0)
    if classroom is not None and longest > classroom.letters:
        raise TextError(f"The text has {longest:,} letters; this room takes at most {classroom.letters:,}. Shorten it.")


def uploads() -> bool:
    """Whether folders, names on the hub and uploaded checkpoints may be opened."""
    classroom = room()
    return classroom is None or classroom.uploads


def most_steps(longest: int) -> int:
    """The steps that a training may have."""
    classroom = room()
    return longest if classroom is None else min(classroom.steps, longest)


def teaches(key: object) -> bool:
    """Whether this key opens the pages of the teacher; on one's own machine they are open."""
    classroom = room()
    return classroom is None or (bool(classroom.key) and key == classroom.key)


def most_letters(longest: int) -> int:
    """The letters that a text may have."""
    classroom = room()
    return longest if classroom is None else min(classroom.letters, longest)


def begin(queue: JobQueue, spec: JobSpec) -> str:
    """Put a training into the queue, where this room allows it."""
    _check(queue, spec)
    return queue.begin(spec)


def go_on(queue: JobQueue, name: str) -> None:
    """Take a training up again, where this room allows it."""
    _check(queue, queue.spec(name))
    queue.go_on(name)


def _check(queue: JobQueue, spec: JobSpec) -> None:
    """Refuse a training that is too long for this room, or for which it has no place left."""
    classroom = room()
    if classroom is None:
        return
    check_text((spec.text,))
    if spec.steps > classroom.steps:
        raise ChoiceError(f"This room trains at most {classroom.steps:,} steps at once. Choose fewer.")
    if len(queue.alive()) >= classroom.queue:
        raise ChoiceError(
            f"{classroom.queue} training runs are in progress or in the queue already. Try again when one has ended."
        )


@lru_cache(maxsize=1)
def start() -> None:
    """Once for a server: ask nothing outside; where it is a room's, stop trainings that nobody looks at any more, as long as it runs."""
    streamlit_inside.keep_inside()
    streamlit_inside.settle_choices()
    streamlit_inside.application()
    Thread(target=_search, daemon=True, name="garbage").start()
    classroom, queue = room(), job_queue()
    if classroom is not None:
        BOOTH.rate = classroom.votes
        if classroom.votes_file:
            vote_file.go_on(Path(classroom.votes_file), classroom.key)
        Thread(target=_reclaim, args=(queue, classroom), daemon=True, name="reclaim").start()


@lru_cache
def loaded(page: str) -> None:
    """Once for a server and a page: leave what is loaded by now out of every later search for garbage.

    A search through all objects of the process takes 0.2 s (0.1 s where only the start of the server is left out), in which no picture is
    sent. What becomes garbage later is still found.
    """
    gc.collect()
    gc.freeze()


def _search() -> None:
    """Look for garbage, for as long as the server runs, whenever there is enough that may be some.

    Streamlit would search after every answer, which took a third of a server's time with thirty visitors.
    """
    while True:
        time.sleep(SEARCH)
        if any(gc.get_count()[1:]):
            gc.collect()


def _reclaim(queue: JobQueue, classroom: Classroom, every: float = 20.0) -> None:
    while True:
        with suppress(ExplorerError, OSError):
            queue.reclaim(60.0 * classroom.idle, 60.0 * classroom.minutes)
        time.sleep(every)


@contextmanager
def turn() -> Iterator[None]:
    """In a room, a training on the page waits until no other one is at work; on one's own machine nobody waits."""
    with _TURN if room() is not None else nullcontext():
        yield


_TURN = Lock()


def public(address: str) -> str:
    """The address of a page as visitors reach it."""
    classroom = room()
    if classroom is None or not classroom.public:
        return address
    return classroom.public.rstrip("/") + re.sub(r"/+$", "", urlsplit(address).path)


def with_key(classroom: Classroom, key: str, public_address: str) -> Classroom:
    """A room whose key and address were not set by hand."""
    return replace(classroom, key=classroom.key or key, public=classroom.public or public_address)
