"""`python -m agents.NAME` and `python -m utils.a2a_common.server.serve module:Class`: run one agent's server."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import sys
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import structlog

from utils.a2a_common.graph.settings import AgentSettings
from utils.a2a_common.server.agent_process import fail, run_agent
from utils.a2a_common.server.unknown_settings import warn_of_unknown_settings
from utils.encryption.settings import EncryptionSettings
from utils.errors import PlatformError, SettingsError, StorageError
from utils.observability.logging import configure_logging
from utils.observability.settings import LogFormat, LogSettings
from utils.persistence.private import keep_files_private
from utils.persistence.settings import DatabaseSettings
from utils.processes.event_loop import new_event_loop
from utils.processes.garbage import look_seldom
from utils.processes.last_moment import LastMoment
from utils.settings import HomeSettings, process_environment

if TYPE_CHECKING:
    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent

log = structlog.get_logger(__name__)

DEFAULT_PORT = 8010
"""Default port of an agent."""

EXIT_FAILED = 1
EXIT_SETTINGS = 2


def serve(
    agent_class: type[BaseLangGraphAgent],
    *,
    default_port: int = DEFAULT_PORT,
    argv: Sequence[str] | None = None,
) -> int:
    """Serve an agent until SIGINT or SIGTERM.

    Args:
        agent_class: The agent.
        default_port: Port where neither `--port` nor `PORT` names one.
        argv: Arguments; those of the process when omitted.

    Returns:
        The exit code: 0 after a clean stop, 1 for a failure, 2 for a wrong setting or a file that must be mended.
    """
    look_seldom()
    keep_files_private()
    parent = os.getppid()  # read now: the parent may be gone by the time that the agent is open
    options = _parser(agent_class.name).parse_args(argv)
    in_json = False
    try:
        _check_docstrings()
        environ = _environment(options)
        logs = LogSettings.load(environ)
        in_json = logs.format is LogFormat.JSON
        configure_logging(
            logs,
            agent=agent_class.name,
            environ=environ,
            own=(agent_class.__module__.partition(".")[0],),
        )
        warn_of_unknown_settings(agent_class.__module__)
        with LastMoment() as last_moment, asyncio.Runner(loop_factory=new_event_loop) as runner:
            settings = DatabaseSettings.load(environ), HomeSettings.load(environ)
            encryption = EncryptionSettings.load(environ)
            if tending := _tending(agent_class, options, *settings, encryption):
                runner.run(tending)
                return 0
            if options.check:
                from utils.a2a_common.server.start_check import check_start

                runner.run(check_start(agent_class, environ, default_port))
                return 0
            reason = runner.run(
                run_agent(
                    agent_class,
                    AgentSettings.load(environ),
                    default_port=default_port,
                    last_moment=last_moment,
                    parent=parent if options.exit_with_parent else None,
                )
            )
            return fail(reason, EXIT_FAILED) if reason else 0
    except PlatformError as error:
        return _refused(error, in_json=in_json)
    except KeyboardInterrupt:
        return 0


def _check_docstrings() -> None:
    """See that Python has kept docstrings: they are the descriptions of tools.

    Raises:
        SettingsError: It has not.
    """
    if sys.flags.optimize > 1:
        raise SettingsError(
            "PYTHONOPTIMIZE",
            "PYTHONOPTIMIZE=2 removes docstrings, by which models choose tools, so no agent can start. Unset it, or set 1.",
        )


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """The environment of the process, overridden by the arguments."""
    environ = process_environment()
    for variable, value in (("HOST", options.host), ("PORT", options.port)):
        if value is not None:
            environ[variable] = value
    return environ


def _refused(error: PlatformError, *, in_json: bool) -> int:
    """Report why the agent does not start; if the log is JSON, also as a log event for the log collector."""
    sentence = error.for_operator if isinstance(error, StorageError) else error.message
    code = EXIT_SETTINGS if isinstance(error, SettingsError | StorageError) else EXIT_FAILED
    if in_json:
        log.error("agent.not_started", code=error.code, exit_code=code, reason=sentence)
    return fail(sentence, code)


def _tending(
    agent_class: type[BaseLangGraphAgent],
    options: argparse.Namespace,
    database: DatabaseSettings,
    home: HomeSettings,
    encryption: EncryptionSettings,
) -> Coroutine[Any, Any, None] | None:
    """The work on the agent's data that replaces serving; `None` if the agent is to be served."""
    if options.adopt:
        from utils.a2a_common.server.commands.adopt import adopt
        from utils.persistence.adoption import ContextsElsewhere

        return adopt(
            agent_class.name,
            database,
            home,
            encryption.codec(),
            person=options.adopt,
            tenant=options.tenant,
            dry=options.dry_run,
            elsewhere=ContextsElsewhere(**json.loads(sys.stdin.read())) if options.elsewhere else None,
        )
    if options.erase:
        from utils.a2a_common.server.commands.erase import erase

        return erase(
            agent_class, database, home, person=options.erase, tenant=options.tenant, dry=options.dry_run
        )
    if options.encrypt:
        from utils.a2a_common.server.commands.encrypt import encrypt_stored

        return encrypt_stored(
            agent_class.name, database, home, encryption.codec(), rewrite=options.vacuum_full
        )
    if options.database:
        from utils.a2a_common.server.commands.database import Verb, tend_database

        return tend_database(agent_class.name, database, Verb(options.database), agent_class.own_tables)
    return None


def load_agent_class(path: str) -> type[BaseLangGraphAgent]:
    """The agent class at `module:Class`.

    Raises:
        SettingsError: There is no such module or class, it is not an agent, or its class definition is invalid.
        Exception: Whatever the module raises when it is imported.
    """
    from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
    from utils.a2a_common.graph.identity import AgentClassError

    module, _, name = path.partition(":")
    no_agent = SettingsError("agent", f"There is no agent at {path!r}; expected module:Class.")
    if not (module and name):
        raise no_agent
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise no_agent from error
    except AgentClassError as error:
        raise SettingsError("agent", str(error)) from error
    if found is None:
        raise no_agent
    if not (isinstance(found, type) and issubclass(found, BaseLangGraphAgent)):
        raise SettingsError("agent", f"{path} is not a subclass of BaseLangGraphAgent.")
    return found


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=name, description=f"Serve the {name} agent over A2A.")
    parser.add_argument("--host", help="address to listen on (default: HOST or 127.0.0.1)")
    parser.add_argument("--port", help="port to listen on (default: PORT or the agent's own)")
    parser.add_argument(
        "--exit-with-parent", action="store_true", help="stop when the process that started this one ends"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="say whether the agent could be started with its settings, and exit",
    )
    parser.add_argument(
        "--database",
        choices=("upgrade", "status"),
        help="upgrade or show the tables at DATABASE_URL, and exit",
    )
    parser.add_argument(
        "--adopt",
        metavar="PERSON",
        help="give the conversations that were had without authentication to this issuer and subject, and exit",
    )
    parser.add_argument(
        "--erase", metavar="PERSON", help="delete all that is kept of this issuer and subject, and exit"
    )
    parser.add_argument(
        "--encrypt",
        action="store_true",
        help="encrypt what is stored with the first of ENCRYPTION_KEYS, and exit",
    )
    parser.add_argument("--vacuum-full", action="store_true", help="rewrite the tables then")
    parser.add_argument("--tenant", default="", help="the tenant of the conversations or the person")
    parser.add_argument(
        "--elsewhere", action="store_true", help="what the supervisor told of this stands on standard input"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show which")
    return parser


def main() -> int:
    """Serve the agent that the first argument names as `module:Class`."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004 - program and agent
        return fail("usage: python -m utils.a2a_common.server.serve module:Class [options]", EXIT_SETTINGS)
    try:
        agent_class = load_agent_class(sys.argv[1])
    except SettingsError as error:
        return fail(error.message, EXIT_SETTINGS)
    return serve(agent_class, argv=sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
