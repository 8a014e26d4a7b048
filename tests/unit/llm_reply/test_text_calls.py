import json

import pytest

from tests.models.forms import FORMS, MENTIONS
from utils.llm.reply.call_beginnings import may_become_call
from utils.llm.reply.text_calls import resembles_call, written_calls
from utils.llm.reply.thoughts import split_thoughts

TOOLS = {"write", "lookup"}
ONE = '{"name": "write", "arguments": {"line": "</tool_call> a, b"}}'
TWO = '{"name": "lookup", "arguments": {"key": "k"}}'
CALLS = [
    ONE,
    f"  {ONE}\n",
    f"```json\n{ONE}\n```",
    f"```\n{ONE}\n```",
    f"```tool_call\n{ONE}\n```",
    f"<tool_call>\n{ONE}\n</tool_call>",
    f"<tool_call>{ONE}",
    f"<tools> {ONE} </tool",
    f"<function>\n{ONE}\n</function>",
    f"<function-call> {ONE}",
    f"<|tool_call|>{ONE}<|/tool_call|>",
    f"<|python_tag|>{ONE}",
    f"[TOOL_CALLS][{ONE}]",
    f"[{ONE}]",
    json.dumps({"tool_calls": [{"type": "function", "function": json.loads(ONE)}]}),
    json.dumps({"id": "1", "type": "function", "function": json.loads(ONE)}),
    ONE.replace("arguments", "parameters"),
    ONE.replace('"write"', '"functions.write"'),
    'functions.write({"line": "</tool_call> a, b"})',
    'functions.write:0{"line": "</tool_call> a, b"}',
]
TEXTS = [
    "",
    "Hello.",
    f"Here it is: {ONE}",
    f"{ONE} does it.",
    f"```json\n{ONE}\n```\nThat is a call.",
    f"```xml\n<tool_call>{ONE}</tool_call>\n```",
    "```python\nprint(1)\n```",
    '{"name": "other", "arguments": {}}',
    '{"name": "write", "description": "Writes.", "parameters": {"type": "object"}}',
    '{"name": "write", "arguments": "no"}',
    '{"name": "write", "arguments": [1]}',
    '{"name": "write", "tool": "lookup", "arguments": {}}',
    '{"name": "write"}',
    "[" * 5_000,
    "<div>",
    "functions.write is a tool",
]


@pytest.mark.parametrize("text", CALLS)
def test_a_text_that_is_nothing_but_a_call_is_that_call(text):
    assert written_calls(text, TOOLS) == [("write", {"line": "</tool_call> a, b"})]


@pytest.mark.parametrize("text", CALLS)
def test_no_beginning_of_a_call_is_taken_for_an_answer(text):
    assert [end for end in range(len(text)) if not may_become_call(text[:end])] == []


@pytest.mark.parametrize("form", FORMS)
def test_a_call_in_the_form_of_a_model_family_is_read_and_held_back_from_its_first_character(form):
    text, tools = FORMS[form], {"write", "now"}
    said = split_thoughts(text).answer
    assert written_calls(said, tools) == [("write", {"line": "x y"})]
    assert [end for end in range(len(said)) if not may_become_call(said[:end], tools)] == []


@pytest.mark.parametrize("form", MENTIONS)
def test_a_text_that_mentions_a_call_is_none(form):
    assert written_calls(MENTIONS[form], {"write", "now"}) == []
    assert not resembles_call(MENTIONS[form], {"write", "now"})


def test_several_calls_are_read_in_their_order():
    for text in (
        f"[{ONE}, {TWO}]",
        f"<tool_call>{ONE}</tool_call>\n<tool_call>{TWO}</tool_call>",
        f"{ONE}\n{TWO}",
    ):
        assert [call.name for call in written_calls(text, TOOLS)] == ["write", "lookup"]


@pytest.mark.parametrize("text", TEXTS)
def test_any_other_text_is_no_call(text):
    assert written_calls(text, TOOLS) == []


@pytest.mark.parametrize(
    ("begun", "call"),
    [
        ("The", False),
        ("[docs](", False),
        ("```python\n", False),
        ('```json\n{\n  "replicas', False),
        ("<b>", False),
        ('{"stars"', False),
        ("func", True),
        ("functions are", False),
        ("", True),
    ],
)
def test_a_text_is_held_back_only_while_it_can_be_a_call(begun, call):
    assert may_become_call(begun) is call


@pytest.mark.parametrize(
    ("text", "resembles"),
    [
        ('{"name": "write", "arguments": {"line": "x}}', True),
        ('{"name": "write", "description": "Writes.", "parameters": {"type": "object"}}', False),
        ('{"name": "write"}', True),
        ('{"name": "write", "arguments": {"line": "cut o', True),
        ("<tools><function=write>x</function></tools>", True),
        ('{"name": "write", "stars": 5}', False),
        ('{"name": "other", "arguments": {"a', False),
        ("write it yourself", False),
    ],
)
def test_what_is_built_like_a_call_of_an_offered_tool_is_known_where_it_cannot_be_read(text, resembles):
    assert resembles_call(text, TOOLS) is resembles
