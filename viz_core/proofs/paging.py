"""Claims about paged memory, each measured by running both sides."""

from __future__ import annotations

import numpy as np

from viz_core.model.capture import Capture
from viz_core.model.paged import Placement, worst_difference
from viz_core.paging.replay import replay
from viz_core.paging.run import Recording
from viz_core.proofs.proof import Proof, at_most

PAGED = 1e-6


def paged_equals_contiguous(capture: Capture, place: Placement) -> Proof:
    """The last token's attention through a block table equals that over K and V in one piece, in every head."""
    return at_most("paged_equals_contiguous", worst_difference(capture, place.table, place.blocks, place.size), PAGED)


def no_block_is_lost(recording: Recording) -> Proof:
    """After every step each block is either free or held, never both, and references equal table entries."""
    null, wrong = int(recording.config.rules.null_block), 0
    for state in replay(recording.config, recording.log):
        refs = np.zeros(recording.config.num_blocks, np.int64)
        for tables in state.tables.values():
            for table in tables:
                np.add.at(refs, np.frombuffer(table, np.int32), 1)
        refs[:null] = 0
        free = np.zeros_like(refs)
        np.add.at(free, state.queue.order(), 1)
        wrong += int((refs != np.frombuffer(state.ref, np.int32)).sum())
        wrong += int((free + (refs > 0) != 1)[null:].sum())
    return at_most("no_block_is_lost", float(wrong), 0.0)
