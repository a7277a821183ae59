"""A student's own copies of the notebooks: what is written into them is theirs, and a lesson stays as it was shipped."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat

from explorer.errors import FileError

OWN = "my_notebook.ipynb"
FIRST = 'import numpy as np\n\nimport explorer as ex\n\nmodel = ex.load("bert")\ntrace = ex.trace(model, "The dog ran home.")\ntrace'


def copied_notebooks(lessons: Path, folder: Path) -> list[Path]:
    """Copy into `folder` each notebook that it does not hold yet, and a new one to write in; which files are new.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> names = [path.name for path in copied_notebooks(Path("notebooks"), folder)]
    >>> names[0], names[-1], copied_notebooks(Path("notebooks"), folder)
    ('00_start.ipynb', 'my_notebook.ipynb', [])
    """
    new = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for lesson in sorted(lessons.glob("*.ipynb")):
            if not (folder / lesson.name).exists():
                new.append(Path(shutil.copyfile(lesson, folder / lesson.name)))
        if not (folder / OWN).exists():
            nbformat.write(own_notebook(), folder / OWN)
            new.append(folder / OWN)
    except OSError as error:
        raise FileError(
            f"The notebooks cannot be copied to {folder}: {error.strerror}. Name a folder of yours: explorer lab --folder …"
        ) from error
    return new


def own_notebook() -> nbformat.NotebookNode:
    """A notebook with one cell that opens a model, and an empty one."""
    cells = [nbformat.v4.new_code_cell(FIRST, id="first"), nbformat.v4.new_code_cell("", id="yours")]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
