"""The help screens of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from multi_agents.cli.main import app


def paths() -> Iterator[list[str]]:
    """The words of every command and every group."""

    def below(command, words: list[str]) -> Iterator[list[str]]:
        yield words
        for name, each in getattr(command, "commands", {}).items():
            yield from below(each, [*words, name])

    return below(get_command(app), [])


def shown(*words: str) -> str:
    return " ".join(CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "160"}).output.split())


@pytest.mark.parametrize("words", list(paths()), ids=" ".join)
def test_a_flag_does_not_look_as_if_it_took_a_value(words):
    assert "<bool>" not in shown(*words)


@pytest.mark.parametrize("words", list(paths()), ids=" ".join)
def test_the_list_of_all_exit_codes_stands_in_the_top_help_alone(words):
    assert ("143 ended by SIGTERM" in shown(*words)) is (not words)


def told(command) -> dict[str, Any]:
    """What a command takes and says of itself, with all below it."""
    below = {name: told(each) for name, each in getattr(command, "commands", {}).items()}
    return {"options": [each.opts for each in command.params], "help": command.help, "below": below}


def test_a_command_that_is_named_is_built_alone_and_is_what_it_is_among_all():
    whole = get_command(app)
    for name, command in told(whole)["below"].items():
        assert told(get_command(app.reduced_to([name, "--help"]))) == told(whole) | {"below": {name: command}}


@pytest.mark.parametrize("words", [[], ["--help"], ["--version", "chat"], ["chatt"], ["ask", "chat"]])
def test_where_the_first_word_names_no_command_all_of_them_are_there(words):
    assert told(get_command(app.reduced_to(words))) == told(get_command(app))


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ("ingest", "1 if a document was skipped"),
        ("conformance", "1 if a rule is broken"),
        ("doctor", "2 if something is wrong"),
        ("erase", "2 if something was left"),
        ("db status", "2 if the tables are not up to date"),
        ("db encrypt", "2 if a value could not be read"),
        ("agents", "3 if no agent answers"),
    ],
)
def test_a_command_tells_its_own_exit_codes(words, codes):
    assert codes in shown(*words.split())


@pytest.mark.parametrize("words", ["chat", "ingest", "erase", "keys create", "login", "conversations adopt"])
def test_a_command_that_takes_more_than_a_name_shows_an_example(words):
    assert f"Example: platform-engineer {words} " in shown(*words.split())
