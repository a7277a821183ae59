"""A class of forty that votes at once: real WebSocket sessions, each of which answers the same question at the same moment.

    python benchmarks/voting.py --phones 40

Starts `explorer app --classroom` on this machine with a question that is open, and prints how long each phone waited from its choice to the
server's "script finished": median, 95 %, slowest. Then the server is killed and started again, and the votes are counted once more.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from classroom import Found, Visitor, end, free_port
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


def started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """The server of a room that keeps its votes."""
    (folder / "room.toml").write_text(f'key = "{KEY}"\nkeep_votes = true\nvotes = 1000\n', "utf-8")
    options = ("--settings", str(folder / "room.toml"), "--address", "127.0.0.1", "--port", str(port), "--no-open-browser")
    with open(folder / "log.txt", "ab") as log:
        here = {**os.environ, "EXPLORER_HOME": str(folder)}
        process = subprocess.Popen([sys.executable, "-m", "explorer", "app", *options], stdout=log, stderr=log, env=here)
    for _ in range(300):
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
            break
        time.sleep(0.2)
    return process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=40)
    phones, port, visits = parser.parse_args().phones, free_port(), Found()
    with tempfile.TemporaryDirectory() as home:
        file, booth = Path(home) / "rooms" / f"votes-{port}.json", Booth()
        booth.open(QUESTION)
        keep(booth, file, KEY)
        server = started(Path(home), port)
        together = threading.Barrier(phones)
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
        end(started(Path(home), port), kill=True)
        again = len(read_kept(file)["now"].votes)
    middle, most, last = (float(np.percentile(visits.times["votes"], at)) for at in (50, 95, 100))
    sys.stdout.write(f"{phones} phones vote at once: median {middle:.2f} s, 95 % {most:.2f} s, slowest {last:.2f} s\n")
    sys.stdout.write(f"counted: {counted} of {phones}, after the server was killed and started again: {again}\n")
    sys.stdout.write("".join(f"{error}\n" for error in visits.errors[:5]))
    sys.exit(bool(visits.errors) or counted != phones or again != phones)


if __name__ == "__main__":
    main()
