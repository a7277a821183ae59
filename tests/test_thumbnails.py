"""Small pictures in the options of a control: their colours are the numbers, and each option has its own."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from conftest import LONG, Visit
from PIL import Image
from playwright.sync_api import Browser, expect
from test_frame_browser import rested

import explorer as ex
from explorer.app import thumbnails
from explorer.views import theme
from studies import board_picture

SHOWN = "at => getComputedStyle(at.querySelector('div'), '::before').backgroundImage"


def dots(address: str) -> np.ndarray:
    """The colours of a picture."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(address.partition("base64,")[2]))).convert("RGB"))


def named(colour: np.ndarray) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in colour)


@pytest.mark.parametrize("mode", theme.MODES)
def test_the_ends_and_the_middle_have_the_colours_of_the_scale(mode: str) -> None:
    colours = dots(thumbnails.picture(np.array([[-3.0, 0.0], [1.5, 3.0], [np.nan, -1.5]]), mode))
    low, middle, high = (theme.DIVERGING[mode][at] for at in (0, 3, 6))
    assert [named(colours[at]) for at in ((0, 0), (0, 1), (1, 1), (2, 0))] == [low, middle, high, middle]
    assert named(colours[1, 0]) not in (middle, high) and named(colours[2, 1]) not in (middle, low)
    assert {named(colour) for colour in dots(thumbnails.picture(np.zeros((2, 2)), mode)).reshape(-1, 3)} == {middle}


@LONG
@pytest.mark.browser
def test_every_scheme_shows_what_it_adds_to_the_scores(visit: Visit) -> None:
    page = visit("/positions?scheme=alibi", "light", 1280)
    rested(page)
    expect(page.locator(".st-key-scheme [role=radio]").nth(9)).to_be_visible()
    options = page.locator(".st-key-scheme [role=radio]").all()
    shown = {element.inner_text(): element.evaluate(SHOWN) for element in options}
    assert len(shown) >= 10 and all(address.startswith('url("data:image/png') for address in shown.values())
    for scheme in ("alibi", "sinusoidal", "none"):
        wanted = thumbnails.picture(ex.places(scheme).scores[0, :24, :24], "light")
        np.testing.assert_array_equal(dots(shown[scheme]), dots(wanted), err_msg=scheme)
    assert len({shown[name] for name in ("none", "sinusoidal", "rope", "alibi", "t5")}) == 5
    page.locator(".st-key-scheme [role=radio]", has_text="rope").click()
    page.wait_for_url("**scheme=rope**")


@pytest.mark.browser
@LONG
def test_the_front_page_s_moving_picture_is_today_s_board(browser: Browser) -> None:
    page = browser.new_page(viewport=board_picture.SIZE, color_scheme="light")
    first, _ = board_picture.drawn_on(page, board_picture.STATIONS[:1])[0]
    with Image.open(board_picture.PICTURE) as picture:
        pixels = np.asarray(picture.convert("RGB"), np.int16)
    assert float(np.abs(np.asarray(first, np.int16) - pixels).mean()) < 4, "draw it again: python -m studies.board_picture"
