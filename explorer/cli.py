"""The command line: `explorer app | lab | models | trace | corrupt | fit | export | doctor`."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.errors import ExplorerError, FileError

cli = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
PACKAGES = ("torch", "transformers", "tokenizers", "plotly", "streamlit", "jupyterlab", "ipywidgets", "kaleido", "bertviz")


@cli.command()
def app(port: Annotated[int, typer.Option(help="The port to serve on.")] = 8501, open_browser: bool = True) -> None:
    """Open the explorer in a browser."""
    home = _home("app.py")
    os.chdir(home.parent)
    _start("streamlit", "run", str(home), "--server.port", str(port), "--server.headless", str(not open_browser).lower())


@cli.command()
def lab(port: Annotated[int, typer.Option(help="The port to serve on.")] = 8888, open_browser: bool = True) -> None:
    """Open the notebooks in JupyterLab."""
    quiet = f"--LabApp.app_settings_dir={_home('notebooks') / 'settings'}"  # no news, no updates: nothing from the network
    browser = [] if open_browser else ["--no-browser"]
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    _start("jupyterlab", "--port", str(port), "--notebook-dir", str(_home("notebooks")), quiet, *browser, *root)


@cli.command()
def models(as_json: Json = False) -> None:
    """List the models that open by name."""
    from explorer.library import models as shelf

    rows = [{"name": m.name, "shipped": m.shipped, "folder": str(m.folder)} for m in shelf().values()]
    _say(
        rows,
        as_json,
        "\n".join(f"{row['name']:16} {'shipped' if row['shipped'] else 'yours':8} {row['folder']}" for row in rows),
    )


@cli.command()
def trace(
    model: Annotated[str, typer.Argument(help="A name (see `explorer models`) or a folder.")],
    text: Annotated[str, typer.Argument(help="What the model reads.")],
    out: Annotated[Path | None, typer.Option(help="Write the trace (.npz) or its picture (.html .png .svg .csv).")] = None,
    as_json: Json = False,
) -> None:
    """Run a model over a text and say what it predicts at each place; keep the whole trace with --out."""
    import numpy as np

    import explorer as ex
    from explorer.views import VIEWS

    record = ex.trace(ex.load(model), text)
    if out is not None:
        if out.suffix == ".npz":
            record.write(out)
        else:
            view = VIEWS["attention"]
            ex.save(view(record), out, caption=view.caption)
    assert record.top is not None
    rows: list[dict[str, Any]] = [
        {"piece": piece, "predicts": dict(zip(texts[:3], (round(float(p), 4) for p in logp[:3]), strict=True))}
        for piece, texts, logp in zip(record.source.texts, record.top.texts, np.exp(record.top.logp), strict=True)
    ]
    lines = [f"{row['piece']:16} {'  '.join(f'{t} {p:.3f}' for t, p in row['predicts'].items())}" for row in rows]
    note = f"Largest gap between re-derived attention weights and the model's own: {record.residual:.1e}"
    _say({"model": record.model, "rows": rows, "residual": record.residual}, as_json, "\n".join([*lines, note]))


@cli.command()
def corrupt(
    text: Annotated[str, typer.Argument(help="The text to corrupt.")],
    strategy: Annotated[str, typer.Option(help="mlm, whole-word, spanbert, bart, …")] = "mlm",
    model: Annotated[str, typer.Option(help="Whose tokenizer is used.")] = "bert",
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """Show a text as pre-training would show it to a model."""
    import explorer as ex

    made = ex.corrupt(text, strategy, tokenizer=ex.load(model).tokenizer, seed=seed)
    target = None if made.target is None else list(made.target.texts)
    lines = [" ".join(made.source.texts), "→ " + ("the original" if target is None else " ".join(target))]
    _say({"source": list(made.source.texts), "action": list(made.action), "target": target}, as_json, "\n".join(lines))


@cli.command()
def fit(  # noqa: PLR0913  one for each choice on the command line
    system: Annotated[str, typer.Argument(help="A preset: bert, gpt2, bart, …")],
    size: str = "tiny",
    steps: int = 2000,
    seed: int = 0,
    corpus: Annotated[str, typer.Option(help="The name of a corpus.")] = "toy",
    folder: Annotated[Path | None, typer.Option(help="Where the run is kept; runs/SYSTEM if nothing is said.")] = None,
    as_json: Json = False,
) -> None:
    """Train a system from scratch. Ctrl-C stops it; the same command goes on where it was."""
    import explorer as ex

    run = ex.fit(system, size=size, steps=steps, seed=seed, corpus=corpus, folder=folder or Path("runs") / system)
    try:
        for step in run:
            _say_step(step, steps, as_json)
    except KeyboardInterrupt:
        sys.stderr.write(f"\nStopped after step {run.step}. The same command goes on from there.\n")
        sys.exit(130)
    _say(
        {"folder": str(run.folder), "steps": run.step},
        as_json,
        f"\nDone: {run.folder}. Open it with ex.load({str(run.folder)!r}).",
    )


def _say_step(step: Any, steps: int, as_json: bool) -> None:
    """One line that is written over, or one line of JSON for each tenth step."""
    losses = "  ".join(f"{name} {value:.3f}" for name, value in step.losses.items())
    if as_json and (step.step % 10 == 0 or step.step == steps):
        sys.stdout.write(json.dumps({"step": step.step, "losses": dict(step.losses), "speed": round(step.speed)}) + "\n")
    elif not as_json:
        done = round(24 * step.step / steps)
        sys.stderr.write(f"\r{'█' * done}{'░' * (24 - done)} {step.step}/{steps}  {losses}  {step.speed:,.0f} pieces/s ")
        sys.stderr.flush()


@cli.command()
def export(
    model: Annotated[str, typer.Argument(help="A name (see `explorer models`) or a folder.")],
    folder: Annotated[Path, typer.Argument(help="Where the Hugging Face checkpoint is written.")],
    as_json: Json = False,
) -> None:
    """Write a model as a plain Hugging Face checkpoint."""
    import explorer as ex

    written = ex.export(ex.load(model), folder)
    _say({"folder": str(written), "files": sorted(p.name for p in written.iterdir())}, as_json, f"Written to {written}.")


@cli.command()
def doctor(as_json: Json = False) -> None:
    """Say what is installed and what will work."""
    from explorer.library import models as shelf
    from explorer.shells.export import browser

    found: dict[str, Any] = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    import torch

    found |= {
        "models": sorted(shelf()),
        "gpu": torch.cuda.is_available(),
        "browser for PNG and SVG": browser() or "none: HTML still works",
    }
    found["free space"] = f"{shutil.disk_usage('.').free / 1e9:.0f} GB"
    _say(found, as_json, "\n".join(f"{name:26} {value}" for name, value in found.items()))


def main() -> None:
    """Run the command line; what goes wrong on purpose is one calm line, not a stack trace."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without these letters shows a mark in their place
    try:
        cli()
    except ExplorerError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


def _home(name: str) -> Path:
    """A file of the checkout, or its copy inside an installed package."""
    here = Path(__file__).parent
    for place in (here / name, here.parent / name):
        if place.exists():
            return place
    raise FileError(f"{name} is not beside the package. Install it again, or start from a checkout.")


def _start(module: str, *arguments: str) -> None:
    sys.exit(subprocess.call([sys.executable, "-m", module, *arguments]))


def _say(value: Any, as_json: bool, text: str) -> None:
    sys.stdout.write((json.dumps(value, ensure_ascii=False) if as_json else text) + "\n")
