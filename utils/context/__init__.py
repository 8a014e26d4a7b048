"""Keeps every model request within the context window of its model.

The stages of `pipeline.py` and what they import do no I/O; `middleware.py` connects them to LangChain.
"""
