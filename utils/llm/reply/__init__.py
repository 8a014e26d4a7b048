"""Reads a model's reply before anything acts on it: finish reason, reasoning, tool calls, text, repetition.

The door is `answer.py`. What a server does differently from others is handled here and in `utils/llm/classify.py`;
nothing behind this room looks at a provider's own fields.
"""
