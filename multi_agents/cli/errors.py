"""Errors of the command line, each with the exit code that it ends the process with."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from multi_agents.cli.exit_codes import ExitCode
from utils.atomic_file import is_full, not_written
from utils.errors import OutcomeUnknown, PlatformError, SettingsError, StorageError
from utils.processes.agent_module import NOT_LOADED


class CliError(PlatformError):
    """A command could not do its work."""

    code = "command_failed"
    exit_code: ClassVar[ExitCode] = ExitCode.UNEXPECTED


class UsageError(CliError):
    """The command was called with arguments that do not fit."""

    code = "usage"
    exit_code = ExitCode.USAGE


class ServiceUnreachable(CliError):
    """No agent answers at the address, or the local service could not be started."""

    code = "service_unreachable"
    exit_code = ExitCode.UNREACHABLE
    retryable = True


class PortTaken(ServiceUnreachable):
    """Another program took the port before the process of the service could listen there."""

    code = "port_taken"


class NotReady(ServiceUnreachable):
    """A process of the service runs, but does not become ready."""

    code = "service_not_ready"


class ChildSettingsWrong(ServiceUnreachable):
    """An agent refused to start because of its settings."""

    code = "settings_invalid"
    exit_code = ExitCode.USAGE


class AgentNotLoaded(ServiceUnreachable):
    """The module of an agent cannot be imported, or failed before it served."""

    code = NOT_LOADED
    exit_code = ExitCode.NOT_LOADED
    retryable = False


class ConnectionLost(ServiceUnreachable):
    """The connection broke while an answer was under way."""

    code = "connection_lost"


class AgentRefused(CliError):
    """The agent answered the request with a protocol error."""

    code = "agent_refused"
    exit_code = ExitCode.TASK_FAILED


class AnswerLost(CliError):
    """The agent may have done what it was asked, and its answer was lost."""

    code = OutcomeUnknown.code
    exit_code = ExitCode.TASK_FAILED


class AgentSilent(CliError):
    """The agent said nothing for longer than `--timeout` allows. It may still work on the task, which is not canceled."""

    code = "agent_silent"
    exit_code = ExitCode.TASK_FAILED


class Stopped(CliError):
    """A command of a chat was stopped with Ctrl-C before the agent answered."""

    code = "stopped"
    exit_code = ExitCode.INTERRUPTED


UNASKED = "This command asks for confirmation, and there is no terminal. Add --yes to {} without asking."


def unwritable_home(home: Path, error: OSError) -> StorageError:
    """The error for a data folder that cannot be used."""
    if is_full(error):
        return not_written(home, error)
    why = error.strerror or type(error).__name__
    return StorageError(
        f"The data folder {home} cannot be written: {why}. Set PLATFORM_ENGINEER_HOME to one that can."
    )


def exit_code_for(error: PlatformError) -> ExitCode:
    """The exit code that an error ends the process with."""
    if isinstance(error, CliError):
        return error.exit_code
    mendable = isinstance(error, SettingsError | StorageError)
    return ExitCode.USAGE if mendable else ExitCode.UNEXPECTED
