"""Parses `MCP_SERVERS`, the MCP servers of an agent: a file or inline text, YAML or JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from utils.errors import SettingsError

VARIABLE = "MCP_SERVERS"

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WRAPPERS = ("mcpServers", "servers")
"""Top-level keys under which the files of other programs list their servers."""


class McpServer(BaseModel):
    """One MCP server, reached over stdio (`command`) or streamable HTTP (`url`).

    Attributes:
        name: Its name in the settings; a prefix of its tools' names.
        command: Program to start; looked up on `PATH`.
        args: Its arguments.
        env: Its environment, besides a few harmless variables of this process such as `PATH`.
        cwd: Its working folder.
        url: Address of a running server.
        headers: HTTP headers of every request.
        transport: `stdio` or `http`; derived from the other fields when omitted.
        agents: Agents that use it; all when omitted.
        tools: Names of the server's tools that are offered; all when omitted.
        allow: Names of the server's tools that need no approval; `*` for all.
        timeout_seconds: Timeout of one tool call.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True)

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    url: str | None = Field(None, pattern=r"^https?://\S+$")
    headers: dict[str, str] = Field(default_factory=dict)
    transport: Literal["stdio", "http", "streamable_http", "streamable-http"] | None = Field(
        None, alias="type"
    )
    agents: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    allow: tuple[str, ...] = ()
    timeout_seconds: float = Field(60, gt=0)

    @model_validator(mode="after")
    def _one_way(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either command or url")
        if self.transport is not None and (self.transport == "stdio") != (self.command is not None):
            raise ValueError("stdio goes with command, http with url")
        return self


def servers_of(value: str, environ: Mapping[str, str], agent: str) -> list[McpServer]:
    """The servers that an agent uses.

    Args:
        value: The setting: a path, or inline text that begins with `{` or has several lines.
        environ: The values for `${NAME}` in addresses, arguments, headers and variables.
        agent: Name of the agent.

    Raises:
        SettingsError: The file cannot be read, or an entry is invalid.
    """
    found = [_server(name, given, environ) for name, given in _entries(_text(value)).items()]
    return [server for server in found if server.agents is None or agent in server.agents]


def _text(value: str) -> str:
    if value.lstrip().startswith("{") or "\n" in value.strip():
        return value
    try:
        return Path(value).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(VARIABLE, f"Setting {VARIABLE} names a file that cannot be read.") from error


def _entries(text: str) -> Mapping[str, Any]:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _wrong("it is neither YAML nor JSON") from error
    for wrapper in _WRAPPERS:
        if isinstance(value, Mapping) and set(value) == {wrapper}:
            value = value[wrapper]
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(each, Mapping) for each in value.values()):
        raise _wrong("it must map names to servers")
    return value


def _server(name: Any, given: Mapping[str, Any], environ: Mapping[str, str]) -> McpServer:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _wrong("a server's name is up to 31 lower-case letters, digits, hyphens and underscores")
    try:
        return McpServer.model_validate({**_resolved(given, environ, name), "name": name})
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = str(first["msg"]).removeprefix("Value error, ")
        raise _wrong(f"server {name}{f', {where}' if where else ''}: {reason}") from error


def _resolved(value: Any, environ: Mapping[str, str], server: str) -> Any:
    """The value with every `${NAME}` replaced, so that secrets need not be in the file."""
    if isinstance(value, Mapping):
        return {key: _resolved(each, environ, server) for key, each in value.items()}
    if isinstance(value, list):
        return [_resolved(each, environ, server) for each in value]
    if not isinstance(value, str):
        return value

    def look_up(match: re.Match[str]) -> str:
        if not environ.get(match[1]):
            raise SettingsError(match[1], f"Setting {match[1]} is missing: the MCP server {server} needs it.")
        return environ[match[1]]

    return _REFERENCE.sub(look_up, value)


def _wrong(reason: str) -> SettingsError:
    return SettingsError(VARIABLE, f"Setting {VARIABLE} is wrong: {reason}.")
