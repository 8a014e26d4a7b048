"""Conversations without end under limits of size: what is stored stays as large as it is.

`python -m benchmarks.retention STORE=sqlite TURNS=1000`.
"""
