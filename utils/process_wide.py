"""What this project changes in libraries for the whole process, where they have no other way to do it.

Importing a module of ours changes nothing there. Each change is declared beside the code that needs it, and `install` makes them. Who
embeds an agent in a program of their own finds them listed in docs/agent-reference.md.
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
        what: What is changed, as it stands in the documentation.
        change: Makes it; called once.
    """
    _declared.append(what)
    if _installs:
        change()
    else:
        _waiting.append(change)


def install() -> None:
    """Make each declared change once. Called again, it does nothing: each entry point calls it, and so may an embedder."""
    global _installs  # noqa: PLW0603 - the state of a process, which is what this module is about
    _installs = True
    while _waiting:
        _waiting.pop(0)()


def declared() -> list[str]:
    """What is changed, of the modules that were imported so far."""
    return list(_declared)
