"""Every claim on screen as a named function → `Proof`: what was measured beside its tolerance, for page and test."""

from viz_core.proofs.proof import Proof

__all__ = ["Proof"]
