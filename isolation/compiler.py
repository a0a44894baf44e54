"""Compile heuristics from scripts."""

from __future__ import annotations

from .compiling.compile_heuristic import CompiledHeuristic, CompileError, compile_heuristic

__all__ = ["CompileError", "CompiledHeuristic", "compile_heuristic"]
