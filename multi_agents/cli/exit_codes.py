"""The exit codes of `platform-engineer`. Programs may rely on the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from utils.events import DelegationState


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

_BY_STATE: Mapping[DelegationState | None, ExitCode] = {
    DelegationState.COMPLETED: ExitCode.OK,
    DelegationState.FAILED: ExitCode.TASK_FAILED,
    DelegationState.REJECTED: ExitCode.TASK_FAILED,
    DelegationState.CANCELED: ExitCode.CANCELED,
    DelegationState.INPUT_REQUIRED: ExitCode.INPUT_REQUIRED,
    DelegationState.AUTH_REQUIRED: ExitCode.INPUT_REQUIRED,
}


def exit_code_of(state: DelegationState | None) -> ExitCode:
    """The exit code for the state that a task ended in; a state that is no end counts as failed, and so does none."""
    return _BY_STATE.get(state, ExitCode.TASK_FAILED)
