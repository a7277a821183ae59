"""A page of a browser that holds what computes a training there, for tests that call it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page

from explorer.views.learning.module import computing

IMPORT = (
    'async (text) => Object.assign(globalThis, await import(URL.createObjectURL(new Blob([text], {type: "text/javascript"}))))'
)


@contextmanager
def page_with(browser: Browser, names: str, script: str) -> Iterator[Page]:
    """A page in which these names are global, and what a script adds to them."""
    page = browser.new_page()
    page.set_content("<!doctype html><meta charset=utf-8>")
    page.evaluate(f"async (text) => {{ await ({IMPORT})(text); }}", f"{computing()}\nexport {{ {names} }};")
    page.evaluate(f"() => {{ {script} }}")
    yield page
    page.close()
