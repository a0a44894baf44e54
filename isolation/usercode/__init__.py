"""User code: timeouts, captured output, exceptions, and the lifetime of processes."""
