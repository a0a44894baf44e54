"""Play on several machines through dask's scheduler; each machine uses its own worker processes.

Nothing that can die, and no code of a user's, runs in the process that dask talks to (`machine`): a death there means a
machine, the end of its time, or the network, and the answer is to send what it was at elsewhere (`hub`).
"""
