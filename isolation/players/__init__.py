"""Agents: whatever chooses moves."""
