"""How much the tests would notice: `make mutants` changes one place of the code at a time and runs the tests of that file.

A change that no test notices *survives*. One that makes the tests take several times the processor's time they usually take is *late*,
and counts as noticed. Python imports everything else once; each mutant lives in a forked process, where one module
comes from the changed source. A fixed sample for each file, or every place with `--all`; name files to run only those.
What was read by a person and changes nothing that anybody could notice is in `SAME`, with the reason; the share is of the others,
and the table gives how many these are.
"""

from __future__ import annotations

import ast
import copy
import importlib
import importlib.abc
import importlib.util
import os
import pickle
import random
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parent.parent
SAMPLE, PATIENCE, WAITING, BAR = 24, 4.0, 3600, 0.9
TESTS = {
    "explorer/nn/attention.py": ("attention", "tracing", "systems", "deberta"),
    "explorer/nn/positions.py": ("attention", "tracing", "systems", "deberta"),
    "explorer/corruption/masking.py": ("corruption", "corruption_lab"),
    "explorer/corruption/spans.py": ("corruption", "corruption_lab", "spanbert"),
    "explorer/corruption/noises.py": ("corruption", "corruption_lab"),
    "explorer/corruption/collate.py": ("corruption", "begin_token", "objectives", "electra", "training", "elmo", "measuring"),
    "explorer/decoding/search.py": ("searching", "decoding"),
    "explorer/decoding/beams.py": ("searching", "decoding"),
    "explorer/decoding/penalties.py": ("searching", "decoding"),
    "explorer/decoding/decode.py": ("decoding", "searching"),
    "explorer/training/resume.py": ("engine", "earlier_version", "runs", "training"),
    "explorer/analysis/trace.py": ("tracing", "model_edits", "hub"),
    "explorer/records/record.py": ("records", "refusing"),
    "explorer/models/hub/opening.py": ("settings", "hub"),
}
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip

SAME = {  # file, part of the line, change: why nobody could notice it
    ("masking", "rng.random(free.shape) < rate", "<="): "a drawn number is equal to a share with probability 0",
    ("masking", "uniforms < split[0]", "<="): "a drawn number is equal to a share with probability 0",
    ("masking", "np.full(free.shape, -1)", "1  →  2"): "below 0 means in no span, whichever number it is",
    ("spans", "axis=1) - 1\n    shift", "+ 1"): "a rotation by another random number; all are as likely",
    ("spans", "int(parts.max(initial=1))", "1  →  2"): "one more column, which stays empty",
    ("spans", "vocabulary.pad or 0", "0  →  1"): "an id behind the end, which no loss and no model reads",
    (
        "record",
        "eq=False, repr=False",
        "False  →  True",
    ): "dataclass writes no __eq__ and no __hash__ where the class has its own",
    ("record", "ensure_ascii=False", "False  →  True"): "other bytes of the same JSON text",
    (
        "resume",
        'non_blocking=device.type == "cuda")\n    if device',
        "!=",
    ): "a copy that waits or does not; the next line waits for it",
    ("resume", "file.readline(10_000)", "10001"): "a claim as long as that is refused either way",
    ("opening", "int(file.file_size or 0)", "0  →  1"): "a file of unknown size counts as one byte",
    ("trace", ".mean(axis=-1) + epsilon", "-1  →  +1"): "the last axis of two, named from the front",
    ("beams", "1 + len(search.stepper.ends)", "1  →  2"): "more candidates than can be taken",
    ("collate", "for attempt in range(100)", "100  →  101"): "one more try of a hundred before the refusal",
}


def untouchable(tree: ast.Module) -> set[int]:
    """The nodes that decide nothing when the code runs: annotations, text, imports, and what an error says."""
    parts: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            parts.append(node)
        elif isinstance(node, ast.AnnAssign | ast.arg):
            parts.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            parts += [*node.decorator_list, node.returns]
    return {id(inner) for part in parts if part is not None for inner in ast.walk(part)}


def mutate(node: Any) -> bool:
    """Change a node where it is, and say whether there was something to change."""
    match node:
        case ast.BinOp(left=ast.Constant() | ast.JoinedStr()):
            return False
        case ast.BinOp() | ast.BoolOp() if type(node.op) in SWAPPED:
            node.op = SWAPPED[type(node.op)]()
        case ast.Compare() if type(node.ops[0]) in SWAPPED:
            node.ops[0] = SWAPPED[type(node.ops[0])]()
        case ast.Constant(value=int() | float()):
            node.value = not node.value if isinstance(node.value, bool) else node.value + 1
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            node.operand = ast.UnaryOp(type(node.op)(), node.operand)
        case ast.UnaryOp():
            node.op = ast.UAdd()
        case ast.If() | ast.IfExp():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.AugAssign():
            node.value = ast.Constant(0 if isinstance(node.op, ast.Add | ast.Sub | ast.BitOr) else 1)
        case ast.Expr(value=ast.Call()):
            node.value = ast.Constant(None)
        case _:
            return False
    return True


def places(tree: ast.Module) -> list[int]:
    """The nodes that can be changed, counted as `ast.walk` meets them."""
    fixed = untouchable(tree)
    return [number for number, node in enumerate(ast.walk(tree)) if id(node) not in fixed and mutate(copy.deepcopy(node))]


def mutated(tree: ast.Module, place: int) -> tuple[ast.Module, str]:
    """The tree with one node changed, and what was changed, in words."""
    tree = copy.deepcopy(tree)
    node = list(ast.walk(tree))[place]
    before = ast.unparse(node).splitlines()[0]
    mutate(node)
    ast.fix_missing_locations(tree)
    return tree, f"line {getattr(node, 'lineno', 0)}: {before[:70]}  →  {ast.unparse(node).splitlines()[0][:70]}"


def ours(module: ModuleType | None) -> bool:
    """Whether a module is part of this checkout: it must be imported by the tests themselves."""
    file = Path(getattr(module, "__file__", None) or "/")
    return file.is_relative_to(ROOT) and "site-packages" not in file.parts


class From(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module in a tree instead of its file."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self, origin=str(self.path)) if fullname == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(self.path)
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def in_a_fork(path: str, tree: ast.Module | None, names: Sequence[str], limit: float) -> tuple[str, float, list[str]]:
    """Whether the tests of these names have passed, failed or are late beside this tree, the seconds of the processor that
    they took, and the modules that were imported.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        signal.setitimer(signal.ITIMER_PROF, limit)  # not by the clock: others may keep the processor busy
        signal.alarm(WAITING)
        os.close(reader)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        if tree is not None:
            sys.meta_path.insert(0, From(path.removesuffix(".py").replace("/", "."), ROOT / path, tree))
        import pytest

        quietly = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # of plugins that are imported here already
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *quietly, *(f"tests/test_{name}.py" for name in names)])
        loaded = [name for name, module in sys.modules.items() if not ours(module)]
        with os.fdopen(writer, "wb") as out:
            pickle.dump((int(code) == 0, loaded), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    _, status, used = os.wait4(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test of a damaged program left running
    passed, loaded = pickle.loads(content) if content else (False, [])
    late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM)
    return "late" if late else "passed" if passed else "failed", used.ru_utime + used.ru_stime, loaded


def unnoticeable(path: str, lines: Sequence[str], words: str) -> bool:
    """Whether a change is one of `SAME`."""
    number = int(words.removeprefix("line ").split(":")[0])
    two = "\n".join(lines[number - 1 : number + 1])  # a line that is written twice is told apart by the next one
    return any(Path(path).stem == file and part in two and change in words for file, part, change in SAME)


def tried(path: str, every: bool) -> tuple[int, int, int, list[str]]:
    """How many mutants of a file were tried, how many were not since nobody could notice them, how many were late, and what those
    that survived changed.
    """
    source = (ROOT / path).read_text("utf-8")
    tree, same = ast.parse(source), 0
    mutable = places(tree)
    chosen = mutable if every else random.Random(0).sample(mutable, min(SAMPLE, len(mutable)))
    for _ in range(
        2
    ):  # once to see what they import, and once with all of that imported: else a mutant may fail for that alone
        end, seconds, loaded = in_a_fork(path, None, TESTS[path], 900)
        if end != "passed":
            sys.exit(f"The tests of {path} have {end} as it stands: {', '.join(TESTS[path])}.")
        for name in loaded:
            try:
                importlib.import_module(name)
            except Exception:  # noqa: S112  made at run time by another module
                continue
        for name in [name for name, module in sys.modules.items() if ours(module) and name != "__main__"]:
            del sys.modules[name]  # it came with one of them, and would keep the mutant out
    survived, late, lines = [], 0, source.splitlines()
    for place in sorted(chosen):
        changed, words = mutated(tree, place)
        if unnoticeable(path, lines, words):
            same += 1
            continue
        end, *_ = in_a_fork(path, changed, TESTS[path], PATIENCE * seconds + 10)
        late += end == "late"
        if end == "passed":
            survived.append(words)
            print(f"  survived: {path} {words}", flush=True)
    return len(chosen) - same, same, late, survived


def main(arguments: list[str]) -> int:
    """Try every file, print the share that was noticed in each, and say whether any lies below the bar."""
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    wanted = [name for name in arguments if not name.startswith("-")] or list(TESTS)
    below = False
    lines = [f"{'file':<36} {'mutants':>7} {'noticed':>8} {'late':>5} {'same':>5}"]
    for path in wanted:
        many, same, late, survived = tried(path, "--all" in arguments)
        share = 1 - len(survived) / max(1, many)
        below |= share < BAR
        lines.append(f"{path:<36} {many:>7} {share:>8.0%} {late:>5} {same:>5}")
        print(lines[-1], flush=True)
    print("\n".join(lines))
    return int(below)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
