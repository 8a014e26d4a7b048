"""What the blind evaluation counts as an agent that was asked."""

import yaml

from multi_agents.cli.view.state import WAITED, Node, TurnView
from tests.eval.blind.checks import verdicts
from tests.eval.blind.facts import FACTS, facts, lacking, screen
from tests.eval.blind.question import Question, Reply, Result, read_set
from tests.eval.blind.service import _reply
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.events import DelegationState


def test_notes_of_the_activity_are_neither_agents_nor_tools():
    tools = [Node(WAITED, "waiting 2 s"), Node("t", "search", 'query="how?"')]
    view = TurnView(
        nodes=[Node(WAITED, "waiting 5 s"), Node("", "rule noted"), Node("d", "rag", "how?", children=tools)]
    )
    reply = _reply("how?", view, ())
    assert reply.agents == (("rag", "how?"),)
    assert [call.tool for call in reply.calls] == ["search"]
    asked = Question("q", "docs", ("how?",), "", "rag", {"tool": "search"})
    assert verdicts(Result(asked, (reply,))) == {
        "agent": True, "verbatim": True, "nothing_pretended": True, "tool": True
    }  # fmt: skip


def test_a_result_can_be_written_as_yaml():
    ended = TurnView(task=TaskView(received=True, state=DelegationState.COMPLETED))
    result = Result(Question("q", "docs", ("how?",), "", "rag", {}), (_reply("how?", ended, ()),))
    assert yaml.safe_load(yaml.safe_dump(result.as_row()))["replies"][0]["state"] == "completed"


def test_every_question_on_documents_has_its_facts_and_no_others_have():
    named = ("set11.yaml", "development.yaml")
    sets = [*FACTS.parent.glob("set[1-9].yaml"), *map(FACTS.with_name, named)]
    asked = {question.id for path in sets for question in read_set(path) if question.kind == "docs"}
    assert asked == set(facts())


def test_facts_count_on_the_first_screen_alone_and_not_in_links():
    port = "The port is 8000; `--port` changes it."
    assert lacking("s9-01", f"**Ports** \u2014 docs/a.md\n\n{port}") == []
    assert (
        lacking("s9-01", "No.\n\nSee also:\n- Guide \u203a 8000 and --port \u2014 docs/a.md#x")
        == facts()["s9-01"]
    )
    assert lacking("s9-01", "line\n" * 50 + port) == facts()["s9-01"]
    assert "docs/a.md" in screen("**Ports** \u2014 docs/a.md")


def test_a_message_that_lost_a_word_on_its_way_to_one_agent_is_altered_and_one_that_lost_a_greeting_is_not():
    asked = Question("q", "docs", ("first time here. which command starts it?",), "", "rag", {})

    def sent(said: str, request: str) -> bool:
        reply = Reply(said, (("rag", request),), (), "completed", 0, "", (), ())
        return verdicts(Result(asked, (reply,)))["verbatim"]

    assert not sent(asked.turns[0], "time here. which command starts it?")
    assert not sent(asked.turns[0], "first time here")
    assert sent(asked.turns[0], asked.turns[0])
    assert sent("Hi there, which command starts it?", "which command starts it?")
