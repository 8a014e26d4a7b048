"""An artifact in chunks is the same artifact once a reader or the store has joined them."""

from __future__ import annotations

import pytest
from a2a.types.a2a_pb2 import Artifact, Task, TaskArtifactUpdateEvent
from hypothesis import given
from hypothesis import strategies as st

from utils.a2a_common.execution import artifact_encoding
from utils.a2a_common.execution.artifact_encoding import in_chunks, prepared
from utils.a2a_common.protocol.parts import decode_part, encode_part
from utils.a2a_common.tasks.assembly import assemble
from utils.a2a_common.tasks.entries import Entry
from utils.a2a_common.tasks.stored_form import record_of
from utils.events import ArtifactAdded, ContentPart, DataPart, FileBytes, FileUrl, TextPart

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["text/plain", "application/pdf"])
PARTS = st.one_of(
    st.builds(TextPart, st.text(min_size=1, max_size=40), TYPES),
    st.builds(FileBytes, st.binary(max_size=20), st.text(), TYPES),
    st.builds(FileUrl, st.text(min_size=1), st.text(), TYPES),
    st.builds(DataPart, VALUES, TYPES),
)


@given(st.lists(PARTS, min_size=1, max_size=8))
def test_chunks_that_are_stored_are_the_artifact_that_was_added(parts: list[ContentPart]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(artifact_encoding, "TEXT_CHUNK", 7)
        whole = prepared(ArtifactAdded(parts, name="A", description="Of all kinds.")).artifact
        chunks = list(in_chunks(whole))
    assert all(len(part.text) <= 7 for chunk in chunks for part in chunk.parts)
    kept = [
        record_of(Entry(n + 1, TaskArtifactUpdateEvent(artifact=each, append=n > 0)))
        for n, each in enumerate(chunks)
    ]
    task = Task(artifacts=[Artifact(artifact_id=whole.artifact_id)])
    assemble(task, kept)
    assert task.artifacts[0] == whole


@given(PARTS)
def test_a_part_comes_back_as_it_was_sent(part: ContentPart) -> None:
    assert decode_part(encode_part(part)) == part


def test_the_id_of_an_artifact_tells_its_content_and_where_it_comes_from() -> None:
    one, same = ArtifactAdded([TextPart("a")], name="n"), ArtifactAdded([TextPart("a")], name="n")
    others = [
        ArtifactAdded([TextPart("b")], name="n"),
        ArtifactAdded([TextPart("a")], name="m"),
        ArtifactAdded([TextPart("a")], name="n", origin="x"),
        ArtifactAdded([TextPart("a"), TextPart("a")], name="n"),
    ]
    ids = [prepared(each).artifact.artifact_id for each in (one, same, *others)]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 5


def test_the_content_of_a_file_is_not_in_its_repr() -> None:
    assert "secret" not in repr(ArtifactAdded([FileBytes(b"secret", "a.txt")]))
