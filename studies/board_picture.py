"""The moving picture of the front page: the board of a sentence, played station by station in a browser.

`python -m studies.board_picture` draws `docs/board.webp` again. It needs Playwright (`make env-dev`) and Chrome or Chromium.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

import explorer as ex
from explorer.errors import ChoiceError, MissingError
from explorer.views.export import browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURE = Path("docs") / "board.webp"
SENTENCE = "The animal didn't cross the street because it was too tired."
ROW, COLUMN, HEAD = "it", "animal", 0
STATIONS = ("x", "qkv", "qk", "scale", "softmax", "mix")  # those at which the picture rests, in the board's order
SIZE = {"width": 1040, "height": 730}
MOVING, MOVES = 50, 9  # milliseconds between two frames of a motion, and their number
RESTS = 1100  # milliseconds at a station
Frames = list[tuple[Image.Image, int]]


def main(path: Path = PICTURE) -> None:
    """Draw the picture and say how large it is."""
    write(path, drawn(STATIONS))
    with Image.open(path) as picture:
        frames = getattr(picture, "n_frames", 1)
    sys.stdout.write(f"{path}: {path.stat().st_size / 1e6:.2f} MB, {frames} frames\n")


def drawn(stations: Sequence[str]) -> Frames:
    """The board's frames, each with the milliseconds that it stays, on the way through these stations."""
    from playwright.sync_api import sync_playwright

    program = browser()
    if program is None:
        raise MissingError("The picture needs Chrome or Chromium on this machine, and none was found.")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        frames = drawn_on(opened.new_page(viewport=SIZE, color_scheme="light"), stations)  # type: ignore[arg-type]
        opened.close()
    return frames


def drawn_on(page: Page, stations: Sequence[str]) -> Frames:
    """The same on a page of a browser that is open already."""
    with tempfile.TemporaryDirectory() as folder:
        page.goto(saved(Path(folder)).as_uri())
        page.wait_for_selector("body[data-drawn=yes] .board[data-state=ready]", state="attached")
        page.add_style_tag(content=".board canvas { outline: none !important }")  # no ring around what holds the focus
        page.clock.install()
        page.locator(".board canvas").first.focus()  # it takes the arrow keys
        return list(walked(page, stations))


def saved(folder: Path) -> Path:
    """The board in a file, with a pair of tokens held."""
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE, blocks=True)
    row, column = (trace.source.texts.index(word) for word in (ROW, COLUMN))
    return ex.save(ex.board(trace, station=STATIONS[0], head=HEAD, row=row, col=column), folder / "board.html")


def walked(page: Page, stations: Sequence[str]) -> Iterator[tuple[Image.Image, int]]:
    """Step on until every station was seen; the clock of the page moves only when a frame is due."""
    for number, station in enumerate(stations):
        while number and (before := place(page)) != station:
            page.keyboard.press("ArrowRight")
            if place(page) == before:
                raise ChoiceError(f"The board does not go on from {before!r} to {station!r}.")
            for _ in range(MOVES if place(page) == station else 0):
                page.clock.run_for(MOVING)
                yield shot(page), MOVING
        page.clock.run_for(2000)
        yield shot(page), RESTS


def place(page: Page) -> str:
    """The station at which the board is."""
    return str(page.evaluate("document.querySelector('.board').board.view().station"))


def shot(page: Page) -> Image.Image:
    """What the page shows now."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def write(path: Path, frames: Frames) -> None:
    """Write the frames as one file that begins again at its end, each with exactly its colours."""
    images, stays = [frame for frame, _ in frames], [stay for _, stay in frames]
    images[0].save(path, save_all=True, append_images=images[1:], duration=stays, loop=0, lossless=True, quality=80, method=6)


if __name__ == "__main__":
    main()
