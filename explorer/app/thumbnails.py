"""Small pictures in the options of a control: what each choice does, seen before it is chosen."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
import streamlit as st
from PIL import Image, ImageColor

from explorer.app.hold import mode
from explorer.views import theme

SIZES = """.st-key-{key} [role=radio] {{ height: auto; padding: 5px 6px 3px; border-radius: 8px; }}
.st-key-{key} [role=radio] > div {{ flex-direction: column; }}
.st-key-{key} [role=radio] > div::before {{ content: ""; display: block; width: 48px; height: 48px; margin: 0 auto 3px; border-radius: 3px;
  border: 1px solid {line}; background: {paper} center / 100% 100% no-repeat; image-rendering: pixelated; }}
@media (max-width: 640px) {{ .st-key-{key} [role=radio] > div::before {{ width: 40px; height: 40px; }} }}"""
DRAWN = ".st-key-{key} [role=radio]:nth-child({at}) > div::before {{ background-image: url({picture}); }}"


def framed(key: str) -> None:
    """Room for a picture above the name of each option, so that nothing moves when the pictures come."""
    st.html(f"<style>{SIZES.format(key=key, line=theme.NOWHERE[mode()], paper=theme.PAPER[mode()])}</style>")


def drawn(key: str, matrices: Sequence[np.ndarray]) -> None:
    """A matrix for each option, in their order: blue above 0, orange below, each on a scale of its own."""
    rules = (DRAWN.format(key=key, at=at, picture=picture(matrix, mode())) for at, matrix in enumerate(matrices, 1))
    st.html(f"<style>{' '.join(rules)}</style>")


def picture(matrix: np.ndarray, mode: str) -> str:
    """A matrix as the address of a PNG in the signed colours, one dot for each number."""
    stops = np.array([ImageColor.getrgb(colour) for colour in theme.DIVERGING[mode]], np.float64)
    at = np.clip(np.nan_to_num(matrix) / (np.nanmax(np.abs(matrix)) or 1.0), -1, 1)
    channels = [np.interp(at, np.linspace(-1, 1, len(stops)), stops[:, channel]) for channel in range(3)]
    buffer = io.BytesIO()
    Image.fromarray(np.stack(channels, -1).round().astype(np.uint8)).save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
