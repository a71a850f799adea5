"""The CPU backend: numba kernels that reproduce the canonical arithmetic."""
