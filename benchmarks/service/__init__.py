"""The service as processes, for drivers that see it from outside only: HTTP, signals and what the kernel counts.

A supervisor over one sub-agent, both forked from a process that has imported their modules; a double of the model's API in a
process of its own, which answers by the request alone (`script.py`); and a gate in the driver (`gate.py`), at which
tools and streams of the model report where they are and wait until they may go on.
"""
