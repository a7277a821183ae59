"""The command line: explorer app, lab, get, models, trace, corrupt, learn, decode, fit, finetune, export, site, doctor and others."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.completion import completion_init, get_completion_script

from explorer import __version__
from explorer.errors import ChoiceError, ExplorerError, FileError, MissingError, unknown
from explorer.errors.missing import check_installed, missing
from explorer.errors.settings import setting_in
from explorer.errors.targets import file_to_write
from explorer.fitting import finetune, fit
from explorer.getting import get
from explorer.options import Document, Encoding, Field, Json, say

cli = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
cli.command()(get)
DECODING = ("strategy", "seed")  # options of decode, never by --set
VARIABLE, SHELLS = "_EXPLORER_COMPLETE", ("bash", "zsh", "fish")  # by the first a shell asks how a line goes on


def _named(beginning: str) -> list[str]:
    """The models whose names begin like this, for a shell that completes a line: their folders alone are looked at."""
    from explorer.models.fetched import fetched_models
    from explorer.models.folders import data_folder, own_folder

    names = {place.parent.name for folder in (data_folder() / "models", own_folder()) for place in folder.glob("*/config.json")}
    return sorted(name for name in names.union(fetched_models()) if name.startswith(beginning))


ModelName = Annotated[str, typer.Argument(help="A name (see `explorer models`) or a folder.", autocompletion=_named)]


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"explorer {__version__}\n")
        raise typer.Exit


@cli.callback()
def explorer(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)] = False,
) -> None:
    """See how language models are pre-trained: train them small, open them, and check every number."""


@cli.command()
def completion(shell: Annotated[str, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Print what makes a shell complete commands, options and models: eval "$(explorer completion bash)"."""
    if shell not in SHELLS:
        raise unknown("shell here", shell, SHELLS)
    sys.stdout.write(get_completion_script(prog_name="explorer", complete_var=VARIABLE, shell=shell) + "\n")


@cli.command()
def app(
    port: Annotated[int, typer.Option(help="The port to serve on.")] = 8501,
    open_browser: bool = True,
    classroom: Annotated[bool, typer.Option("--classroom", help="Serve a room: with limits, and to other computers.")] = False,
    address: Annotated[str, typer.Option(help="The address to serve on: this computer alone, with --classroom 0.0.0.0.")] = "",
    settings: Annotated[Path | None, typer.Option(help="A TOML file with the limits of the room (means --classroom).")] = None,
    lesson: Annotated[str, typer.Option(help="A lesson to present: a TOML file, or L0 to L4 for the five lectures.")] = "",
) -> None:
    """Open the explorer in a browser, for oneself or for a room."""
    check_installed("explorer app", "streamlit", "plotly")
    home = _home("app.py")
    where = address or ("0.0.0.0" if classroom or settings is not None else "127.0.0.1")
    greeting, page = f"The explorer: http://{where}:{port}/ (Ctrl-C stops it)\n", f"http://{where}:{port}/lesson"
    first: list[str] = []
    if classroom or settings is not None:
        from explorer.app import hosted, room

        greeting = hosted.opened(settings, where, port)
        first = [room.hand_over()]
        page = hosted.for_teacher("lesson")
    greeting += _lesson(lesson, page) if lesson else ""
    sys.stdout.write(greeting)
    sys.stdout.flush()
    os.chdir(home.parent)
    options = ("--server.port", str(port), "--server.address", where, "--server.headless", str(not open_browser).lower())
    _start("explorer.app.serve", *first, "run", str(home), *options)


def _lesson(lesson: str, page: str) -> str:
    """Have the server present a lesson; the line that says on which page."""
    from explorer.app import lecture
    from explorer.app.lesson_plan import read_plan

    plan = read_plan(lesson)
    shipped = lesson in lecture.shipped()
    os.environ[lecture.VARIABLE] = lesson if shipped else str(Path(lesson).resolve())
    return f"Lesson:   {page} ({len(plan.steps)} steps: {plan.title})\n"


@cli.command()
def lab(
    port: Annotated[int, typer.Option(help="The port to serve on.")] = 8888,
    open_browser: bool = True,
    folder: Annotated[Path, typer.Option(help="Where your copies of the notebooks are.")] = Path("explorer-notebooks"),
) -> None:
    """Open copies of the notebooks in JupyterLab, and one of your own; what you write in them is kept."""
    check_installed("explorer lab", "jupyterlab", "ipywidgets", "plotly")
    from explorer.app.notebook_folder import copied_notebooks

    new = copied_notebooks(_home("notebooks"), folder)
    sys.stdout.write(f"Your notebooks: {folder.absolute()} ({len(new)} new)\n")
    quiet = f"--LabApp.app_settings_dir={_home('notebooks') / 'settings'}"  # no news, no updates: nothing from the network
    stills = "--ClearMetadataPreprocessor.enabled=True"  # in an export as HTML: widgets would ask the network
    browser = [] if open_browser else ["--no-browser"]
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    _start("jupyterlab", "--port", str(port), "--notebook-dir", str(folder.absolute()), quiet, stills, *browser, *root)


@cli.command()
def models(as_json: Json = False) -> None:
    """List the models that open by name."""
    from explorer.models.shelf import models as shelf

    rows = [
        {"name": m.name, **m.about(), "shipped": m.shipped, "from": m.whence, "folder": str(m.folder)} for m in shelf().values()
    ]
    lines = [
        f"{row['name']:16} {row['preset']:12} {row['size']:8} {_count(row['steps']):14} {row['from']:8} {row['folder']}"
        for row in rows
    ]
    say(rows, as_json, "\n".join(lines))


def _count(steps: int | None) -> str:
    return f"{steps:,} steps" if steps else ""


@cli.command()
def trace(
    model: ModelName,
    text: Annotated[str, typer.Argument(help="What the model reads.")],
    target: Annotated[str | None, typer.Option(help="What the decoder beside an encoder reads, shifted right.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the trace (.npz) or its picture (.html .png .svg .csv).")] = None,
    as_json: Json = False,
) -> None:
    """Run a model over a text and print its prediction at each position; keep the whole trace with --out."""
    import numpy as np

    import explorer as ex
    from explorer.views import VIEWS

    out = None if out is None else file_to_write(out, "trace.npz")
    record = ex.trace(ex.load(model), text, target=target)
    if out is not None:
        if out.suffix == ".npz":
            record.write(out)
        else:
            view = VIEWS["attention"]
            ex.save(view(record), out, caption=view.caption)
    if record.top is None:
        raise ChoiceError(f"{record.model} predicts no tokens, so there is nothing to print. Keep its trace with --out x.npz.")
    read = record.source if record.target is None else record.target
    rows: list[dict[str, Any]] = [
        # "piece" is the former name of "token", which scripts may read
        {"token": token, "piece": token, "predicts": dict(zip(texts[:3], (round(float(p), 4) for p in logp[:3]), strict=True))}
        for token, texts, logp in zip(read.texts, record.top.texts, np.exp(record.top.logp), strict=True)
    ]
    lines = [f"{row['token']:16} {'  '.join(f'{t} {p:.3f}' for t, p in row['predicts'].items())}" for row in rows]
    note = f"Largest gap between re-derived attention weights and the model's own: {record.residual:.1e}"
    say({"model": record.model, "rows": rows, "residual": record.residual}, as_json, "\n".join([*lines, note]))


@cli.command()
def corrupt(
    text: Annotated[str, typer.Argument(help="The text to corrupt.")],
    strategy: Annotated[str, typer.Option(help="mlm, whole-word, spanbert, bart, …")] = "mlm",
    model: Annotated[str, typer.Option(help="The model whose tokenizer is used, or a tokenizer.json.")] = "bert",
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """Corrupt a text as pre-training does: the model input and the target."""
    import explorer as ex

    tokenizer = ex.tokenizer(model) if Path(model).is_file() else ex.load(model).tokenizer
    corruption = ex.corrupt(text, strategy, tokenizer=tokenizer, seed=seed)
    target = None if corruption.target is None else list(corruption.target.texts)
    lines = [" ".join(corruption.source.texts), "→ " + ("the original" if target is None else " ".join(target))]
    say(
        {"source": list(corruption.source.texts), "action": list(corruption.action), "target": target},
        as_json,
        "\n".join(lines),
    )


@cli.command()
def learn(  # noqa: PLR0913  one for each choice on the command line
    texts: Annotated[str, typer.Argument(help="A file, a folder, hub:name, or a name such as microworld:2000.")],
    kind: Annotated[str, typer.Option(help="wordpiece, bpe or byte-bpe.")] = "bpe",
    size: Annotated[int, typer.Option(help="The most tokens that the vocabulary may have.")] = 1000,
    by: Annotated[str, typer.Option(help="How a pair is chosen: by count or by score.")] = "count",
    watch: Annotated[str, typer.Option(help="Words whose tokens are shown after every merge.")] = "",
    field: Field = "text",
    document: Document = "blank line",
    encoding: Encoding = "utf-8",
    out: Annotated[
        Path | None, typer.Option(help="Write the tokenizer (tokenizer.json), which transformers reads, too.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Learn a tokenizer from texts, merge by merge."""
    import explorer as ex
    from explorer.text.stretches import Layout
    from explorer.training.corpora import texts_to_learn

    target = None if out is None else file_to_write(out, "tokenizer.json")
    plain, report = texts_to_learn(texts, Layout(field, document, encoding))
    if not as_json:
        sys.stderr.write(f"{report}\n")
    merge = None
    for merge in ex.learn(kind, plain, size=size, by=by, watch=watch.split()):
        row = {"step": merge.step, "pair": merge.pair, "count": merge.count, "score": merge.score, "size": merge.size}
        row |= {"words": dict(zip(merge.words, merge.after, strict=True))} if watch else {}
        shown = "  ".join(" ".join(after) for after in merge.after) if watch else ""
        say(row, as_json, f"{merge.step:6}  {'  +  '.join(merge.pair):24} {merge.count:8,} times  {shown}".rstrip())
    if target is not None:
        ex.tokenizer(kind, plain, size=size, by=by).save(target)
    if not as_json:
        many = 0 if merge is None else merge.size
        sys.stderr.write(f"{many:,} tokens from {len(plain):,} texts.{'' if target is None else f' Written to {target}.'}\n")


@cli.command()
def decode(
    model: ModelName,
    text: Annotated[str, typer.Argument(help="The prompt, the text to translate, or a text with blanks (___) to fill.")],
    strategy: Annotated[str, typer.Option(help="greedy, sample, beam, diverse-beam, contrastive, fill.")] = "greedy",
    settings: Annotated[list[str] | None, typer.Option("--set", help="beams=5, temperature=0.7, …: NAME=VALUE.")] = None,
    seed: Annotated[int, typer.Option(help="The random seed of 'sample'.")] = 0,
    as_json: Json = False,
) -> None:
    """Generate text with a model, step by step."""
    import explorer as ex

    options: dict[str, Any] = dict(setting_in(given, DECODING) for given in settings or ()) | (
        {} if strategy == "fill" else {"seed": seed}
    )
    steps = list(ex.decode(ex.load(model), text, strategy, **options))
    texts = [step.text if isinstance(step.text, str) else " ".join(step.text) for step in steps]
    say({"model": model, "strategy": strategy, "steps": texts, "log P": float(steps[-1].total)}, as_json, "\n".join(texts))


cli.command()(fit)
cli.command()(finetune)


@cli.command()
def miniglue(  # noqa: PLR0913  one for each choice on the command line
    seeds: Annotated[int, typer.Option(help="How often everything is repeated, with other labelled texts.")] = 5,
    examples: Annotated[int, typer.Option(help="How many labelled texts each model learns from.")] = 200,
    steps: Annotated[int, typer.Option(help="How many steps each model learns.")] = 80,
    systems: Annotated[str, typer.Option(help="Only these, separated by commas.")] = "",
    tasks: Annotated[str, typer.Option(help="Only these, separated by commas.")] = "",
    recorded: Annotated[bool, typer.Option(help="Show the measurement that is shipped; measure nothing.")] = False,
    as_json: Json = False,
) -> None:
    """The lectures' table of models and tasks at classroom scale: measured again, with intervals and seconds."""
    settings = (seeds, examples, steps, _names(systems), _names(tasks))
    _say_measured("miniglue", None if recorded else settings, as_json)


@cli.command()
def labels(  # noqa: PLR0913  one for each choice on the command line
    seeds: Annotated[int, typer.Option(help="How often everything is repeated, with other labelled texts.")] = 5,
    counts: Annotated[str, typer.Option(help="How many labelled texts, separated by commas.")] = "25,50,100,200,400",
    steps: Annotated[int, typer.Option(help="How many steps each model learns.")] = 80,
    models: Annotated[str, typer.Option(help="Only these (BERT, GPT), separated by commas.")] = "",
    tasks: Annotated[str, typer.Option(help="Only these, separated by commas.")] = "",
    recorded: Annotated[bool, typer.Option(help="Show the measurement that is shipped; measure nothing.")] = False,
    as_json: Json = False,
) -> None:
    """The score by the number of labelled texts, pre-trained and from scratch: measured again, with intervals and seconds."""
    settings = (seeds, _names(counts), steps, _names(models), _names(tasks))
    _say_measured("labels", None if recorded else settings, as_json)


def _say_measured(name: str, settings: tuple[Any, ...] | None, as_json: bool) -> None:
    """Print a shipped measurement, or one that is taken now by the study that lies beside the package in a checkout."""
    import explorer as ex

    if settings and not (Path(__file__).parent.parent / "studies" / f"{name}.py").is_file():
        raise MissingError(
            "Measuring again needs a checkout, and this copy is installed: --recorded prints the shipped measurement."
        )
    record: Any = importlib.import_module(f"studies.{name}").again(*settings) if settings else ex.result(name)
    say(record.as_plain(), as_json, record.as_text())


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@cli.command()
def export(
    model: ModelName,
    folder: Annotated[Path, typer.Argument(help="Where the Hugging Face checkpoint is written.")],
    push_to_hub: Annotated[str | None, typer.Option(help="Upload it, too: the repository, as user/name.")] = None,
    as_json: Json = False,
) -> None:
    """Write a model as a plain Hugging Face checkpoint."""
    import explorer as ex

    written = ex.export(ex.load(model), folder, push_to_hub=push_to_hub)
    say({"folder": str(written), "files": sorted(p.name for p in written.iterdir())}, as_json, f"Written to {written}.")


@cli.command()
def site(
    folder: Annotated[Path, typer.Argument(help="A new folder, or one that this command wrote.")],
    models: Annotated[str, typer.Option(help="Only these, separated by commas; without it all shipped models that fit.")] = "",
    notebooks: Annotated[bool, typer.Option(help="With the notebooks as pages; they are run, which takes minutes.")] = True,
    pages: Annotated[Path | None, typer.Option(help="The notebooks as `make notebooks` wrote them, instead of a run.")] = None,
    as_json: Json = False,
) -> None:
    """Write a static site for any web server: models that run in the reader's browser, the corruption lab, the notebooks."""
    check_installed("explorer site", "plotly", "anywidget")
    from explorer.app.site import write_site

    report = write_site(folder, _names(models), notebooks=notebooks, pages=pages, say=None if as_json else print)
    say(report.as_plain(), as_json, "\n".join((*report.left_out, str(report))))


@cli.command()
def homework(
    lesson: Annotated[str, typer.Argument(help="A lesson: a TOML file, or L0 to L4 for the five lectures.")],
    file: Annotated[Path, typer.Argument(help="The HTML file to write.")],
    exercises: Annotated[int, typer.Option(help="The most exercises of each page.", min=0)] = 2,
    hand_out: Annotated[
        Path | None, typer.Option(help="Also write this HTML file, to print: a page a step, then the answers.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a lesson as one HTML file for home: live boards, questions and notes, without Python or a network."""
    check_installed("explorer homework", "streamlit", "plotly")
    from explorer.app import handout
    from explorer.app.homework.collecting import collected
    from explorer.app.homework.document import homework_of
    from explorer.app.lesson_plan import read_plan

    plan, target = read_plan(lesson), file_to_write(file, "homework.html").absolute()
    paper = file_to_write(hand_out, "handout.html").absolute() if hand_out else None
    heard = (lambda line: None) if as_json else typer.echo
    steps = collected(plan, _home("app.py"), exercises, heard)
    content = homework_of(plan, steps, heard)
    target.write_bytes(content)
    if paper:
        paper.write_text(handout.page_of(plan, steps), "utf-8", "replace")
    report = {"file": str(target), "bytes": len(content), "steps": len(plan.steps)}
    say(report, as_json, f"Written to {target}: {len(content) / 1e6:.1f} MB.")


@cli.command()
def cache(
    empty: Annotated[bool, typer.Option("--empty", help="Remove everything that is kept there.")] = False, as_json: Json = False
) -> None:
    """Say where generated stories and their tokens are kept so that a training run starts at once, or empty that folder."""
    from explorer.text.disk_cache import cache_folder, cached_files, empty_cache

    size, where = (empty_cache() if empty else sum(cached_files().values())), str(cache_folder() or "memory only")
    report = f"{size / 1e6:.1f} MB removed from {where}." if empty else f"{where}: {size / 1e6:.1f} MB"
    say({"folder": where, "bytes": size, "removed": empty}, as_json, report)


@cli.command()
def doctor(
    check: Annotated[bool, typer.Option("--check", help="Open every shipped model, as without a network.")] = False,
    as_json: Json = False,
) -> None:
    """Print what is installed and what will work; ends with 1 where something will not."""
    from explorer.app.status import facts_of

    facts = facts_of(check)
    say(facts, as_json, "\n".join(f"{name:26} {value}" for name, value in facts.items()))
    if any(str(value).startswith(("missing", "broken", "does not open", "cannot")) for value in facts.values()):
        sys.exit(1)


def main() -> None:
    """Run the command line; an error that we raise is one line, not a stack trace."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without these letters shows a mark in their place
    if VARIABLE in os.environ:
        completion_init()
    try:
        cli(prog_name="explorer")
    except ExplorerError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "explorer":
            raise
        sys.stderr.write(f"{missing(f'explorer {sys.argv[1]}', error.name)}\n")
        sys.exit(2)


def _home(name: str) -> Path:
    """A file of the checkout, or its copy inside an installed package."""
    here = Path(__file__).parent
    for place in (here / "share" / name, here.parent / name):
        if place.exists():
            return place
    raise FileError(f"{name} is not beside the package. Install it again, or start from a checkout.")


def _start(module: str, *arguments: str) -> None:
    """Become this program: who stops the explorer then stops it, and no server is left behind."""
    command = [sys.executable, "-m", module, *arguments]
    if os.name == "nt":  # where a process cannot become another one
        sys.exit(subprocess.call(command))
    sys.stdout.flush()
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # else glibc keeps memory for every thread that a visitor's page ran in
    os.execv(sys.executable, command)
