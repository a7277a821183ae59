"""A class of forty that votes at once: real WebSocket sessions, each of which answers the same question at the same moment.

    python benchmarks/voting.py --phones 40

Starts `explorer app --classroom` on this machine with a question that is open, and prints how long each phone waited from its choice to the
server's "script finished": median, 95%, slowest. Then every phone loads its page again; then the server is killed and
started again, and all load it once more: each time the votes are counted, and the phones that show the vote that they gave.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
from classroom import Found, Visitor, end, free_port, start
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from websockets.sync.client import ClientConnection

from explorer.app.own_questions import typed_exercise
from explorer.app.vote import Booth
from explorer.app.vote_file import keep, read_kept

QUESTION = typed_exercise("Which is a vowel?\nb\n* e\nk")
KEY = "a-long-word"


class Phone(Visitor):
    """A student's phone on the page of the vote: a browser whose cookie stays when the page is loaded again."""

    def __init__(self, address: str, number: int, visits: Found) -> None:
        super().__init__(address, number, visits, [])
        self.page, self.cookie, self.choice = "vote", f"{number:032x}", self.rng.choice(QUESTION.options)
        self.components: dict[str, str] = {}
        self.ballot: dict[str, object] = {}
        self.fragment = ""

    def met(self, element: Element, fragment: str) -> None:
        """Remember where the cookie and the vote are said, and what the ballot shows."""
        if element.WhichOneof("type") == "bidi_component":
            shown = element.bidi_component
            name = shown.component_name.rpartition("-")[2]
            self.components[name] = shown.id
            if name == "ballot":
                self.ballot, self.fragment = json.loads(shown.json), fragment

    def _fill(self, rerun: ClientState, kind: str) -> dict[str, str]:
        """Say the cookie, as soon as the page has asked for it, and the choice."""
        if kind == "opens":
            return {}
        said = {"voter": {"voter": self.cookie}, "ballot": {}} if kind == "votes" else {"voter": {"voter": self.cookie}}
        for name, value in said.items():
            state = rerun.widget_states.widgets.add()
            state.id, state.json_value = self.components[name], json.dumps(value)
        if kind == "votes":
            vote = {"number": self.ballot["number"], "option": self.choice, "id": self.cookie}
            rerun.fragment_id, state = self.fragment, rerun.widget_states.widgets.add()
            state.id = f"$$STREAMLIT_INTERNAL_KEY_{self.components['ballot']}__events"
            state.json_trigger_value = json.dumps([{"event": "vote", "value": vote}])
        return {}

    def open(self, to: ClientConnection) -> None:
        """Load the page."""
        self._ask(to, "opens")
        self._ask(to, "says who it is")

    def vote(self, together: threading.Barrier) -> None:
        """Open the page, wait for all others, and choose."""
        with self.connected() as socket_:
            self.open(socket_)
            together.wait(120)
            self._ask(socket_, "votes")
            together.wait(120)  # nobody leaves before all have voted

    def reload(self, together: threading.Barrier) -> None:
        """Load the page again, as all others do at the same moment."""
        self.ballot = {}
        together.wait(120)
        with self.connected() as socket_:
            self.open(socket_)


def at_once(phones: list[Phone], act: Callable[[Phone, threading.Barrier], None], file: Path) -> tuple[int, int]:
    """Have all phones do this; how many votes there are then, and how many phones show the vote that they gave."""
    together = threading.Barrier(len(phones))
    threads = [threading.Thread(target=act, args=(phone, together)) for phone in phones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(read_kept(file)["now"].votes), sum(phone.ballot.get("mine") == phone.choice for phone in phones)


def round_of(phones: int) -> tuple[Found, list[tuple[int, int]]]:
    """One question: what the phones waited, and the votes after all have voted, after a reload, and after the server was killed."""
    port, visits = free_port(), Found()
    class_ = [Phone(f"http://127.0.0.1:{port}", number, visits) for number in range(phones)]
    with tempfile.TemporaryDirectory() as home:
        file, settings, booth = Path(home) / "rooms" / f"votes-{port}.json", Path(home) / "room.toml", Booth()
        settings.write_text(f'key = "{KEY}"\nkeep_votes = true\nvotes = 1000\n', "utf-8")
        booth.open(QUESTION)
        keep(booth, file, KEY)
        server = start(port, home, settings)
        counts = [at_once(class_, Phone.vote, file), at_once(class_, Phone.reload, file)]
        end(server, kill=True)
        server = start(port, home, settings)
        counts.append(at_once(class_, Phone.reload, file))
        end(server, kill=True)
        return visits, counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=0, help="a short visit instead: three phones, so many questions")
    options = parser.parse_args()
    phones = 3 if options.rounds else options.phones
    rounds = [round_of(phones) for _ in range(options.rounds or 1)]
    waits = np.array([np.percentile(visits.times["votes"], (50, 95, 100)) for visits, _ in rounds])
    table = {"phones": [str(phones)] * len(rounds)}
    table |= {
        name: [f"{wait:.2f} s" for wait in waits[:, n]] for n, name in enumerate(("median wait", "95% of waits", "slowest"))
    }
    for n, when in enumerate(("once all have voted", "after a reload", "after the server was killed")):
        table[f"votes {when}"] = [str(counts[n][0]) for _, counts in rounds]
        table[f"phones that show theirs {when}"] = [str(counts[n][1]) for _, counts in rounds]
    table |= {"errors": [str(len(visits.errors)) for visits, _ in rounds]}
    head = ["one question", *(f"round {n}" for n in range(1, len(rounds) + 1))]
    lines = [head, *([name, *cells] for name, cells in table.items())]
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    sys.stdout.write("\n" + "\n".join([rows[0], "|---" * len(head) + "|", *rows[1:]]) + "\n")
    errors = [error for visits, _ in rounds for error in visits.errors]
    sys.stdout.write("".join(f"{error}\n" for error in errors[:5]))
    sys.exit(bool(errors) or any(set(counts) != {(phones, phones)} for _, counts in rounds))


if __name__ == "__main__":
    main()
