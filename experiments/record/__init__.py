"""Records of games and of what was tried: the log, run directories, the log of tries, and checksummed files."""
