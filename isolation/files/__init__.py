"""Files: written atomically, temporary, received from others or shipped, and of other commits."""
