"""What all pages of a site share: head, bar and foot, the style, and the scripts, which are files beside them."""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path

from explorer.views.board.module import module, style
from explorer.views.learning.module import learning_module, learning_style
from explorer.views.opening.module import opening_module, opening_style

MARK = "explorer-site.txt"  # so begins a folder that may be written again
HERE = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self' blob:; worker-src blob:; connect-src 'self'; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
PARTS = ("models", "notebooks")  # folders of a site
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{up}site.css">
</head>
<body>
<header><nav aria-label="Site"><a href="{up}index.html">Pre-training explorer</a> {links}</nav></header>
<main>
{body}
</main>
<footer><p>Everything is computed in your browser. What you type is sent to nobody.</p></footer>
{scripts}</body>
</html>
"""


def document(title: str, body: str, *, up: str = "", links: str = "", scripts: tuple[str, ...] = ()) -> str:
    """One page; `up` leads from its folder to that of the front page, and `scripts` are files in the latter."""
    tags = "".join(f'<script type="module" src="{up}{script}"></script>\n' for script in scripts)
    return PAGE.format(policy=POLICY, title=escape(title), up=up, links=links, body=body, scripts=tags)


def write_shared(folder: Path) -> None:
    """The style and the scripts of all pages."""
    (folder / "site.css").write_text((HERE / "site.css").read_text("utf-8"), "utf-8")
    (folder / "live.css").write_text(style(live=True), "utf-8")
    (folder / "live.js").write_text(module(live=True), "utf-8")
    (folder / "learning.css").write_text(learning_style(), "utf-8")
    (folder / "learning.js").write_text(learning_module(), "utf-8")
    (folder / "opening.css").write_text(opening_style(), "utf-8")
    (folder / "opening.js").write_text(opening_module(), "utf-8")
    for name in ("fetched.js", "opening_page.js", "live_page.js", "lab_page.js", "learning_page.js"):
        (folder / name).write_text((HERE / name).read_text("utf-8"), "utf-8")


def emptied(folder: Path) -> None:
    """A folder with nothing of an earlier site, marked as one."""
    for part in PARTS:
        shutil.rmtree(folder / part, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    (folder / MARK).write_text(
        "Written by explorer site. Whoever writes it again replaces every file in this folder.\n", "utf-8"
    )
