"""What the blind evaluation counts as an agent that was asked."""

from multi_agents.cli.view.state import WAITED, Node, TurnView
from tests.eval.blind.checks import verdicts
from tests.eval.blind.question import Question, Result
from tests.eval.blind.service import _reply


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
