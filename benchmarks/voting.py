"""A class of forty that votes at once: real WebSocket sessions, each of which answers the same question at the same moment.

    python benchmarks/voting.py --phones 40

Starts `explorer app --classroom` on this machine with a question that is open, and prints how long each phone waited from its choice to the
server's "script finished": median, 95 %, slowest. Then the server is killed and started again, and the votes are counted once more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from classroom import Found, Visitor, end, free_port, start
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element

from explorer.app.own_questions import typed_exercise
from explorer.app.vote import Booth
from explorer.app.vote_file import keep, read_kept

QUESTION = typed_exercise("Which is a vowel?\nb\n* e\nk")
KEY = "a-long-word"


class Phone(Visitor):
    """A student's phone on the page of the vote."""

    box = ""

    def met(self, element: Element) -> None:
        """Remember where the vote is chosen."""
        if element.WhichOneof("type") == "radio":
            self.box = element.radio.id

    def vote(self, together: threading.Barrier) -> None:
        """Open the page, wait for all others, and choose."""
        with self.connected() as socket_:
            self.page = "vote"
            self._ask(socket_, "opens the vote")
            together.wait(120)
            message = BackMsg()
            rerun = message.rerun_script
            rerun.query_string, rerun.page_name = urlencode({}), self.page
            state = rerun.widget_states.widgets.add()
            state.id, state.string_value = self.box, self.rng.choice(QUESTION.options)
            begun = time.perf_counter()
            socket_.send(message.SerializeToString())
            errors = self._listen(socket_)
            self.found.add("votes", time.perf_counter() - begun, errors)
            together.wait(120)  # nobody leaves before all have voted


def round_of(phones: int) -> tuple[Found, int, int]:
    """One question: what the phones waited, how many votes were counted, and how many after the server was killed."""
    port, visits = free_port(), Found()
    with tempfile.TemporaryDirectory() as home:
        file, settings, booth = Path(home) / "rooms" / f"votes-{port}.json", Path(home) / "room.toml", Booth()
        settings.write_text(f'key = "{KEY}"\nkeep_votes = true\nvotes = 1000\n', "utf-8")
        booth.open(QUESTION)
        keep(booth, file, KEY)
        server, together = start(port, home, settings), threading.Barrier(phones)
        threads = [
            threading.Thread(target=Phone(f"http://127.0.0.1:{port}", number, visits, []).vote, args=(together,))
            for number in range(phones)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        end(server, kill=True)
        counted = len(read_kept(file)["now"].votes)
        end(start(port, home, settings), kill=True)
        return visits, counted, len(read_kept(file)["now"].votes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=0, help="a short visit instead: three phones, so many questions")
    options = parser.parse_args()
    phones = 3 if options.rounds else options.phones
    rounds = [round_of(phones) for _ in range(options.rounds or 1)]
    waits = np.array([np.percentile(visits.times["votes"], (50, 95, 100)) for visits, _, _ in rounds])
    table = {"phones": [str(phones)] * len(rounds)}
    table |= {
        name: [f"{wait:.2f} s" for wait in waits[:, n]] for n, name in enumerate(("median wait", "95 % of waits", "slowest"))
    }
    table |= {
        "votes counted": [str(counted) for _, counted, _ in rounds],
        "after a kill": [str(again) for _, _, again in rounds],
    }
    table |= {"errors": [str(len(visits.errors)) for visits, _, _ in rounds]}
    head = ["one question", *(f"round {n}" for n in range(1, len(rounds) + 1))]
    lines = [head, *([name, *cells] for name, cells in table.items())]
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    sys.stdout.write("\n" + "\n".join([rows[0], "|---" * len(head) + "|", *rows[1:]]) + "\n")
    errors = [error for visits, _, _ in rounds for error in visits.errors]
    sys.stdout.write("".join(f"{error}\n" for error in errors[:5]))
    sys.exit(bool(errors) or any((counted, again) != (phones, phones) for _, counted, again in rounds))


if __name__ == "__main__":
    main()
