"""Schedules of a task log, an engine and a request handler under faults: `python -m benchmarks.simulate N=1000 SEED=1`.

The real classes run over stores in memory, in an event loop with a virtual clock. A seed decides what runs next, which
store operation is slow, fails or loses its answer, which process dies or stalls at which step, and what clients do.
After each schedule the invariants are checked on what readers saw and what is stored.
"""
