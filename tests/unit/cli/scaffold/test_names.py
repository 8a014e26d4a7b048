"""The name of a new agent is checked, and spelled for each place."""

import pytest

from multi_agents.cli.errors import UsageError
from multi_agents.cli.scaffold.names import checked_name
from utils.a2a_common.client.agents.agents_file import parse_sub_agents


@pytest.mark.parametrize(
    "given, text, package, camel, variable",
    [
        ("jira", "jira", "jira", "Jira", "JIRA"),
        ("my-jira", "my-jira", "my_jira", "MyJira", "MY_JIRA"),
        ("my_jira", "my-jira", "my_jira", "MyJira", "MY_JIRA"),
        ("k8s", "k8s", "k8s", "K8s", "K8S"),
        ("a" * 32, "a" * 32, "a" * 32, "A" + "a" * 31, "A" * 32),
    ],
)
def test_a_name_is_spelled_for_every_place(given, text, package, camel, variable):
    name = checked_name(given)
    assert (name.text, name.package, name.camel, name.variable) == (text, package, camel, variable)
    assert parse_sub_agents(f"{name.text}=http://h")[0].name == text


@pytest.mark.parametrize(
    "given",
    [
        "", "Jira", "1st", "-x", "x-", "x_", "a--b", "a-_b", "a b", "a.b", "a/b", "../a", "ä", "a\n", "a\x00",
        "a" * 33, "class", "import", "lambda", "supervisor", "template", "recall", "platform-engineer",
        "platform_engineer", "logs", "$(reboot)", "--force",
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused_with_a_sentence(given):
    with pytest.raises(UsageError) as caught:
        checked_name(given)
    assert caught.value.message.endswith(".")
    assert caught.value.message.isprintable()
