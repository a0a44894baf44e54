"""Results that others have published, parsed and analysed again."""
