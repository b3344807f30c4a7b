"""Options that all tests share.

`--cases DIR` points the conformance tests at another folder of golden vectors, laid out as `tests/data`. What such a
folder lacks is skipped; a run with `--cases` that compared nothing fails, because it proved nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
COMPARED: Counter[str] = Counter()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=Path, default=None, help="a folder of golden vectors laid out as tests/data")


@pytest.fixture(scope="session")
def cases(request: pytest.FixtureRequest) -> Path:
    """The folder of golden vectors: --cases DIR, else tests/data."""
    return request.config.getoption("--cases") or DATA


@pytest.fixture
def compared(request: pytest.FixtureRequest) -> Callable[[int], None]:
    """Call `compared(n)` after n golden vectors were compared; the sum is printed at the end of the run."""
    what = request.path.stem.removeprefix("test_")

    def count(n: int = 1) -> None:
        COMPARED[what] += n

    return count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for what, n in sorted(COMPARED.items()):
        terminalreporter.write_line(f"{what}: compared {n} golden vectors")
    if config.getoption("--cases") and not COMPARED:
        terminalreporter.write_line("--cases: nothing was compared", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--cases") and not COMPARED and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
