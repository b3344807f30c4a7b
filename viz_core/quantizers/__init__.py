"""Grids, formats, fits and layouts of quantized tensors."""
