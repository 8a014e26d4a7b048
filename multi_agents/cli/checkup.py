"""The checks of `doctor`. Each gives findings and raises nothing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from multi_agents.cli.database_check import check_database, check_out_of_sight
from multi_agents.cli.issuers_check import check_issuers
from multi_agents.cli.limits_check import check_limits
from multi_agents.cli.model.ask import ask_models
from multi_agents.cli.model.finding import Finding, Level
from multi_agents.cli.own_settings import OwnSettings, own_settings, wrong_shared
from multi_agents.cli.retention_check import check_shorter_retention
from multi_agents.cli.service.agents import AgentTarget, look_at_all
from multi_agents.cli.service.local import configured_agents, home_folder, running_service, supervisor_port
from multi_agents.cli.service.ports import is_free
from multi_agents.cli.settings_groups import (
    settings_of_agents,
    unknown_own_settings,
    unknown_settings,
    wrong_settings,
)
from multi_agents.cli.start_check import check_start
from utils.a2a_common.client.agents.agents_file import SUPERVISOR, AgentEntry
from utils.a2a_common.server.certificate_watch import served_dates
from utils.a2a_common.server.http.https import https_options
from utils.atomic_file import check_room
from utils.auth.settings import AuthSettings
from utils.encryption.codec import PLAIN_WORD, VARIABLE
from utils.encryption.settings import EncryptionSettings
from utils.environment import repeated_variables, unread_env_file
from utils.errors import SettingsError, StorageError, StorageFull
from utils.memory.settings import MemorySettings
from utils.persistence.settings import DatabaseSettings, RetentionSettings, Store
from utils.persistence.sizes import in_words, sizes_of_files, summary_of
from utils.setting_values import choices
from utils.settings import (
    EmbeddingSettings,
    EmbeddingsProvider,
    EnvSettings,
    LLMSettings,
    McpSettings,
    ModelProvider,
    RecoverySettings,
    ServerSettings,
    process_environment,
)
from utils.settings_index import names_of

OLDEST_PYTHON = (3, 11)

NOBODY_REMEMBERED = "LONG_TERM_MEMORY is on, but AUTH_MODE is not: callers cannot be told apart, so that nothing is remembered"


async def all_checks(agents_file: Path) -> list[Finding]:
    """Every check, in the order in which a person should read them."""
    findings = [*check_python(), *await check_settings(agents_file)]
    if any(finding.level is Level.WRONG for finding in findings):
        return findings
    environ = process_environment()
    own = own_settings(agents_file, environ)
    findings += [
        *check_model(environ),
        *check_embeddings(environ),
        *check_mcp(environ),
        *check_encryption(environ),
        *check_https(environ),
    ]
    for one in own:
        findings += check_own_settings(one, environ)
    if any(finding.level is Level.WRONG for finding in findings):
        return findings
    entries = configured_agents(agents_file)
    at_home = environ | {"PLATFORM_ENGINEER_HOME": str(home_folder())}
    findings += await asyncio.to_thread(lambda: list(check_home()))
    findings += await asyncio.to_thread(lambda: list(check_out_of_sight(environ, home_folder())))
    findings += await check_start(agents_file, at_home, entries, own)
    findings += await ask_models(environ, own)
    findings += await check_database(environ)
    findings += await check_issuers(environ)
    findings += [*check_retention(environ), *check_shorter_retention(environ, own)]
    findings += check_memory(environ)
    findings += check_limits(environ)
    return [*findings, *check_ports(entries), *await check_agents(entries)]


def check_python() -> Iterator[Finding]:
    """The version of Python."""
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= OLDEST_PYTHON
    yield Finding(
        "python",
        Level.OK if good else Level.WRONG,
        f"Python {version}" + ("" if good else "; 3.11 or newer is needed"),
    )


async def check_settings(agents_file: Path) -> list[Finding]:
    """Each setting of each agent, the list of agents, and names that look like a setting."""
    try:
        shared, environ = wrong_settings(), process_environment()
        own = own_settings(agents_file, environ)
        shared += wrong_shared(own, environ)
        of_agents = await settings_of_agents(configured_agents(agents_file), own)
        unknown = [*unknown_settings(of_agents.names), *unknown_own_settings(of_agents.names, own)]
    except SettingsError as error:
        return [Finding("settings", Level.WRONG, error.message)]
    sentences = [*(problem.message for problem in shared), *of_agents.wrong, *of_agents.wrong_own]
    found = [Finding("settings", Level.WRONG, sentence) for sentence in sentences]
    found += [
        Finding("settings", Level.WRONG if one.suspicious and one.in_file else Level.NOTE, one.sentence)
        for one in unknown
    ]
    found += [Finding("settings", Level.NOTE, one.sentence) for one in repeated_variables()]
    if unread := unread_env_file():
        found.append(Finding("settings", Level.WRONG, unread))
    if not any(one.level is Level.WRONG for one in found):
        found.append(Finding("settings", Level.OK, "every setting can be read"))
    return found


def check_own_settings(own: OwnSettings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Which settings an agent has for itself, and whether its model and embeddings are complete with them."""
    yield Finding("settings", Level.OK, f"{own.agent} has its own {', '.join(sorted(own.env))} ({own.file})")
    checks: list[tuple[Callable[[Mapping[str, str]], Iterator[Finding]], Sequence[type[EnvSettings]]]] = [
        (check_model, (LLMSettings, RecoverySettings)),
        (check_embeddings, (EmbeddingSettings,)),
        (check_mcp, (McpSettings,)),
        (check_encryption, (EncryptionSettings,)),
    ]
    for check, groups in checks:
        if names_of(groups) & set(own.env):
            for finding in check(own.over(environ)):
                yield replace(finding, message=f"{own.agent}: {finding.message}")


def check_model(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Which model answers, and whether its settings and those of the one in reserve are complete."""
    from utils.context.factory import prompt_of
    from utils.context.settings import ContextSettings
    from utils.llm.factory import create_chat_model, describe_model, fallback_of

    settings = LLMSettings.load(environ)
    fallback = fallback_of(settings, RecoverySettings.load(environ))
    try:
        prompt_of(ContextSettings.load(environ))
        for one in (settings, fallback):
            if one is not None and one.provider is not ModelProvider.EMBEDDED:
                create_chat_model(one)
    except SettingsError as error:
        yield Finding("model", Level.WRONG, error.message)
        return
    if settings.provider is not ModelProvider.EMBEDDED:
        yield Finding("model", Level.OK, describe_model(settings))
        return
    configured = [one for one in ModelProvider if one is not ModelProvider.EMBEDDED]
    yield Finding(
        "model",
        Level.NOTE,
        f"{describe_model(settings)}: it routes requests and quotes what agents find. For a language model set "
        f"LLM_PROVIDER to {choices(configured)}, and LLM_MODEL.",
    )


def check_embeddings(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Which embeddings are used, and whether their settings are complete."""
    from utils.embeddings import create_embedder

    settings = EmbeddingSettings.load(environ)
    if settings.provider is EmbeddingsProvider.NONE:
        yield Finding("embeddings", Level.NOTE, "none: documents are searched by words only")
        return
    try:
        create_embedder(settings, cache=None)
    except SettingsError as error:
        yield Finding("embeddings", Level.WRONG, error.message)
    else:
        yield Finding("embeddings", Level.OK, f"{settings.provider.value} {settings.model or ''}".strip())


def check_mcp(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the MCP servers are described as they must be; they are not asked."""
    from utils.mcp.config import servers_of

    settings = McpSettings.load(environ)
    if settings.servers is None:
        return
    try:
        servers_of(settings.servers, environ, SUPERVISOR)
    except SettingsError as error:
        yield Finding("mcp", Level.WRONG, error.message)
    else:
        yield Finding("mcp", Level.OK, "the MCP servers are described as they must be")


def check_encryption(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the encryption keys, if any are set, are valid."""
    try:
        codec = EncryptionSettings.load(environ).codec()
    except SettingsError as error:
        yield Finding("encryption", Level.WRONG, error.message)
        return
    if codec.on:
        text = f"what conversations leave is encrypted; keys: {len(codec.keys)}"
        yield Finding("encryption", Level.OK, text)
    elif codec.keys:
        text = f"what conversations leave is stored as it is, since {VARIABLE} begins with {PLAIN_WORD}; keys that read: {len(codec.keys)}"
        yield Finding("encryption", Level.NOTE, text)


def check_https(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the certificate, if one is set, can serve an agent; `up` does not pass it on."""
    try:
        if https_options(ServerSettings.load(environ)):
            yield Finding(
                "https", Level.OK, "TLS_CERT_FILE and TLS_KEY_FILE belong together; `serve` speaks HTTPS"
            )
        now = datetime.now(UTC)
        for each in served_dates(ServerSettings.load(environ)):
            if wrong := each.wrong(now):
                yield Finding("https", Level.WRONG, wrong)
            elif soon := each.soon(now):
                yield Finding("https", Level.NOTE, soon)
    except SettingsError as error:
        yield Finding("https", Level.WRONG, error.message)


def check_home() -> Iterator[Finding]:
    """Whether the data folder can be written."""
    home = home_folder()
    try:
        check_room(home)
    except StorageFull as error:
        yield Finding("data folder", Level.WRONG, error.message)
    except StorageError:
        yield Finding(
            "data folder",
            Level.WRONG,
            f"{home} cannot be written; set PLATFORM_ENGINEER_HOME to a folder that can",
        )
    else:
        yield Finding("data folder", Level.OK, f"{home} can be written")
        if DatabaseSettings.load().store is Store.MEMORY:
            yield Finding(
                "data", Level.OK, "conversations are kept in memory and end with the service: STORE=memory"
            )
        yield from (
            Finding("data", Level.OK, f"{folder.name} has stored {summary_of(sizes)}")
            for folder in sorted(home.iterdir())
            if folder.is_dir() and (sizes := sizes_of_files(folder))
        )


def check_retention(environ: Mapping[str, str]) -> Iterator[Finding]:
    """When conversations are deleted by themselves."""
    settings = RetentionSettings.load(environ)
    told = [f"after {settings.days:g} days"] if settings.days else []
    told += [f"from {in_words(limit)} of {kind}" for kind, limit in settings.limits.items()]
    yield Finding(
        "retention",
        Level.OK,
        f"conversations are deleted {' and '.join(told)}" if told else "conversations are kept for ever",
    )


def check_memory(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether long-term memory, if it is on, can tell users apart."""
    if not MemorySettings.load(environ).on:
        return
    if AuthSettings.load(environ).on:
        yield Finding("memory", Level.OK, "what conversations taught about a user is known in the next ones")
    else:
        yield Finding("memory", Level.WRONG, NOBODY_REMEMBERED)


def check_ports(entries: tuple[AgentEntry, ...]) -> Iterator[Finding]:
    """The ports of the settings: free, used by the running service, or taken by somebody else."""
    running = running_service()
    ours = {one.url: one.name for one in running.agents} if running else {}
    wanted = {SUPERVISOR: supervisor_port()} | {one.name: one.port for one in entries if one.port}
    for name, port in wanted.items():
        user = ours.get(f"http://127.0.0.1:{port}")
        if user:
            yield Finding("port", Level.OK, f"{port} is used by {user} of the running service")
        elif is_free(port):
            yield Finding("port", Level.OK, f"{port} is free for {name}")
        else:
            yield Finding(
                "port", Level.NOTE, f"{port} is taken by another program; {name} will use the next free one"
            )


async def check_agents(entries: tuple[AgentEntry, ...]) -> list[Finding]:
    """The cards of agents that should answer: those of the running service, and foreign ones."""
    running = running_service()
    if running is not None:
        targets = [AgentTarget(one.name, one.url) for one in running.agents]
    else:
        targets = [AgentTarget(one.name, one.url) for one in entries if one.module is None]
    if not targets:
        return [Finding("agents", Level.NOTE, "no service runs; `platform-engineer up` or `chat` starts it")]
    rows = await look_at_all(targets)
    levels: Mapping[str, Level] = {
        "ready": Level.OK,
        "not ready": Level.NOTE,
        "down": Level.WRONG,
    }
    return [
        Finding(
            "agents",
            levels[row.health],
            f"{row.name}: {row.health}" + (f", {row.detail}" if row.detail else ""),
        )
        for row in rows
    ]
