"""The moving picture of the front page is drawn of today's board. (It starts a browser itself, so no other may be open beside it.)"""

from __future__ import annotations

import numpy as np
import pytest
from conftest import LONG
from PIL import Image

from studies import board_picture


@pytest.mark.browser
@LONG
def test_the_front_page_s_picture_is_today_s_board() -> None:
    first, _ = board_picture.drawn(board_picture.STATIONS[:1])[0]
    with Image.open(board_picture.PICTURE) as picture:
        pixels = np.asarray(picture.convert("RGB"), np.int16)
    assert float(np.abs(np.asarray(first, np.int16) - pixels).mean()) < 4, "draw it again: python -m studies.board_picture"
