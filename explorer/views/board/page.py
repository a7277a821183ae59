"""A board as one page: its module, its style and its numbers, packed, in a file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from explorer.views.board.module import module, style
from explorer.views.letters import POLICY, UNPACK, filled, packed


def page(data: bytes, *, title: str, mount: str = "mount", **options: Any) -> bytes:
    """One HTML page: of a recorded forward pass, or (`mountLive`) of a model that reads what is typed. `options` are those of the board.

    Without a mode it follows the reader's light or dark setting.
    """
    live = mount == "mountLive"
    return written_page(data, options, title=title, mount=mount, script=module(live=live), look=style(live=live))


def written_page(data: bytes, options: Mapping[str, Any], *, title: str, mount: str, script: str, look: str) -> bytes:
    """One HTML page that holds a module, its style and its data; its function of the name `mount` is given the data and options."""
    parts = {
        "TITLE": escape(title),
        "STYLE": look,
        "VIEW": json.dumps(options).replace("<", "\\u003c"),
        "MODULE": packed(script),
        "MOUNT": mount,
        "WAITS": "" if mount == "mountLive" else "await ",  # a live board starts its worker while the model is unpacked
        "DATA": packed(data),
        "UNPACK": UNPACK,
        "POLICY": POLICY,
    }
    return filled(PAGE, parts).encode("utf-8", "replace")


HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="@POLICY@">
<title>@TITLE@</title>
<link rel="icon" href="data:,">
<style>
"""
PAGE = (
    HEAD
    + """:root { color-scheme: light dark; }
body { margin: 0; padding: .6rem 1rem; background: #ffffff; }
@media (prefers-color-scheme: dark) { body { background: #11151c; } }
@media (max-width: 600px) { body { padding: .4rem; } }
@STYLE@</style>
</head>
<body>
<div id="board"><noscript>This page needs JavaScript.</noscript></div>
<script type="text/plain" id="module">@MODULE@</script>
<script type="application/json" id="options">@VIEW@</script>
<script type="module" async>
@UNPACK@
const parsed = new Promise((done) => document.readyState === "loading" ? addEventListener("DOMContentLoaded", done) : done());
const data = parsed.then(() => unpacked("data")).then((held) => held.arrayBuffer()).then((bytes) => new Uint8Array(bytes));
const code = await (await unpacked("module")).text();
const { @MOUNT@: mount } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
await mount(document.getElementById("board"), @WAITS@data, JSON.parse(document.getElementById("options").textContent));
await data;  // a live board says by itself that its model is damaged
document.body.dataset.drawn = "yes";
</script>
<script type="text/plain" id="data">@DATA@</script>
</body>
</html>
"""
)
