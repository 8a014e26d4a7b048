"""What the text of a remote task is: streamed text goes on, everything else stands on lines of its own."""

from __future__ import annotations

from collections.abc import Iterable

from a2a.types.a2a_pb2 import Artifact, Part, StreamResponse, Task, TaskArtifactUpdateEvent
from google.protobuf import struct_pb2

from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.client.stream.decode import decode, decode_task
from utils.a2a_common.client.stream.events import PeerEvent
from utils.a2a_common.protocol.parts import data_part

FILE = Part(url="https://x.example/f", filename="f", media_type="text/plain")
TOLD = 'The file "f" (text/plain) is at https://x.example/f'


def update(*parts: Part, append: bool = True, name: str = "a") -> StreamResponse:
    artifact = Artifact(artifact_id=name, name=name, parts=parts)
    return StreamResponse(artifact_update=TaskArtifactUpdateEvent(artifact=artifact, append=append))


def folded(events: Iterable[PeerEvent]) -> TaskView:
    task = TaskView()
    for event in events:
        task.apply(event)
    return task


def test_chunks_of_text_are_one_text_and_a_file_between_them_is_a_line() -> None:
    more = update(Part(text="More."), Part(data=struct_pb2.Value(number_value=1)))
    chunks = [update(Part(text="One wo"), append=False), update(Part(text="rd.")), update(FILE), more]
    task = folded(event for chunk in chunks for event in decode(chunk))
    assert task.text() == f"One word.\n{TOLD}\nMore.\n1"


def test_every_artifact_is_part_of_the_answer_but_for_a_plan_of_our_kind() -> None:
    steps = {"steps": [{"id": "1", "title": "Look", "agent": "a", "status": "pending", "order": 1}]}
    told = Task(
        artifacts=[
            Artifact(artifact_id="1", name="plan", parts=[data_part(steps)]),
            Artifact(artifact_id="2", name="plan", parts=[Part(text="A plan in words.")]),
            Artifact(artifact_id="3", name="response", parts=[Part(text="It is so.")]),
            Artifact(artifact_id="4", name="more", parts=[FILE]),
        ]
    )
    task = folded(decode_task(told))
    assert task.text() == f"A plan in words.\n\nIt is so.\n\n{TOLD}"
    assert task.plan is not None


def test_an_artifact_that_goes_on_after_a_break_is_one_and_another_one_takes_the_place_of_what_was_kept() -> (
    None
):
    empty = Task(id="t", context_id="c")
    before = [update(Part(text="One wo"), append=False), update(Part(text="Else."), append=False, name="b")]
    seen = [*(event for chunk in before for event in decode(chunk)), *decode_task(empty)]
    assert folded(seen).text() == "One wo\n\nElse."
    assert folded(seen).kept == {"a", "b"}
    gone_on = folded([*seen, *decode(update(Part(text="rd."))), *decode_task(empty)])
    assert gone_on.text() == "One word.\n\nElse."
    begun_anew = folded([*seen, *decode(update(Part(text="Anew."), append=False, name="c"))])
    assert (begun_anew.text(), begun_anew.kept) == ("Anew.", set())
