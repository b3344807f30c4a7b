"""What tests read in the project's own source: its modules, their string constants and the keys that they name."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CALLS = {  # function name -> prefix that turns its first argument into a catalogue key
    "t": "", "Text": "", "step": "", "tell": None, "event": "", "series": "",
    "Problem": "problem.", "Number": "number.",
}


def modules() -> list[Path]:
    """All Python files of the app itself."""
    found = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "viz_core").rglob("*.py")]
    return sorted(p for p in found if "training" not in p.parts)


@cache
def trees() -> dict[Path, ast.Module]:
    """Every module, parsed."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules()}


def _docstrings(tree: ast.Module) -> set[int]:
    bodies = [n.body for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    first = [b[0].value for b in bodies if b and isinstance(b[0], ast.Expr) and isinstance(b[0].value, ast.Constant)]
    return {id(node) for node in first}


def strings(tree: ast.Module) -> list[tuple[int, str]]:
    """(line, text) of every string constant that is no docstring."""
    skip = _docstrings(tree)
    return [(n.lineno, n.value) for n in ast.walk(tree)
            if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in skip]


def _pattern(node: ast.JoinedStr) -> str:
    return "".join(re.escape(v.value) if isinstance(v, ast.Constant) else "(.+)" for v in node.values)


@cache
def patterns() -> tuple[re.Pattern[str], ...]:
    """Every f-string that has a dot and some letters of its own, as a pattern."""
    found = {_pattern(n) for tree in trees().values() for n in ast.walk(tree) if isinstance(n, ast.JoinedStr)}
    return tuple(re.compile(p) for p in sorted(found) if re.search(r"[a-z]{4}", p.replace("(.+)", "")))


@cache
def constants() -> frozenset[str]:
    """Every string constant of the source."""
    return frozenset(text for tree in trees().values() for _, text in strings(tree))


@cache
def scripts() -> str:
    """All of the app's JavaScript."""
    return "\n".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "viz_core").rglob("*.js")))


def used(key: str, depth: int = 4) -> bool:
    """Whether the source can name this key: literally, or through an f-string whose parts it can name."""
    if key in constants():
        return True
    room, _, name = key.partition(".")
    if room == "player":  # the player's script reads its words by name
        return re.search(rf"\b{name.split('.')[-1]}\b", scripts()) is not None or name.startswith("state.")
    if room == "problem" and depth and used(name, depth - 1):  # Problem() adds the table's name itself
        return True
    if not depth:
        return False
    for pattern in patterns():
        match = pattern.fullmatch(key)
        if match and all(used(part, depth - 1) for part in match.groups()):
            return True
    return False


def named() -> list[tuple[str, str]]:
    """(place, key) of every catalogue key that stands literally in a call."""
    out = []
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            prefix, first = CALLS.get(name), node.args[0].value
            if prefix is not None and isinstance(first, str):
                out.append((f"{path.relative_to(ROOT)}:{node.lineno}", prefix + first))
    return out
