"""What the reference pages list is what the code has."""

from __future__ import annotations

import re
from typing import Any, get_args

from typer.main import get_command

from multi_agents.cli.chat.slash_commands import SlashCommand
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.main import app
from multi_agents.cli.view.json_lines import KINDS
from tests.docs.blocks import ROOT
from tests.docs.raised_codes import codes_in_the_sources
from utils import errors, events
from utils.a2a_common.base_langgraph_agent import BaseLangGraphAgent
from utils.a2a_common.client.stream.events import PeerEvent
from utils.a2a_common.server.agent_process import EXIT_SETTINGS, NOT_LISTENING
from utils.context.policy import PRESETS, PipelineStage
from utils.messages import results

STAGES_IN_ORDER = [stage.value for stage in PipelineStage]


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


def _section(page: str, title: str) -> str:
    """The text below a heading, up to the next heading of any level."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"there is no section {title!r}"
    return found[1]


def _first_column(section: str) -> list[str]:
    rows = re.findall(r"^\| (.+?) \|", section, re.MULTILINE)
    return [row for row in rows[1:] if not row.startswith("-")]


def _commands() -> dict[str, Any]:
    """Every command and sub-command by its words; Typer's own classes, which are not click's."""
    found: dict[str, Any] = {}
    groups: list[tuple[str, Any]] = [("", get_command(app))]
    while groups:
        path, group = groups.pop()
        for name, command in group.commands.items():
            found[f"{path} {name}".strip()] = command
            if hasattr(command, "commands"):
                groups.append((name, command))
    return found


def test_the_table_of_exit_codes_is_complete():
    codes = _first_column(_section(_page("cli.md"), "Exit codes"))
    assert [int(code) for code in codes] == [int(code) for code in ExitCode]


def test_the_page_on_problems_says_how_serve_ends_on_a_taken_port():
    """Its sentence and its code, which tests/e2e/cli/test_listening.py sees."""
    begins = NOT_LISTENING.partition(" {}")[0]
    assert f'it ends with "{begins} …" and exit code {EXIT_SETTINGS}' in _page("troubleshooting.md")


def test_every_command_stands_on_the_page_of_the_command_line():
    told = _page("cli.md")
    for name in _commands():
        words = name.split()
        assert re.search(rf"`[^`]*\b{words[-1]}\b", told), f"{name} is not told"


def test_every_command_stands_in_the_table_of_commands():
    rows = _first_column(_section(_page("cli.md"), "The command line"))
    words = [set(" ".join(re.findall(r"`([^`]+)`", row)).split()) for row in rows]
    assert [name for name in _commands() if not any(set(name.split()) <= row for row in words)] == []


def test_the_page_names_only_options_that_exist():
    every = [get_command(app), *_commands().values()]
    known = {option for command in every for part in command.params for option in part.opts}
    named = set(re.findall(r"(?<![\w|-])--[a-z][a-z-]+", _page("cli.md")))
    assert named <= known | {"--help"}


def test_every_option_that_stands_before_a_command_is_told():
    told = _page("cli.md")
    assert all(option in told for part in get_command(app).params for option in part.opts)


def test_every_option_of_chat_is_explained():
    chat = _commands()["chat"]
    told = " ".join(_first_column(_section(_page("cli.md"), "chat")))
    assert all(option in told for part in chat.params for option in part.opts)


def test_the_kinds_of_json_lines_are_complete():
    told = set(re.findall(r"`(\w+)`", _section(_page("cli.md"), "JSON lines")))
    assert set(KINDS) == set(get_args(PeerEvent))
    assert {*KINDS.values(), "end"} <= told


def test_the_slash_commands_are_complete():
    told = _section(_page("getting-started.md"), "In the chat")
    for command in SlashCommand:
        assert f"`{command.line}`" in told, command


def test_the_table_of_events_is_complete():
    rows = _first_column(_section(_page("architecture.md"), "Events"))
    told = set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert told == {kind.__name__ for kind in get_args(events.AgentEvent)}


def test_the_stages_and_the_policies_of_context_management_are_complete():
    page = _page("context.md")
    stages = _first_column(_section(page, "The stages"))
    assert stages == ["repair", *STAGES_IN_ORDER, "clip", "verify"]
    policies = [
        row.split("`")[1] for row in _first_column(_section(page, "Which context policies are there?"))
    ]
    assert policies == list(PRESETS)


def test_the_tables_for_authors_of_agents_name_what_exists():
    page = _page("agent-reference.md")
    shapes = re.findall(r"`(\w+)`", " ".join(_first_column(_section(page, "Results that a tool returns"))))
    raised = re.findall(r"`(\w+)`", " ".join(_first_column(_section(page, "Errors that a tool raises"))))
    hooks = re.findall(r"`(\w+)\(", " ".join(_first_column(_section(page, "Hooks"))))
    assert [] not in (shapes, raised, hooks)
    assert all(hasattr(results, name) for name in shapes)
    assert all(issubclass(getattr(errors, name), errors.PlatformError) for name in raised)
    assert all(callable(getattr(BaseLangGraphAgent, name)) for name in hooks)
    attributes = re.findall(r"`(\w+)`", " ".join(_first_column(_section(page, "Class attributes"))))
    assert set(attributes) <= set(BaseLangGraphAgent.__annotations__)


def test_every_hook_and_class_attribute_stands_in_the_reference():
    page = _page("agent-reference.md")
    public = {
        name
        for name, value in vars(BaseLangGraphAgent).items()
        if not name.startswith("_") and callable(value)
    }
    told = set(re.findall(r"`(\w+)\(", _section(page, "Hooks")))
    assert public - told <= {"close", "executor", "clear_context", "forget_calls"}
    attributes = {name for name in BaseLangGraphAgent.__annotations__ if not name.startswith("_")}
    assert attributes <= set(re.findall(r"`(\w+)`", _section(page, "Class attributes")))


def test_the_page_of_error_codes_has_every_code_that_the_code_can_raise():
    told = set(re.findall(r"^\| `(\w+)` \|", _page("error-codes.md"), re.MULTILINE))
    found = codes_in_the_sources()
    assert {"usage", "agent_not_loaded", "not_consented", "delegation_loop", "left_out"} <= found.keys()
    assert {code: where for code, where in found.items() if code not in told} == {}
    assert told - found.keys() == set()
