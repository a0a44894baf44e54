"""Heuristics as LLVM code, by running their syntax trees once over abstract values."""
