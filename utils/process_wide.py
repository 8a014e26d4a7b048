"""Process-wide changes to libraries that offer no other way.

Importing a module of this project changes no library. Each change is declared beside the code that needs it, and `install` makes
them. docs/agent-reference.md lists them for programs that embed an agent.
"""

from __future__ import annotations

from collections.abc import Callable

ERROR_TABLES = "the error tables of the A2A SDK"
MODEL_CALLBACKS = "the callbacks that LangChain gives to each model call"

_waiting: list[Callable[[], object]] = []
_declared: list[str] = []
_installs = False


def declare(what: str, change: Callable[[], object]) -> None:
    """Have `install` make a change; it is made at once if `install` was called before.

    Args:
        what: What is changed, as worded in the documentation.
        change: Makes it; called once.
    """
    _declared.append(what)
    if _installs:
        change()
    else:
        _waiting.append(change)


def install() -> None:
    """Make each declared change once; safe to call again. Entry points call it, and embedding programs may."""
    global _installs  # noqa: PLW0603 - the state of a process, which is what this module is about
    _installs = True
    while _waiting:
        _waiting.pop(0)()


def declared() -> list[str]:
    """The changes that the modules imported so far declare."""
    return list(_declared)
