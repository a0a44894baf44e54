"""Child processes that play: their sandbox, protocol and transport."""
