"""How a tool call's arguments are shown."""

from utils.a2a_common.graph.tools.boundary import digest


def test_arguments_are_shown_in_the_letters_that_they_were_written_in():
    assert digest({"query": "日本語のログ", "limit": 3}) == 'query="日本語のログ", limit=3'
