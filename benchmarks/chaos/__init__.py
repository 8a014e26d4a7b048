"""Conversations with everything that can go wrong: `python -m benchmarks.chaos N=1000 SEED=1`.

A real supervisor over two sub-agents: `worker`, one of ours, in a process that is killed and started again, and
`stranger`, an agent on the bare SDK, which rejects, fails, asks for a login and breaks off its streams. All models are
the strict provider's double. What happens in which conversation is dealt before the run (`orders.py`), so that
everything happens to somebody; a run in which one kind never happened fails.
"""
