"""The exit codes of `platform-engineer`. Programs may rely on the numbers."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Every exit code; `EXIT_CODE_HELP` lists them in the top `--help`."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    UNREACHABLE = 3
    TASK_FAILED = 4
    INPUT_REQUIRED = 5
    CANCELED = 6
    NOT_LOADED = 70
    INTERRUPTED = 130
    TERMINATED = 143


EXIT_CODE_HELP = (
    "Exit codes: 0 ok · 1 unexpected error, or as a command says · 2 usage or settings, or as a command says · 3 service not reachable · "
    "4 the task failed or was rejected · 5 the agent needs input (--ask) · 6 the task was canceled · "
    "70 the module of an agent cannot be loaded · 130 interrupted by Ctrl-C · 143 ended by SIGTERM."
)

_BY_STATE = {
    "completed": ExitCode.OK,
    "failed": ExitCode.TASK_FAILED,
    "rejected": ExitCode.TASK_FAILED,
    "canceled": ExitCode.CANCELED,
    "input-required": ExitCode.INPUT_REQUIRED,
    "auth-required": ExitCode.INPUT_REQUIRED,
}


def exit_code_of(state: str) -> ExitCode:
    """The exit code for the state that a task ended in; a state that is no end counts as failed."""
    return _BY_STATE.get(state, ExitCode.TASK_FAILED)
