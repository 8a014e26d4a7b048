"""What the text of a remote task is: streamed text goes on, everything else stands on lines of its own."""

from __future__ import annotations

from a2a.types.a2a_pb2 import Artifact, Part, StreamResponse, Task, TaskArtifactUpdateEvent
from google.protobuf import struct_pb2

from utils.a2a_common.client.remote_task import RemoteTask

FILE = Part(url="https://x.example/f", filename="f", media_type="text/plain")
TOLD = 'The file "f" (text/plain) is at https://x.example/f'


def update(*parts: Part, append: bool = True, name: str = "a") -> StreamResponse:
    artifact = Artifact(artifact_id=name, name=name, parts=parts)
    return StreamResponse(artifact_update=TaskArtifactUpdateEvent(artifact=artifact, append=append))


def test_chunks_of_text_are_one_text_and_a_file_between_them_is_a_line() -> None:
    task = RemoteTask()
    for event in (update(Part(text="One wo"), append=False), update(Part(text="rd.")), update(FILE)):
        task.apply(event)
    task.apply(update(Part(text="More."), Part(data=struct_pb2.Value(number_value=1))))
    assert task.text() == f"One word.\n{TOLD}\nMore.\n1.0"


def test_a_response_hides_other_artifacts_of_our_own_kind_only() -> None:
    told = Task(
        artifacts=[
            Artifact(artifact_id="1", name="plan", parts=[Part(text="A plan.")]),
            Artifact(artifact_id="2", name="response", parts=[Part(text="It is so.")]),
            Artifact(artifact_id="3", name="more", parts=[FILE]),
        ]
    )
    texts = []
    for ours in (True, False):
        task = RemoteTask(ours=ours)
        task.apply_task(told)
        texts.append(task.text())
    assert texts == ["It is so.", f"A plan.\n\nIt is so.\n\n{TOLD}"]
