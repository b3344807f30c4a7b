"""The house: imports run downwards only, and the core imports without Streamlit and Plotly."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests import source

FLOORS = [  # from the top; a room may import only what stands below it, and itself
    {"app.py"}, {"pages"}, {"viz_core/ui"}, {"viz_core/figures", "viz_core/proofs"}, {"viz_core/sizing"},
    {"viz_core/model"}, {"viz_core/attention", "viz_core/quantizers", "viz_core/paging"},
    {"viz_core/trace", "viz_core/units"}, {"viz_core/i18n"},
]
CORE = """
import importlib, pkgutil, sys
class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"streamlit", "plotly", "pandas", "torch"}:
            raise ImportError(f"{name} is not for the core")
sys.meta_path.insert(0, Wall())
import viz_core
names = [m.name for m in pkgutil.walk_packages(viz_core.__path__, "viz_core.")
         if not m.name.startswith(("viz_core.ui", "viz_core.figures"))]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def room(path: str) -> str:
    """The room of a module path such as viz_core/model/cache.py; trace_codec.py belongs to trace."""
    parts = path.removesuffix(".py").split("/")
    return "/".join(parts[:2]).split("_codec")[0].split("_builder")[0] if parts[0] == "viz_core" else (
        path if path == "app.py" else parts[0])


def floor(name: str) -> int | None:
    return next((i for i, rooms in enumerate(FLOORS) if name in rooms), None)


def imported(tree: ast.Module) -> set[str]:
    out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            out |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in out if name.startswith("viz_core.")}


def test_imports_run_downwards() -> None:
    wrong = []
    for path, tree in source.trees().items():
        mine = room(str(path.relative_to(source.ROOT)))
        for name in imported(tree):
            theirs = "/".join(name.split(".")[:2]).split("_codec")[0].split("_builder")[0]
            up, here = floor(theirs), floor(mine)
            if up is not None and here is not None and theirs != mine and up <= here:
                wrong.append(f"{path.relative_to(source.ROOT)} -> {name}")
    assert wrong == []


def test_core_needs_neither_streamlit_nor_plotly() -> None:
    command = [sys.executable, "-c", CORE]
    run = subprocess.run(command, capture_output=True, text=True, cwd=Path(source.ROOT), check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 10


def test_small_scripts() -> None:
    assert len((source.ROOT / "app.py").read_text().splitlines()) <= 80
    for page in (source.ROOT / "pages").glob("*.py"):
        assert len(page.read_text().splitlines()) <= 60, page


def test_nothing_forbidden_is_imported() -> None:
    for path, tree in source.trees().items():
        names = {n.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names}
        assert not names & {"torch", "vllm", "numba", "transformers", "pickle"}, path
