"""Options that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=Path, default=None, help="a folder of golden vectors laid out as tests/data")


@pytest.fixture(scope="session")
def cases(request: pytest.FixtureRequest) -> Path:
    """The folder of golden vectors: --cases DIR, else tests/data."""
    return request.config.getoption("--cases") or DATA
