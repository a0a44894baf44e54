"""Engines: protocols, sessions, and serving our agents over UGI and UCI."""
