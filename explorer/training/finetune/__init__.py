"""Tasks with gold labels, and models that learn them."""

from explorer.training.finetune import task
from explorer.training.finetune.derived import EVERY_TASK
from explorer.training.finetune.files import from_file
from explorer.training.finetune.microworld import TASKS
from explorer.training.finetune.task import LabelledExample, Questions, Task, TokenPosition

__all__ = ["EVERY_TASK", "TASKS", "LabelledExample", "Questions", "Task", "TokenPosition", "from_file", "tasks"]


class _Tasks:
    """The tasks with gold labels: `ex.tasks()` lists them, `ex.tasks.from_file(…)` reads your own.

    >>> "word sense" in ex.tasks()
    True
    """

    LabelledExample, Questions, Task, TokenPosition = LabelledExample, Questions, Task, TokenPosition
    from_file = staticmethod(from_file)

    def __call__(self) -> dict[str, task.Task]:
        return dict(EVERY_TASK)


tasks = _Tasks()
