"""Play on several machines through dask's scheduler; each machine uses its own worker processes.

Neither user code nor anything else that can die runs in the process that dask talks to (`remote_worker`). If that
process dies, the cause is the machine, its time limit, or the network, and its work is sent elsewhere (`dispatcher`).
"""
