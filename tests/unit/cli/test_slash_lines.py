from __future__ import annotations

import base64

import pytest

from multi_agents.cli.chat.clipboard import osc52
from multi_agents.cli.chat.commands import save
from multi_agents.cli.chat.slash_commands import SlashCommand, is_command, nearest


@pytest.mark.parametrize(
    "line", ["/help", "/resume 2", "/1", "/save answer.md", "/exit", "/nonsense", "/resum 2"]
)
def test_a_command_and_what_was_meant_as_one_is_not_sent(line):
    assert is_command(line)


@pytest.mark.parametrize(
    "line",
    ["/etc/hosts is what?", "/tmp is full, why?", "/var/log", "/README.md", "//", " /help", "/", "/A b"],
)
def test_a_path_is_a_message(line):
    assert not is_command(line)


def test_a_misspelt_command_is_told_the_nearest():
    assert nearest("/conversation") is SlashCommand.CONVERSATIONS
    assert nearest("/xyzzy") is None


def test_an_answer_is_saved_to_a_new_file_only(tmp_path):
    file = tmp_path / "answer.md"
    assert save("# Answer", str(file)) == f"The answer was saved as {file}."
    assert file.read_text() == "# Answer\n"
    assert "exists already" in save("other", str(file))
    assert file.read_text() == "# Answer\n"
    assert f"{tmp_path / 'no' / 'x'} cannot be written: No such file" in save("a", str(tmp_path / "no" / "x"))
    assert save("", str(file)) == "There is no answer yet."
    assert save("a", "").startswith("Name the file")


def test_the_terminal_is_given_the_text_for_its_clipboard():
    sequence = osc52("schöne Grüße")
    assert sequence.startswith("\x1b]52;c;")
    assert base64.b64decode(sequence[7:-1]).decode() == "schöne Grüße"
