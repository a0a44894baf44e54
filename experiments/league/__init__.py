"""A class of submissions: found, checked, played against each other, and judged."""
