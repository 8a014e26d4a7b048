"""Processes are killed at chosen places of conversations: `python -m benchmarks.chaos_kill STORE=sqlite N=300 SEED=1`.

`kill -9` of the supervisor, of its sub-agent and of the model's double, while clients talk that come back after a broken
connection. A turn whose process died goes on after the restart, so that every answer must be whole in the end. What is
killed where is dealt before the run (`deal.py`); the gate of `benchmarks.service` brings the turn to that place.
"""
