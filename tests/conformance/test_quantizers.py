"""Bit for bit against what ggml, bitsandbytes, torchao, ml_dtypes and torch did with the same inputs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from viz_core.quantizers.ggml_decode import DECODERS, decode

Count = Callable[[int], None]


@pytest.fixture(scope="session")
def folder(cases: Path) -> Path:
    """The folder of quantizer vectors: `DIR/quantizers`, or DIR itself where the files lie in it."""
    return cases / "quantizers" if (cases / "quantizers").is_dir() else cases


@pytest.fixture(scope="session")
def reference(folder: Path) -> Callable[[str], dict[str, np.ndarray]]:
    """Read a reference file; skip the test where the folder lacks it."""

    def read(name: str) -> dict[str, np.ndarray]:
        if not (folder / name).exists():
            pytest.skip(f"no {name} in {folder}")
        with np.load(folder / name, allow_pickle=False) as file:
            return dict(file)

    return read


def same(measured: np.ndarray, expected: np.ndarray) -> bool:
    """Equal shapes and bits; NaN equals NaN whatever its payload."""
    measured, expected = np.asarray(measured), np.asarray(expected)
    if measured.shape != expected.shape:
        return False
    if expected.dtype != np.float32:
        return bool((measured == expected).all())
    bits = measured.astype(np.float32).view(np.uint32) == expected.view(np.uint32)
    return bool((bits | (np.isnan(measured) & np.isnan(expected))).all())


@pytest.mark.parametrize("name", [name for name in DECODERS if name.startswith("Q")])
def test_fast_decoding_of_ggml_blocks(name: str, reference: Callable, compared: Count) -> None:
    ggml = reference("ggml.npz")
    if f"{name}__bytes" not in ggml:
        pytest.skip(f"no vectors for {name}")
    expected = ggml[f"{name}__deq"]
    assert same(decode(name, ggml[f"{name}__bytes"], expected.shape), expected)
    compared(1)
