"""A turn of a graph that adds a file and says no word has an answer; a sub-agent's file alone is none."""

from __future__ import annotations

import pytest

from utils.a2a_common.graph.run.stream_translator import StreamTranslator
from utils.events import ArtifactAdded, Completed, Failed, FileBytes

FILE = FileBytes(b"x", "a.txt", "text/plain")


@pytest.mark.parametrize(("origin", "end"), [("", Completed), ("github", Failed)])
def test_a_file_of_its_own_may_be_the_whole_answer_of_a_graph(origin: str, end: type) -> None:
    turn, added = StreamTranslator("clerk"), ArtifactAdded([FILE], origin=origin)
    assert list(turn.translate((), "custom", added)) == [added]
    assert [type(event) for event in turn.finish()] == [end]
