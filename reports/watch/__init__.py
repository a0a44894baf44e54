"""The live page of a run, updated whenever its log has grown."""
