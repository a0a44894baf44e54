"""Tables about runs."""
