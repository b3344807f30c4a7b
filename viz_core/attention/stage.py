"""The cells that a walk is played on, and what each kind of step does to them."""

from __future__ import annotations

import numpy as np

from viz_core.attention.bias import Floats
from viz_core.attention.tiled import Sram
from viz_core.attention.tiling import Tiling
from viz_core.trace import State, Text
from viz_core.trace_builder import TraceBuilder

HUES = {"Q": 1, "K": 2, "V": 3, "O": 4}
CODE_FA2 = (
    "Q, K, V ← HBM",
    "S = Q Kᵀ",
    "m′ = max(m, S),  P = e^(S − m′)",
    "ℓ = αℓ + Σ P,  O = αO + P V",
    "HBM ← O / ℓ",
)
CODE_FA1 = (*CODE_FA2[:3], "ℓ′ = αℓ + Σ P,  O = (αℓO + P V) / ℓ′", "HBM ← O")
LOAD, FOLD, STORE = 0, slice(1, 4), 4
NUMBERED = 256  # up to so many tiles carry the number of their visit


class Stage:
    """Lanes: the grid of tiles, SRAM's slots, the code, and Q, K, V, O in HBM. One `act` a step of the walk.

    visible (T_r, T_c): the share of each tile that is not masked. bytes, flops, visits: so far.
    """

    def __init__(self, t: Tiling, sram: Sram, visible: Floats, code: tuple[str, ...]) -> None:
        self.t, self.visible, self.held = t, np.rint(100 * visible).astype(int), sram.slots()
        self.partial = bool(((self.visible > 0) & (self.visible < 100)).any())
        self.build = TraceBuilder(Text("attention.walk.title"), settle=State.HELD)
        self.bytes = self.flops = self.visits = 0
        self.skipped = False
        self._code_lit: set[int] = set()
        self._lanes(code)
        for label, places in (("m", 2), ("alpha", 3), ("l", 2), ("error", None)):
            self.build.series(f"attention.series.{label}", places=places)
        for label in ("bytes", "standard"):
            self.build.series(f"attention.series.{label}", unit="bytes", share="bytes")
        self.build.series("attention.series.flops")

    def _lanes(self, code: tuple[str, ...]) -> None:
        t, add = self.t, self.build.lane
        count = {"Q": t.row_tiles, "K": t.col_tiles, "V": t.col_tiles, "O": t.row_tiles}
        names = {name: tuple(f"{name}{x}" for x in range(count[name])) for name in "QK"}
        self.grid = add(
            Text("attention.lane.grid"), t.row_tiles * t.col_tiles, columns=t.col_tiles,
            full=100 if self.partial else 0, row_names=names["Q"], column_names=names["K"],
        )  # fmt: skip
        slots = iter(add(Text("attention.lane.sram"), sum(s.size for s in self.held.values())))
        self.free = {name: [next(slots) for _ in range(s.size)] for name, s in self.held.items()}
        self.place: dict[tuple[str, int], int] = {}
        self.code = add(Text("attention.lane.code"), len(code), columns=1, row_names=code)
        wide = max(t.row_tiles, t.col_tiles)
        hbm = add(
            Text("attention.lane.hbm"), len(count) * wide, columns=wide, row_names=tuple(count),
            column_names=tuple(map(str, range(wide))),
        )  # fmt: skip
        self.hbm = {name: hbm[r * wide : r * wide + n] for r, (name, n) in enumerate(count.items())}
        for r, n in enumerate(count.values()):
            self.build.set("state", hbm[r * wide + n : (r + 1) * wide], State.MASKED)
        for name, hue in HUES.items():
            self.build.hue(hue, name, Text(f"attention.tensor.{name}"))
        for name in "QKV":
            self.build.set("state", self.hbm[name], State.HELD)
            self.build.set("hue", self.hbm[name], HUES[name])

    def act(self, op: str, tensor: str, row: int, col: int, size: int, flops: int) -> None:
        """One step of the walk."""
        self.bytes += size
        self.flops += flops
        if op == "skip":
            self.visits, self.skipped = self.visits + 1, True
            self.build.set("state", self._cell(row, col), State.MASKED)
        elif op == "load":
            self._enter(tensor, row if tensor in "QO" else col)
            self.build.cursor(self.hbm[tensor][row if tensor in "QO" else col])
            self._light(LOAD)
        elif op == "store":
            self.build.set("state", self.hbm["O"][row], State.COMPUTED)
            self.build.set("hue", self.hbm["O"][row], HUES["O"])
            self._light(STORE)
        elif op == "fold":
            self._fold(row, col)

    def _fold(self, row: int, col: int) -> None:
        self.visits, self.skipped = self.visits + 1, False
        for tensor, tile in (("Q", row), ("K", col), ("V", col), ("O", row)):
            self._enter(tensor, tile)
        cell = self._cell(row, col)
        self.build.set("state", cell, State.COMPUTED)
        self.build.set("hue", cell, HUES["O"])
        if self.partial:
            self.build.set("fill", cell, int(self.visible[row, col]))
        if len(self.grid) <= NUMBERED:
            self.build.write(cell, str(self.visits))
        for line in range(*FOLD.indices(len(self.code))):
            self._light(line)

    def _enter(self, tensor: str, tile: int) -> None:
        """The tile is in SRAM now, in the place of the one that had to leave."""
        hit, left = self.held[tensor].touch(tile)
        if hit:
            return
        cell = self.free[tensor].pop(0) if left is None else self.place.pop((tensor, left))
        self.place[tensor, tile] = cell
        self.build.set("state", cell, State.COMPUTED)
        self.build.set("hue", cell, HUES[tensor])
        self.build.write(cell, f"{tensor}{tile}")

    def _light(self, line: int) -> None:
        self._code_lit.add(line)

    def _cell(self, row: int, col: int) -> int:
        return self.grid[row * self.t.col_tiles + col]

    def close(self, caption: str, **params: object) -> None:
        """End the player's step: the lines of code that ran stand out, bytes and FLOPs so far are told."""
        for line, cell in enumerate(self.code):
            self.build.set("state", cell, State.HELD if line in self._code_lit else State.EMPTY)
        self.build.cursor(self.code[line] for line in self._code_lit)
        self._code_lit.clear()
        self.build.value("attention.series.bytes", self.bytes)
        self.build.value("attention.series.flops", self.flops)
        self.build.step(f"attention.walk.{caption}", **params)
