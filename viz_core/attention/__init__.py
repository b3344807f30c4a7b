"""Attention as one monoid: dense, tiled, fast, and their orders and ledgers."""
