"""Runs the module of an agent as `python -m` does. Where it fails, a sentence says where in whose file, and not a traceback.

`python -m utils.processes.agent_module MODULE ARGUMENT…`; with `--apart` before the module the traceback goes to a file of
its own, for a process whose standard error a person reads. Else it goes before the sentence, to the log of the process.
"""

from __future__ import annotations

import os
import runpy
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from pathlib import Path

APART = "--apart"

EXIT_NOT_LOADED = 70
"""Exit code of a process whose module failed before it served: EX_SOFTWARE of sysexits.h. The last line of what it printed says why."""

NOT_LOADED = "agent_not_loaded"
"""Code of that error."""

_FRAMEWORK = str(Path(__file__).parents[1]) + os.sep
_WORDS = 300
"""Characters of the error's own words that are told."""


def run_agent_module(module: str, arguments: Sequence[str], *, apart: bool = False) -> None:
    """Run it in this process.

    Args:
        module: What `python -m` would be given.
        arguments: What follows.
        apart: Whether the traceback goes to a file of its own.

    Raises:
        SystemExit: The module ended so, or failed by a fault in a file that is not of this framework.
    """
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except Exception as error:  # whatever third-party code raises when it is imported
        place = _place(error)
        if not place and not isinstance(error, ImportError):
            raise
        tell = _tell_apart if apart else _log
        tell(error, _sentence(module, error, place))
        raise SystemExit(EXIT_NOT_LOADED) from None


def _tell_apart(error: Exception, sentence: str) -> None:
    from utils.processes.details import kept_details

    sys.stderr.write(f"Error [{NOT_LOADED}]: {sentence} {kept_details(error)}\n")


def _log(error: Exception, sentence: str) -> None:
    sys.stderr.write("".join(traceback.format_exception(error)) + sentence + "\n")


def _sentence(module: str, error: Exception, place: str) -> str:
    words = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())[:_WORDS]
    what = f"{type(error).__name__}: {words}".removesuffix(": ").rstrip(".")
    return f"The module {module} failed: {what}{place}. {_way_out(error, place)}"


def _way_out(error: Exception, place: str) -> str:
    if not place:
        return "Correct its name in the list of agents (agents.yaml), or install what holds it."
    if isinstance(error, ModuleNotFoundError):
        return "Install what is missing, or correct the import, and start again."
    return "Mend it and start again."


def _place(error: Exception) -> str:
    """Such as " (/srv/jira/agent.py, line 3)"; empty where no file of others than Python and this framework is in it."""
    if isinstance(error, SyntaxError) and os.path.isfile(error.filename or ""):  # noqa: PTH113 - any text
        return f" ({error.filename}, line {error.lineno})"
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for belongs in (_is_own, _is_foreign):
        if found := [frame for frame in frames if belongs(frame[0])]:
            return " ({}, line {})".format(*found[-1])
    return ""


def _is_own(file: str) -> bool:
    """Whether whoever wrote the agent wrote this file too: it is neither of this framework nor installed."""
    return _is_foreign(file) and not file.startswith(_folders("purelib", "platlib"))


def _is_foreign(file: str) -> bool:
    of_python = file.startswith(_folders("stdlib", "platstdlib"))
    return not file.startswith((_FRAMEWORK, "<")) and (
        not of_python or file.startswith(_folders("purelib", "platlib"))
    )


def _folders(*names: str) -> tuple[str, ...]:
    return tuple(sysconfig.get_path(name) + os.sep for name in names)


def main(arguments: Sequence[str]) -> None:
    """Run what the arguments name."""
    apart = arguments[0] == APART
    module, *rest = arguments[1:] if apart else arguments
    run_agent_module(module, rest, apart=apart)


if __name__ == "__main__":
    main(sys.argv[1:])
