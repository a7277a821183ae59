"""Training: a run yields one step after the other, leaves a folder behind, and goes on where it was stopped.

Each name below is loaded when it is first used.

>>> "along" in dir(ex.training)
True
"""

from typing import TYPE_CHECKING

from explorer.errors.lazy import names_of

if TYPE_CHECKING:
    from explorer.models.store import snapshots_of as snapshots
    from explorer.nn.elmo import ScalarMix
    from explorer.training.cost import budget
    from explorer.training.finetune.answering import answers
    from explorer.training.finetune.changes import before_after
    from explorer.training.finetune.inputs import task_inputs
    from explorer.training.finetune.probes import probe_layers
    from explorer.training.finetune.sentences import likeness, sentence_bert
    from explorer.training.finetune.siamese import Siamese, graded
    from explorer.training.finetune.ways import compare_ways, finetuned_model
    from explorer.training.interpolation import along, fresh
    from explorer.training.run_comparison import compare_runs
    from explorer.training.schedules import lr_share
    from explorer.training.schedules import schedules as lr_schedules
    from explorer.training.steps import steps_of

_HOMES = {
    "Siamese": "training.finetune.siamese:Siamese",
    "ScalarMix": "nn.elmo:ScalarMix",
    "answers": "training.finetune.answering:answers",
    "before_after": "training.finetune.changes:before_after",
    "probe_layers": "training.finetune.probes:probe_layers",
    "along": "training.interpolation:along",
    "budget": "training.cost:budget",
    "compare_runs": "training.run_comparison:compare_runs",
    "compare_ways": "training.finetune.ways:compare_ways",
    "finetuned_model": "training.finetune.ways:finetuned_model",
    "fresh": "training.interpolation:fresh",
    "graded": "training.finetune.siamese:graded",
    "likeness": "training.finetune.sentences:likeness",
    "lr_schedules": "training.schedules:schedules",
    "lr_share": "training.schedules:lr_share",
    "sentence_bert": "training.finetune.sentences:sentence_bert",
    "snapshots": "models.store:snapshots_of",
    "steps_of": "training.steps:steps_of",
    "task_inputs": "training.finetune.inputs:task_inputs",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = names_of(__name__, _HOMES)
