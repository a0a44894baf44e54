"""Play a plan: the runner, its stop rules, and the recorder of finished games."""
