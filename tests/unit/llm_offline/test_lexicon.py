"""The lexicon and the modules that look things up in it by name."""

import re
from pathlib import Path

import pytest

from utils.llm.offline import grammar

ROOM = Path(grammar.__file__).parent
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in ROOM.rglob("*.py"))
TABLES = {"FORMS": "forms", "WORDS": "words", "READERS": "things"}
NAMED = {
    *re.findall(r"[\"'](\w+)[\"']", SOURCES),
    *re.findall(r"(?<!\?P)<(\w+)>", ROOM.joinpath("lexicon.toml").read_text(encoding="utf-8")),
}


@pytest.mark.parametrize("table", TABLES)
def test_everything_that_a_module_looks_up_is_in_the_lexicon(table):
    asked = set(re.findall(rf"{table}\[[\"'](\w+)[\"']\]", SOURCES))
    assert asked
    assert asked <= grammar.LEXICON[TABLES[table]].keys()


@pytest.mark.parametrize("table", ["forms", "words", "parts", "things", "parameters"])
def test_nothing_in_the_lexicon_is_there_for_nobody(table):
    assert grammar.LEXICON[table].keys() <= NAMED
