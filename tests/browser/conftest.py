"""A real Chromium on a real server. Without one the tests are skipped; with REQUIRE_BROWSER=1 they fail instead."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def without(reason: str) -> None:
    """Skip for want of a browser, or fail where one is required."""
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(f"REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Chromium from PATH, driven by Playwright."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        without(f"none of {', '.join(NAMES)} is on PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without("playwright is not installed")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """`serve(script)` starts a Streamlit server for a script, once, and returns its address."""
    servers: dict[Path, tuple[str, subprocess.Popen[bytes]]] = {}

    def start(script: Path) -> str:
        if script not in servers:
            servers[script] = _started(script)
        return servers[script][0]

    yield start
    for _, process in servers.values():
        process.terminate()
        process.wait(10)


def _started(script: Path) -> tuple[str, subprocess.Popen[bytes]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *options],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    for _ in range(150):
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return address, process
        except OSError:
            assert process.poll() is None, "the server ended"
            time.sleep(0.2)
    raise AssertionError("the server did not start in 30 s")


@pytest.fixture
def visit(chromium: Browser, serve: Callable[[Path], str]) -> Iterator[Callable[..., Page]]:
    """`visit(script, "path?query", width=, height=, theme=, motion=)` opens a page; a script error fails the test."""
    contexts, errors = [], []

    def open_page(script: Path, path: str = "", *, width: int = 1440, height: int = 900, theme: str = "light",
                  motion: str = "no-preference") -> Page:  # fmt: skip
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            reduced_motion=motion,
            accept_downloads=True,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{serve(script)}/{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not errors, errors
