"""The command line: `explorer app | lab | models | trace | corrupt | decode | fit | export | doctor`."""

from __future__ import annotations

import ast
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

from explorer.errors import ChoiceError, ExplorerError, FileError

cli = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
OPTIONS = ("size", "steps", "seed", "corpus", "folder", "device", "precision", "processes")  # of fit, never by --set
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

    rows = [{"name": m.name, **m.about(), "shipped": m.shipped, "folder": str(m.folder)} for m in shelf().values()]
    lines = [
        f"{row['name']:16} {row['preset']:12} {row['size']:8} {_count(row['steps']):14} "
        f"{'shipped' if row['shipped'] else 'yours':8} {row['folder']}"
        for row in rows
    ]
    _say(rows, as_json, "\n".join(lines))


def _count(steps: int | None) -> str:
    return f"{steps:,} steps" if steps else ""


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
def decode(
    model: Annotated[str, typer.Argument(help="A name (see `explorer models`) or a folder.")],
    text: Annotated[str, typer.Argument(help="What it goes on from, translates, or fills the blanks (___) of.")],
    strategy: Annotated[str, typer.Option(help="greedy, sample, beam, diverse-beam, contrastive, fill.")] = "greedy",
    settings: Annotated[list[str] | None, typer.Option("--set", help="beams=5, temperature=0.7, …: NAME=VALUE.")] = None,
    seed: Annotated[int, typer.Option(help="What 'sample' draws with.")] = 0,
    as_json: Json = False,
) -> None:
    """Let a model write, step by step."""
    import explorer as ex

    options: dict[str, Any] = dict(map(_setting, settings or ())) | ({} if strategy == "fill" else {"seed": seed})
    steps = list(ex.decode(ex.load(model), text, strategy, **options))
    said = [step.text if isinstance(step.text, str) else " ".join(step.text) for step in steps]
    _say({"model": model, "strategy": strategy, "steps": said, "log P": float(steps[-1].total)}, as_json, "\n".join(said))


@cli.command()
def fit(  # noqa: PLR0913  one for each choice on the command line
    system: Annotated[str, typer.Argument(help="A preset: bert, gpt2, bart, …")],
    size: str = "tiny",
    steps: Annotated[int | None, typer.Option(help="How many steps; the preset has its own number.")] = None,
    seed: int = 0,
    corpus: Annotated[str | None, typer.Option(help="A name, a text file or a folder; the preset has its own.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where the run is kept; runs/SYSTEM if nothing is said.")] = None,
    batch: Annotated[int | None, typer.Option(help="How many texts a step reads.")] = None,
    rate: Annotated[float | None, typer.Option(help="The highest learning rate.")] = None,
    checks: Annotated[int | None, typer.Option(help="About how often the model is measured on held-out text.")] = None,
    teacher: Annotated[str | None, typer.Option(help="Whom a student learns from: a name or a folder.")] = None,
    accumulate: Annotated[int | None, typer.Option(help="In how many parts a batch is worked through, to save memory.")] = None,
    precision: Annotated[str, typer.Option(help="float32, bfloat16 or auto.")] = "auto",
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    processes: Annotated[int, typer.Option(help="How many processes torchrun is to have started.")] = 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other part of the plan or preset: NAME=VALUE.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a system from scratch. Ctrl-C stops it; the same command goes on where it was."""
    import explorer as ex
    from explorer.shells.progress import Progress, stopping

    _check_processes(processes)
    given = {"batch": batch, "rate": rate, "checks": checks, "accumulate": accumulate, "teacher": teacher}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    options |= dict(map(_setting, settings or ()))
    options |= {"folder": folder or Path("runs") / system, "device": device, "precision": precision}
    run = ex.fit(system, size=size, steps=steps, seed=seed, corpus=corpus, **options)
    progress = Progress(run.plan.steps, run.step, as_json)
    with stopping(run.stop) as stopped:
        for step in run:
            if run.processes.main:
                progress.say(step)
    if run.processes.main:
        _say_end(run, bool(stopped), as_json)


def _say_end(run: Any, stopped: bool, as_json: bool) -> None:
    """Where the run is now, and what to do with it."""
    if stopped and run.step < run.plan.steps:
        sys.stderr.write(f"\nStopped after step {run.step}. The same command goes on from there.\n")
        sys.exit(130)
    told = f"\nDone: {run.folder}. Open it with ex.load({_opened(run.folder)!r})."
    _say({"folder": str(run.folder), "steps": run.step}, as_json, told)


def _opened(folder: Path | None) -> str:
    """A folder as `ex.load` takes it: a path has a separator, a name has none."""
    text = str(folder)
    return text if os.sep in text or "/" in text else f"./{text}"


def _setting(text: str) -> tuple[str, Any]:
    """NAME=VALUE as a name and a number, a truth value or a word."""
    name, sign, value = text.partition("=")
    if not (sign and name.isidentifier()):
        raise ChoiceError(f"--set {text!r} must be NAME=VALUE, for example --set dropout=0.1.")
    if name in OPTIONS:
        raise ChoiceError(f"--set {text!r}: this has an option of its own. Write --{name} {value}.")
    if name == "what":
        raise ChoiceError(f"--set {text!r}: the system stands right after fit. Write explorer fit {value}.")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _check_processes(wanted: int) -> None:
    """Training in several processes is started by torchrun; one that silently ran alone would take the whole night."""
    found = int(os.environ.get("WORLD_SIZE", "1"))
    if found != wanted and wanted != 1:
        arguments = " ".join(sys.argv[1:])
        raise ChoiceError(
            f"There are {found} process(es) here, not {wanted}. Start them with: "
            f"torchrun --standalone --nproc_per_node {wanted} -m explorer {arguments}"
        )


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
