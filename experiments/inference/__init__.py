"""Inference: pure functions of counts and frames, each returning a plain dataclass that keeps its inputs."""
