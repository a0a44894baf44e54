"""Records of games: the log, run directories, and checksummed files."""
