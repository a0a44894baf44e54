"""Evaluate programs that a program wrote: a cascade of stages in warm, sandboxed workers, stopping at the first no."""
