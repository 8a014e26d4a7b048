"""Keeps every model request within its window, without forgetting what matters.

Everything here but `middleware.py` and `call_limit.py` is pure: messages in, messages out.
"""
