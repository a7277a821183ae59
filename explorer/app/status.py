"""How the explorer and its server are: what is installed, what will work offline, who is here, what it takes."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from explorer.app import hosted
from explorer.errors import ExplorerError
from explorer.models import store
from explorer.training.jobs import job_queue
from explorer.views import export

PACKAGES = ("torch", "transformers", "tokenizers", "plotly", "streamlit", "jupyterlab", "ipywidgets", "kaleido", "bertviz")
GUI = "package_data/plotly.min.js"  # what pictures in a browser are drawn with


def facts_of(check: bool) -> dict[str, object]:
    """What `explorer doctor` prints; with `check` also what works without a network."""
    import torch

    facts: dict[str, object] = dict(versions())
    facts |= {"models": sorted(store.models()), "gpu": torch.cuda.is_available()}
    facts["browser for PNG and SVG"] = export.browser() or "none: HTML still works"
    facts |= {name: round(value, 2) for name, value in machine().items()}
    facts |= {f"trainings {name}": count for name, count in trainings().items()}
    return facts | (offline() if check else {})


def versions() -> dict[str, str]:
    """Python, the explorer and what it stands on; "missing" where a package is not there."""
    installed = {"python": sys.version.split()[0], "system": platform.platform(terse=True)}
    for package in ("pretraining-explorer", *PACKAGES):
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            installed[package] = "missing"
    return installed


def offline() -> dict[str, str]:
    """What works without a network: every shipped model opened from its own files, what draws pictures, and where to write."""
    checks = {}
    for name, model in store.models().items():
        if model.shipped:
            checks[f"model {name}"] = _opens(name)
    plotly = find_spec("plotly")
    drawn = plotly is not None and any((Path(place) / GUI).is_file() for place in plotly.submodule_search_locations or ())
    checks["pictures"] = "ok" if drawn else f"missing: {GUI}. Install plotly again."
    checks["PNG and SVG"] = "ok" if export.browser() else "no Chrome or Chromium found: HTML and CSV still work"
    checks["own models"] = _writable(job_queue().home.parent)
    return checks


def _opens(name: str) -> str:
    """Whether a shipped model opens, and its weights are numbers."""
    import torch

    import explorer as ex

    try:
        model = ex.load(name, device="cpu")
    except ExplorerError as error:
        return f"does not open: {error}"
    weights = model.module.parameters() if hasattr(model, "module") else ()
    return (
        "ok"
        if all(bool(torch.isfinite(weight).all()) for weight in weights)
        else "broken: a weight is not a number. Install it again."
    )


def _writable(folder: Path) -> str:
    there = next(place for place in (folder, *folder.parents) if place.exists())
    return "ok" if os.access(there, os.W_OK) else f"cannot be written: {there}. Set EXPLORER_HOME to another folder."


def machine() -> dict[str, float]:
    """Memory of this process and free on the disk, in GB; cores; how busy they are."""
    import psutil

    server = psutil.Process()
    memory = sum(process.memory_info().rss for process in (server, *server.children(recursive=True)))
    return {
        "memory of the server, GB": memory / 1e9,
        "memory that is free, GB": psutil.virtual_memory().available / 1e9,
        "disk that is free, GB": shutil.disk_usage(Path.home() if Path.home().exists() else ".").free / 1e9,
        "cores": float(os.cpu_count() or 1),
        "load of a core": os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else float("nan"),
    }


def trainings() -> dict[str, int]:
    """How many trainings are at work and how many wait."""
    alive = job_queue().alive()
    return {"at work": min(1, len(alive)), "waiting": max(0, len(alive) - 1)}


def limits() -> Mapping[str, object]:
    """What the visitors of a room may do; empty on one's own machine."""
    classroom = hosted.room()
    if classroom is None:
        return {}
    return {
        name: getattr(classroom, name)
        for name in (
            "models",
            "opens_with",
            "text",
            "texts",
            "letters",
            "steps",
            "minutes",
            "queue",
            "idle",
            "uploads",
            "public",
        )
    }
