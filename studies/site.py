"""The notebooks as pages that need neither a kernel nor a network, and the solutions of their questions.

`python -m studies.site` runs every notebook and writes it into `site/` twice: as HTML, and as a notebook whose pictures
are images, which a code host shows, too. Names after it choose some: `python -m studies.site 03_attention`.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from copy import deepcopy
from html import escape, unescape
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from explorer.errors import unknown
from explorer.views import theme
from explorer.views.export import drawing
from studies import solutions
from studies.mathml import formulas, mathml
from studies.still_widgets import PROSE, fitted, stilled

NOTEBOOKS, SITE = Path("notebooks"), Path("site")
KEEPING = "from studies.solutions import keep\n\nkeep()"
SOLUTIONS = "solutions"
LARGEST = 2_900_000  # bytes of a page
ASIDE = "For teachers: every question that the notebooks ask, with the answer that was computed in the same run."
IMAGES = ":is(.jp-RenderedImage, .jp-RenderedSVG) img"
EXCHANGED = f"{IMAGES} {{ filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; }}"
NARROW = (  # on a telephone, what is wide keeps its size and is moved sideways; JupyterLab makes rows of tables of it
    ":is(.jp-OutputArea-child, .jp-OutputArea-child .jp-OutputArea-output) { display: block; } "
    f":is(.jp-OutputArea-output, .highlight pre) {{ overflow-x: auto; }} {IMAGES} {{ max-width: none; }}"
)
HEAD = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'


def main(names: Sequence[str], site: Path = SITE) -> None:
    """Run and write the notebooks of these names, or all of them with their solutions."""
    shelf = {path.stem: path for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
    for name in names:
        if name not in shelf:
            raise unknown("notebook", name, shelf)
    site.mkdir(exist_ok=True)
    titles, answers = {}, []
    with drawing():
        for name in names or shelf:
            done, exercises = ran(nbformat.read(shelf[name], as_version=4))
            titles[name] = title_of(done)
            still = stilled(done)
            write(fitted(still, LARGEST - without_images(still)), site / name)
            answers += solutions.cells(titles[name], exercises) if exercises else []
            sys.stdout.write(f"{name}: {(site / name).with_suffix('.html').stat().st_size / 1e6:.1f} MB\n")
    write(new_notebook(cells=[new_markdown_cell(f"# Solutions\n\n{ASIDE}"), *answers]), site / SOLUTIONS)
    (site / "index.html").write_text(index(titles), "utf-8")


def ran(notebook: NotebookNode) -> tuple[NotebookNode, list[dict[str, object]]]:
    """The notebook with its outputs, and the exercises that it asked."""
    notebook.cells.insert(0, new_code_cell(KEEPING))
    with tempfile.TemporaryDirectory() as folder:
        done = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    del done.cells[0]
    return done, solutions.taken(done)


def title_of(notebook: NotebookNode) -> str:
    """Its first heading."""
    return str(notebook.cells[0].source).splitlines()[0].lstrip("# ")


def write(notebook: NotebookNode, place: Path) -> None:
    """Write the notebook, and the page that is made of it."""
    notebook.metadata["title"] = title_of(notebook)
    nbformat.write(notebook, place.with_suffix(".ipynb"))
    place.with_suffix(".html").write_text(page(notebook), "utf-8")


def page(notebook: NotebookNode) -> str:
    """The notebook as one page that loads nothing: formulas as MathML, and none of the scripts that nbconvert would fetch."""
    notebook, drawn = nbformat.from_dict(deepcopy(notebook)), dict[str, str]()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = marked(cell.source, drawn)
        for output in cell.get("outputs", ()):
            text = output.get("data", {}).get("text/html", "")
            if text.startswith(PROSE):
                output.data["text/html"] = marked(text, drawn)
    exporter = HTMLExporter(template_name="lab")
    body, _ = exporter.from_notebook_node(notebook)
    head, rest = body.split("</head>", 1)
    head = re.sub(r"<script\b.*?</script>", "", head, flags=re.DOTALL) + own_style(exporter)
    rest = re.sub(r"-?FORMULA\d+ENDS(?=[^<]*>)", "", rest)  # in the address of a heading
    return head + "</head>" + re.sub(r"FORMULA\d+ENDS", lambda match: drawn[match[0]], rest)


def own_style(exporter: HTMLExporter) -> str:
    """What is added to nbconvert's style: a telephone's, and where a reader chose dark JupyterLab's dark theme on our pictures' paper.

    An image stays one file: in the dark it is shown with light and dark exchanged and with its hues, its colour bar as well.
    """
    lab, *_ = exporter.environment.loader.get_source(exporter.environment, "static/theme-dark.css")
    paper = f":root {{ --jp-layout-color0: {theme.PAPER['dark']}; }}"
    dark = f":root {{ color-scheme: light dark; }} @media (prefers-color-scheme: dark) {{ {lab} {paper} {EXCHANGED} }}"
    return f"<style>{dark} @media (max-width: 760px) {{ {NARROW} }}</style>\n"


def without_images(notebook: NotebookNode) -> int:
    """How many bytes of its page are no image."""
    bare = nbformat.from_dict(deepcopy(notebook))
    for cell in bare.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("image/png", None)
    return len(page(bare).encode())


def marked(text: str, drawn: dict[str, str]) -> str:
    """The text with a mark in the place of every formula, which is kept in `drawn`: what reads markdown leaves a mark alone."""
    for written, formula, block in formulas(text):
        mark = f"FORMULA{len(drawn)}ENDS"
        drawn[mark] = mathml(unescape(formula), block=block)
        text = text.replace(written, mark)
    return text


def index(titles: dict[str, str]) -> str:
    """A page that leads to the others."""
    lines = [f'<li><a href="{name}.html">{escape(title)}</a></li>' for name, title in titles.items()]
    last = f'<p><a href="{SOLUTIONS}.html">Solutions, for teachers</a></p>'
    return f"{HEAD}<title>Pre-training explorer</title>\n<h1>Pre-training explorer</h1>\n<ul>\n{chr(10).join(lines)}\n</ul>\n{last}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
