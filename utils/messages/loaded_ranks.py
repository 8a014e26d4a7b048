"""Importing this loads the ranks of the default encoding: for a process that forks others, which all count tokens.

Each of them would read and index the ranks itself, a fifth of a second, and hold 70 MB of its own.
"""

from __future__ import annotations

from utils.messages.tokens import count_text_tokens

count_text_tokens("ranks")
