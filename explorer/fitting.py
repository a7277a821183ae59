"""The commands that train: `explorer fit` and `explorer finetune`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from explorer.errors import ChoiceError
from explorer.errors.settings import setting_in
from explorer.options import Document, Encoding, Field, Json, say

if TYPE_CHECKING:
    from explorer.training.finetune.run import FinetuneRun
    from explorer.training.fit import TrainingRun

TUNING = ("task", "how", "examples", "steps", "seed", "file", "columns", "kind", "folder")  # of finetune, never by --set
SYSTEMS = (  # written out: to read the presets takes longer than the help
    "ngram, word2vec, glove, elmo, transformer, bert, roberta, distilbert, spanbert, electra, deberta, gpt, gpt2, llama, olmo, olmo2, "
    "bart, pegasus, t5"
)
FURTHER = "-further"  # at the end of the folder of a run that trains a model further
Resume = Annotated[bool, typer.Option("--resume", help="Extend the run in the folder to this many --steps.")]
Log = Annotated[str | None, typer.Option(help="Follow the run in tensorboard, wandb or another tracker of accelerate.")]


def fit(  # noqa: PLR0913  one for each choice on the command line
    system: Annotated[str, typer.Argument(help=f"A preset: {SYSTEMS}; or the folder of a model, to train it further.")],
    size: str = "tiny",
    steps: Annotated[int | None, typer.Option(help="Number of steps; by default that of the preset.")] = None,
    seed: int = 0,
    corpus: Annotated[str | None, typer.Option(help="A name, a file, a folder or hub:name; by default the preset's.")] = None,
    field: Field = "text",
    document: Document = "blank line",
    encoding: Encoding = "utf-8",
    folder: Annotated[Path | None, typer.Option(help="The folder of the run; by default runs/SYSTEM.")] = None,
    batch: Annotated[int | None, typer.Option(help="Batch size: texts in a step.")] = None,
    rate: Annotated[float | None, typer.Option(help="The maximum learning rate.")] = None,
    checks: Annotated[int | None, typer.Option(help="About how often the model is evaluated on held-out text.")] = None,
    teacher: Annotated[str | None, typer.Option(help="The teacher, or the model that an electra starts from.")] = None,
    accumulate: Annotated[int | None, typer.Option(help="In how many parts a batch is computed, to save memory.")] = None,
    precision: Annotated[str, typer.Option(help="float32, bfloat16 or auto.")] = "auto",
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    processes: Annotated[int, typer.Option(help="Train in this many processes, one for each GPU.")] = 1,
    shard: Annotated[bool, typer.Option("--shard", help="Divide weights and optimiser over the processes.")] = False,
    resume: Resume = False,
    log: Log = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="Any other setting: NAME=VALUE.")] = None,
    as_json: Json = False,
) -> None:
    """Train a system, or a model further. Ctrl-C stops it; the same command goes on; more --steps with --resume lengthen it."""
    import explorer as ex
    from explorer.training.starting import in_processes

    if (code := in_processes(processes, sys.argv[1:])) is not None:
        sys.exit(code)
    given = dict(batch=batch, rate=rate, checks=checks, accumulate=accumulate, teacher=teacher, log=log)
    switches = {name: True for name, on in (("shard", shard), ("resume", resume)) if on}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None} | switches
    options |= dict(map(setting_in, settings or ()))
    what, place = _begun_with(system, device)
    options |= {"folder": folder or place, "device": device, "precision": precision, "field": field}
    run = ex.fit(what, size=size, steps=steps, seed=seed, corpus=corpus, document=document, encoding=encoding, **options)
    if _trained(run, as_json, run.report):
        summary = f"\nDone: {run.folder}. Open it with ex.load({_opened(run.folder)!r})."
        say({"folder": str(run.folder), "steps": run.step}, as_json, summary)


def _begun_with(system: str, device: str) -> tuple[Any, Path]:
    """A preset, or the model of a folder; and where its run is kept if nothing else is said."""
    import explorer as ex
    from explorer.models.shelf import is_path

    if is_path(system):
        return ex.load(system, device=device), Path("runs") / f"{Path(system).name}{FURTHER}"
    return system, Path("runs") / system


def _trained(run: TrainingRun, as_json: bool, first: str = "") -> bool:
    """Go through a run, print how far it is, and end here if it is stopped; whether this is the process that reports."""
    from explorer.training.progress import Progress, stopping

    if run.processes.main and first and not as_json:
        sys.stderr.write(f"{first}\n")
    progress = Progress(run.plan.steps, run.step, as_json)
    with stopping(run.stop) as stopped:
        for step in run:
            if run.processes.main:
                progress.say(step)
    if run.processes.main and stopped and run.step < run.plan.steps:
        way = "The same command continues from there." if run.folder is not None else "Nothing is kept of it."
        sys.stderr.write(f"\nStopped after step {run.step}. {way}\n")
        sys.exit(130)
    return run.processes.main


def finetune(  # noqa: PLR0913  one for each choice on the command line
    model: Annotated[str, typer.Argument(help="A name (see `explorer models`), a folder, or 'bag of words'.")],
    task: Annotated[
        str, typer.Option(help="sentiment, topic, acceptability, entailment, paraphrase, entities, …")
    ] = "sentiment",
    how: Annotated[str, typer.Option(help="full, last-1, last-2, frozen, lora or scratch.")] = "",
    examples: Annotated[int, typer.Option(help="How many labelled texts are learned from.")] = 200,
    steps: int = 200,
    seed: int = 0,
    file: Annotated[Path | None, typer.Option(help="A CSV, JSON or JSONL file of your own instead of a task.")] = None,
    columns: Annotated[str, typer.Option(help="Its columns: TEXT,LABEL or TEXT,PAIR,LABEL.")] = "text,label",
    kind: Annotated[str, typer.Option(help="What its labels are: class, number, token, question or text.")] = "class",
    folder: Annotated[Path | None, typer.Option(help="Where the run is kept; by default runs/MODEL-TASK.")] = None,
    resume: Resume = False,
    log: Log = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other part of the plan: NAME=VALUE (rate, batch, lm_weight, …).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Teach a pre-trained model a task. Ctrl-C stops it; the same command goes on where it was."""
    import explorer as ex
    from explorer.models.hub.foreign import HubModel
    from explorer.training.finetune.bodies import COUNTS

    chosen = task if file is None else _task_of(file, columns, kind, as_json)
    named = task if file is None else file.stem
    source = model if model.replace("-", " ") == COUNTS else ex.load(model)
    place = folder or Path("runs") / f"{Path(model).name}-{named}".replace(" ", "-")
    unkept = isinstance(source, HubModel)  # a run of a class that is not ours does not go on: its folder keeps the model alone
    options: dict[str, Any] = {"log": log} | ({"resume": True} if resume else {})
    if unkept:
        _check_free(place)
    options |= ({} if file is None else {"too_long": "error"}) | dict(setting_in(given, TUNING) for given in settings or ())
    run = ex.finetune(
        source, task=chosen, how=how, examples=examples, steps=steps, seed=seed, folder=None if unkept else place, **options
    )
    if _trained(run, as_json):
        _say_finetuned(run, *_kept(run, place), as_json)


def _check_free(place: Path) -> None:
    """Refuse, before the work, a folder in which something lies: a model of others does not go on from one."""
    if place.exists() and any(place.iterdir()):
        raise ChoiceError(f"{place} is not empty, and a run of a model of others cannot be resumed. Choose another --folder.")


def _kept(run: FinetuneRun, place: Path) -> tuple[Path | None, str]:
    """Where what was learned lies, and the sentence that says it, or why it lies nowhere."""
    import explorer as ex

    try:
        place = run.folder or ex.export(run.model, place)
    except ChoiceError as error:
        return None, f"Done, and no folder keeps the model. {error} In Python, run.model is the model."
    return place, f"Done: {place}. Open it with ex.load({_opened(place)!r})."


def _say_finetuned(run: FinetuneRun, place: Path | None, where: str, as_json: bool) -> None:
    """Say how good the model is on new texts, and where it lies."""
    score, blind, moving = run.score("test"), run.blind("test"), run.moved
    result = {
        "folder": place and str(place),
        "how": run.plan.how,
        "metric": run.task.metric,
        "test": score,
        "most frequent": blind,
    }
    result |= {"moved": moving[0], "weights": moving[1], "examples": len(run.examples)}
    summary = (
        f"\n{run.report}\n{run.task.metric} on new texts: {score:.3f} (the most frequent answer alone: {blind:.3f}); "
        f"{moving[0]:,} of {moving[1]:,} weights moved.\n"
    )
    summary += where
    say(result, as_json, summary)


def _task_of(file: Path, columns: str, kind: str, as_json: bool) -> Any:
    """The task in a file; what was read is said."""
    import explorer as ex

    names = [name.strip() for name in columns.split(",")]
    if len(names) not in (2, 3) or not all(names):
        raise ChoiceError(f"--columns {columns!r} must be TEXT,LABEL or TEXT,PAIR,LABEL.")
    text, *pair, label = names
    task = ex.tasks.from_file(file, text=text, label=label, pair=pair[0] if pair else None, kind=kind)
    if not as_json:
        sys.stderr.write(task.report + "\n")
    return task


def _opened(folder: Path | None) -> str:
    """A folder as `ex.load` takes it: a path has a separator, a name has none."""
    text = str(folder)
    return text if os.sep in text or "/" in text else f"./{text}"
