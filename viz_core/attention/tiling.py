"""How attention's matrices are cut into tiles, and what a tile weighs."""

from __future__ import annotations

from dataclasses import dataclass

from viz_core.i18n import Problem

STATS = 8  # bytes a row of m and l takes: two float32


@dataclass(frozen=True, slots=True)
class Tiling:
    """n queries and m keys of width d (values dv) in tiles of `rows` queries × `cols` keys, `e` bytes an element.

    v_in_k: the values are a part of the keys (absorbed MLA), so loading K has loaded V.
    Raises Problem for an empty side, or a tile that is empty or larger than its side.
    """

    n: int
    m: int
    d: int
    dv: int
    rows: int
    cols: int
    e: int = 2
    v_in_k: bool = False

    def __post_init__(self) -> None:
        if min(self.n, self.m, self.d, self.dv) < 1:
            raise Problem("attention_empty", n=self.n, m=self.m, d=self.d)
        for size, length in ((self.rows, self.n), (self.cols, self.m)):
            if not 1 <= size <= length:
                raise Problem("attention_tile_size", size=size, length=length)

    @property
    def row_tiles(self) -> int:
        """T_r, the number of query tiles."""
        return -(-self.n // self.rows)

    @property
    def col_tiles(self) -> int:
        """T_c, the number of key tiles."""
        return -(-self.m // self.cols)

    def of_row(self, i: int) -> slice:
        """The queries of tile i."""
        return slice(i * self.rows, min((i + 1) * self.rows, self.n))

    def of_col(self, j: int) -> slice:
        """The keys of tile j."""
        return slice(j * self.cols, min((j + 1) * self.cols, self.m))

    def bytes(self, tensor: str, tile: int) -> int:
        """Bytes of one tile of Q, K, V or O; O carries its m and l."""
        if tensor in "QO":
            r = min(self.rows, self.n - tile * self.rows)
            return r * self.d * self.e if tensor == "Q" else r * (self.dv * self.e + STATS)
        c = min(self.cols, self.m - tile * self.cols)
        return 0 if tensor == "V" and self.v_in_k else c * (self.d if tensor == "K" else self.dv) * self.e

    def flops(self, i: int, j: int) -> int:
        """FLOPs of tile (i, j)'s two products; a partly masked tile counts whole, as kernels run it."""
        r, c = min(self.rows, self.n - i * self.rows), min(self.cols, self.m - j * self.cols)
        return 2 * r * c * (self.d + self.dv)
