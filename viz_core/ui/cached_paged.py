"""Paged runs, made once for all readers: a step that the player reports reruns the scene, not the scheduler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from viz_core.i18n import Problem
from viz_core.paging.contiguous import beside
from viz_core.paging.effort import bounded, showable
from viz_core.paging.film import film, owners
from viz_core.paging.log_file import load_lines
from viz_core.paging.metrics import Metrics, measure
from viz_core.paging.run import Recording, run
from viz_core.paging.scenario_file import from_json
from viz_core.paging.workloads import Shares
from viz_core.proofs import Proof
from viz_core.proofs.paging import no_block_is_lost
from viz_core.trace import Text, Trace
from viz_core.ui.hosted import limits


@dataclass(frozen=True, slots=True)
class Played:
    """A run and all that is made of it: numbers, film, the owner of each block (`film.owners`), proof, and shares of
    memory by rule (`contiguous.beside`).
    """

    recording: Recording
    metrics: Metrics
    film: Trace
    owners: np.ndarray
    proof: Proof
    shares: dict[str, Shares] | None


def not_too_long(steps: int) -> None:
    """A Problem for more steps than this server draws."""
    if steps > limits().steps:
        raise Problem("paging_film_long", steps=steps, most=limits().steps)


@st.cache_resource(max_entries=8, show_spinner=False)
def played(scenario: str) -> Played:
    """The run of a scenario's JSON."""
    return _made(run(from_json(scenario), bounded))


@st.cache_resource(max_entries=4, show_spinner=False)
def replayed(log: bytes) -> Played:
    """The run of a log; a Problem where it contradicts itself or is too long."""
    return _made(load_lines(log.decode("utf-8", "replace")))


def _made(recording: Recording) -> Played:
    not_too_long(recording.log.num_steps)
    metrics = measure(showable(recording))
    name = Text(f"option.policy.{recording.config.policy}")
    return Played(
        recording, metrics, film([(name, recording)], ""), owners(recording), no_block_is_lost(recording),
        beside(recording, metrics),
    )  # fmt: skip
