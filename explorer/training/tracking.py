"""Where a run is followed besides its folder: in TensorBoard, Weights & Biases, and whatever else accelerate has a tracker for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError, MissingError, unknown
from explorer.records import TrainingStep

PACKAGES = {"comet_ml": "comet-ml"}  # where the package has another name than its tracker
Log = Callable[[TrainingStep], TrainingStep]


def taken_log(options: dict[str, Any]) -> Any:
    """The tracker among the options, taken out of them; one that does not exist or is not installed is refused before the work."""
    if (log := options.pop("log", None)) is None:
        return None
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker, get_available_trackers

    if isinstance(log, GeneralTracker):
        return log
    if not isinstance(log, str) or log not in LOGGER_TYPE_TO_CLASS:
        raise unknown("tracker: log", log, LOGGER_TYPE_TO_CLASS)
    if log not in map(str, get_available_trackers()):
        package = PACKAGES.get(log, log)
        raise MissingError(f"log={log!r} needs {package}, which is not installed: pip install {package}.")
    return log


@contextmanager
def following(log: Any, name: str, folder: Path | None, settings: Mapping[str, Any]) -> Iterator[Log]:
    """While inside, each step that goes through what is given here is logged: losses, rate, speed and what was measured."""
    if log is None:
        yield lambda step: step
        return
    tracker = _tracker(log, name, folder)
    try:
        tracker.start()
        tracker.store_init_configuration(
            {key: value for key, value in settings.items() if isinstance(value, (str, int, float))}
        )
    except Exception as error:  # whatever a service says: no key, no network, no room
        raise ChoiceError(f"log={log!r} cannot begin ({error}).") from error
    try:
        yield lambda step: _logged(tracker, step)
    finally:
        tracker.finish()


def _tracker(log: Any, name: str, folder: Path | None) -> Any:
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS

    if not isinstance(log, str):
        return log
    kind = LOGGER_TYPE_TO_CLASS[log]
    return kind(name, logging_dir=str((folder or Path("runs")) / "logs")) if kind.requires_logging_directory else kind(name)


def _logged(tracker: Any, step: TrainingStep) -> TrainingStep:
    row = step.to_row()
    tracker.log({name: value for name, value in row.items() if name != "step"}, step=row["step"])
    return step
