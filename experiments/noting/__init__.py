"""What is added to the log of tries: looks at verdicts of runs, and tries on fixed positions."""
