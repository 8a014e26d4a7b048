"""Errors of the command line, each with the exit code that it ends the process with."""

from __future__ import annotations

from typing import ClassVar

from multi_agents.cli.exit_codes import ExitCode
from utils.errors import PlatformError, SettingsError


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


class ChildSettingsWrong(ServiceUnreachable):
    """An agent refused to start because of its settings."""

    code = "settings_invalid"
    exit_code = ExitCode.USAGE


class ConnectionLost(ServiceUnreachable):
    """The connection broke while an answer was under way."""

    code = "connection_lost"


class AgentRefused(CliError):
    """The agent answered the request with a protocol error."""

    code = "agent_refused"
    exit_code = ExitCode.TASK_FAILED


def exit_code_for(error: PlatformError) -> ExitCode:
    """The exit code that an error ends the process with."""
    if isinstance(error, CliError):
        return error.exit_code
    return ExitCode.USAGE if isinstance(error, SettingsError) else ExitCode.UNEXPECTED
