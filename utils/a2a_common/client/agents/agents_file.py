"""The configured list of sub-agents: a YAML file, or the value of `SUB_AGENTS`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from utils.a2a_common.client.agents.agent_env import parse_env
from utils.a2a_common.protocol.exchange import CHOICES as EXCHANGE_CHOICES
from utils.a2a_common.protocol.exchange import VARIABLE as EXCHANGE_VARIABLE
from utils.a2a_common.protocol.exchange import ExchangeFor, exchange_of, parse_exchange
from utils.a2a_common.protocol.shares import CHOICES, Shares, parse_shares
from utils.a2a_common.protocol.shares import VARIABLE as SHARES_VARIABLE
from utils.a2a_common.protocol.trust import CHOICES as TRUST_CHOICES
from utils.a2a_common.protocol.trust import VARIABLE as TRUST_VARIABLE
from utils.a2a_common.protocol.trust import Trust, parse_trust, usual_trust
from utils.errors import SettingsError

if TYPE_CHECKING:
    from yaml import Node

VARIABLE = "SUB_AGENTS"
SUPERVISOR = "supervisor"

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_MERGE = "tag:yaml.org,2002:merge"
_KEYS = frozenset({"module", "port", "url", "shares", "trust", "env", "exchange"})


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """One configured sub-agent: a local one with module and port, or a foreign one with a url.

    Attributes:
        name: Its name at the supervisor: a lower-case letter, then letters, digits, `-` or `_`, up to 32.
        module: Python module that serves a local agent.
        port: Port that a local agent prefers.
        url: Address of the agent, without a trailing slash; for a local one its default on loopback.
        shares: What it gets of a conversation; by default results for a local agent, nothing for a foreign one.
        named_trust: Whose it is; by default ours where it gets results.
        env: Settings of a local agent's process, as they are written.
        exchange: The token of the person that an agent with a url is asked with; `None` for none.
    """

    name: str
    url: str
    module: str | None = None
    port: int | None = None
    shares: Shares = Shares.NOTHING
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    named_trust: Trust | None = None
    exchange: ExchangeFor | None = None

    @property
    def trust(self) -> Trust:
        """Whose it is."""
        return self.named_trust or usual_trust(self.shares)


def load_agents_file(path: Path) -> tuple[AgentEntry, ...]:
    """The sub-agents of a YAML file of `name: {module, port, env}` or `name: {url}`, in their order; `shares` is optional.

    Raises:
        SettingsError: The file is missing or is not such YAML, or an entry is wrong. Names the entry.
    """
    value = _read(path)
    _supervisor_env(value, path.name)
    entries = [_from_file(str(name), entry, path.name) for name, entry in value.items() if name != SUPERVISOR]
    ports = [entry.port for entry in entries if entry.port is not None]
    if len(set(ports)) != len(ports):
        raise SettingsError(VARIABLE, f"Two agents in {path.name} have the same port.")
    _check_modules(entries, f"The agents file {path.name}")
    return tuple(entries)


def load_supervisor_env(path: Path) -> Mapping[str, str]:
    """The settings of the supervisor's process: `env` of the entry `supervisor`, as they are written.

    Raises:
        SettingsError: The file cannot be read, or the entry has anything else.
    """
    return _supervisor_env(_read(path), path.name)


def _supervisor_env(value: Mapping[Any, Any], file: str) -> dict[str, str]:
    if SUPERVISOR not in value:
        return {}
    entry, where = value[SUPERVISOR], f"The agents file {file}"
    if not isinstance(entry, Mapping) or set(entry) != {"env"}:
        raise SettingsError(VARIABLE, f"{where} is wrong: {SUPERVISOR} is no sub-agent and takes env alone.")
    return parse_env(entry["env"], SUPERVISOR, where)


def _read(path: Path) -> dict[Any, Any]:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        twice = _repeated_key(yaml.compose(text, yaml.SafeLoader))
        value = yaml.safe_load(text)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise SettingsError(VARIABLE, f"The agents file {path} cannot be read: {why}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(VARIABLE, f"The agents file {path.name} is not valid YAML.") from error
    if twice is not None:
        name = _shown(str(twice.value))
        text = f"The agents file {path.name} is wrong: {name} stands twice, again in line {twice.start_mark.line + 1}."
        raise SettingsError(VARIABLE, text)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise SettingsError(VARIABLE, f"The agents file {path.name} must be a mapping of names to agents.")
    return value


def _repeated_key(root: Node | None) -> Node | None:
    """A key that occurs twice in its mapping, at any depth: YAML would silently take the last one."""
    import yaml

    left, looked_at = [root], set[int]()
    while left:
        node = left.pop()
        if not isinstance(node, yaml.CollectionNode) or id(node) in looked_at:  # an alias may lead back
            continue
        looked_at.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys = [key for key, _ in node.value if key.tag != _MERGE]
            for number, key in enumerate(keys):
                if any((key.tag, key.value) == (other.tag, other.value) for other in keys[:number]):
                    return cast("Node", key)
            left += [value for _, value in node.value]
        else:
            left += node.value
    return None


def parse_sub_agents(value: str) -> tuple[AgentEntry, ...]:
    """The entries of `name=url` pairs separated by commas.

    Raises:
        SettingsError: A pair, a name or an address is wrong, or a name comes twice.
    """
    entries = [_from_pair(pair.strip()) for pair in value.split(",") if pair.strip()]
    _check_unique(entry.name for entry in entries)
    return tuple(entries)


def with_shares(entries: Iterable[AgentEntry], value: str) -> tuple[AgentEntry, ...]:
    """The entries with the setting `SUB_AGENTS_SHARES` applied to those that it names.

    Raises:
        SettingsError: The value is malformed, or names an agent that is not among the entries.
    """
    shares, listed = parse_shares(value), tuple(entries)
    for name in shares:
        if name not in {entry.name for entry in listed}:
            shown = name if _NAME.fullmatch(name) else "one"
            text = f"Setting {SHARES_VARIABLE} is wrong: {shown!r} is no sub-agent. Name those of {VARIABLE}."
            raise SettingsError(SHARES_VARIABLE, text)
    return tuple(replace(entry, shares=shares.get(entry.name, entry.shares)) for entry in listed)


def with_trust(entries: Iterable[AgentEntry], value: str) -> tuple[AgentEntry, ...]:
    """The entries with their trust from the setting `SUB_AGENTS_TRUST`; if it is set, agents that it does not name are foreign.

    Raises:
        SettingsError: The value is malformed, or names an agent that is not among the entries.
    """
    named, listed = parse_trust(value), tuple(entries)
    if not named.keys() <= {entry.name for entry in listed}:
        text = (
            f"Setting {TRUST_VARIABLE} is wrong: it names an unknown agent. Known agents: {_listed(listed)}."
        )
        raise SettingsError(TRUST_VARIABLE, text)
    if not named:
        return listed
    return tuple(
        replace(entry, named_trust=named.get(entry.name, entry.named_trust or Trust.FOREIGN))
        for entry in listed
    )


def with_exchange(entries: Iterable[AgentEntry], value: str) -> tuple[AgentEntry, ...]:
    """The entries with the setting `SUB_AGENTS_EXCHANGE` applied to those that it names.

    Raises:
        SettingsError: The value is malformed, or names an agent that is not among the entries or that we run ourselves.
    """
    wanted, listed = parse_exchange(value), tuple(entries)
    if not wanted.keys() <= {entry.name for entry in listed if entry.module is None}:
        known = _listed(each for each in listed if each.module is None)
        text = f"Setting {EXCHANGE_VARIABLE} is wrong: it names an agent that is unknown or has no url. Agents with a url: {known}."
        raise SettingsError(EXCHANGE_VARIABLE, text)
    return tuple(replace(entry, exchange=wanted.get(entry.name, entry.exchange)) for entry in listed)


def _listed(entries: Iterable[AgentEntry]) -> str:
    return ", ".join(entry.name for entry in entries) or "none"


def _from_pair(pair: str) -> AgentEntry:
    name, separator, url = pair.partition("=")
    if not separator:
        raise SettingsError(VARIABLE, f"Setting {VARIABLE} is wrong: write each agent as name=url.")
    where = f"Setting {VARIABLE}"
    return AgentEntry(_checked_name(name.strip(), where), _checked_url(url.strip(), name.strip(), where))


def _from_file(name: str, entry: object, file: str) -> AgentEntry:
    where = f"The agents file {file}"
    _checked_name(name, where)
    if not isinstance(entry, Mapping) or not _KEYS.issuperset(entry):
        raise SettingsError(VARIABLE, f"{where} is wrong: {name} takes module and port, or url.")
    module, port, url = entry.get("module"), entry.get("port"), entry.get("url")
    if url is not None and module is None and port is None:
        if "env" in entry:
            text = f"{where} is wrong: {name} runs elsewhere and has its settings there; env is for agents with a module."
            raise SettingsError(VARIABLE, text)
        shares = _checked_shares(entry.get("shares", Shares.NOTHING), name, where)
        trust = _checked_trust(entry.get("trust"), name, where)
        exchange = _checked_exchange(entry, name, where)
        address = _checked_url(str(url), name, where)
        return AgentEntry(name, address, shares=shares, named_trust=trust, exchange=exchange)
    if url is not None or module is None or port is None:
        raise SettingsError(VARIABLE, f"{where} is wrong: {name} takes module and port, or url.")
    if "exchange" in entry:
        raise SettingsError(VARIABLE, f"{where} is wrong: exchange of {name} is for agents with a url.")
    if not _MODULE.fullmatch(str(module)):
        raise SettingsError(VARIABLE, f"{where} is wrong: the module of {name} is no module name.")
    if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:  # noqa: PLR2004
        raise SettingsError(VARIABLE, f"{where} is wrong: the port of {name} is not between 1 and 65535.")
    shares = _checked_shares(entry.get("shares", Shares.RESULTS), name, where)
    env, trust = parse_env(entry.get("env"), name, where), _checked_trust(entry.get("trust"), name, where)
    return AgentEntry(name, f"http://127.0.0.1:{port}", str(module), port, shares, env, trust)


def _checked_exchange(entry: Mapping[Any, Any], name: str, where: str) -> ExchangeFor | None:
    if "exchange" not in entry:
        return None
    found = exchange_of(entry["exchange"])
    if found is None:
        raise SettingsError(VARIABLE, f"{where} is wrong: exchange of {name} takes {EXCHANGE_CHOICES}.")
    return found


def _checked_trust(value: object, name: str, where: str) -> Trust | None:
    if value is not None and value not in list(Trust):
        raise SettingsError(VARIABLE, f"{where} is wrong: trust of {name} must be {TRUST_CHOICES}.")
    return None if value is None else Trust(str(value))


def _checked_shares(value: object, name: str, where: str) -> Shares:
    if value not in list(Shares):
        raise SettingsError(VARIABLE, f"{where} is wrong: shares of {name} must be {CHOICES}.")
    return Shares(str(value))


def _checked_name(name: str, where: str) -> str:
    if problem := wrong_name(name):
        raise SettingsError(VARIABLE, f"{where} is wrong: {problem}")
    return name


def wrong_name(name: str) -> str:
    """Why an agent cannot have this name; empty if it can."""
    if _NAME.fullmatch(name) and name != SUPERVISOR:
        return ""
    return (
        f"{_shown(name)!r} is not a valid agent name. Use up to 32 lower-case letters, digits, - and _, "
        f"starting with a letter. {SUPERVISOR!r} is reserved."
    )


def _shown(name: str) -> str:
    return name if name.isprintable() and len(name) <= 40 else "one"  # noqa: PLR2004


def _check_modules(entries: Iterable[AgentEntry], where: str) -> None:
    """Two processes of one module would be one agent: one name, one folder, and the second is refused by the first."""
    seen: dict[str, str] = {}
    for entry in entries:
        if entry.module is None:
            continue
        if entry.module in seen:
            names = f"{seen[entry.module]} and {entry.name} have the module {entry.module}"
            text = f"{where} is wrong: {names}, and one module is one agent. `platform-engineer new-agent` makes another."
            raise SettingsError(VARIABLE, text)
        seen[entry.module] = entry.name


def _checked_url(url: str, name: str, where: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise SettingsError(VARIABLE, f"{where} is wrong: the address of {name} is not an http or https URL.")
    return url.rstrip("/")


def _check_unique(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SettingsError(VARIABLE, f"Setting {VARIABLE} is wrong: {name} comes twice.")
        seen.add(name)
