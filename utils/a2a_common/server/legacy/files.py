"""Files of protocol 0.3 over HTTP+JSON and gRPC, which its clients write in two ways.

The protocol has `bytes file_with_bytes`: the file itself, which JSON writes as base64. Python's SDK puts base64 into that field,
so that its JSON holds base64 of base64, and reads answers in the same way; so does its server, whose conversions stand behind
this. The content does not show which of the two was meant: `abcd` is a file of four bytes, and base64 of three. So the client decides.
A file that is not base64 is never of the second kind, and neither are the others of its message, whichever client sent it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from a2a.compat.v0_3 import a2a_v0_3_pb2 as pb

_PYTHON = re.compile(r"(?:^|\s)(?:python-httpx|grpc-python(?:-asyncio)?)/")
"""What the SDK of Python calls through, as it names itself: httpx, or gRPC, which may stand behind a name of the application's."""

_Answer = TypeVar("_Answer", pb.SendMessageResponse, pb.StreamResponse, pb.Task)


@dataclass(frozen=True, slots=True)
class FileForm:
    """How one call writes files.

    Attributes:
        twice: Whether the field holds base64, as Python's SDK has it, in place of the file.
    """

    twice: bool

    @classmethod
    def of(cls, user_agent: str) -> FileForm:
        """The form of a client that sends no file with its call.

        Args:
            user_agent: How the client names itself; empty where it does not.
        """
        return cls(_PYTHON.search(user_agent) is not None)

    def of_message(self, message: pb.Message) -> FileForm:
        """The form of a message of such a client."""
        return FileForm(
            self.twice and all(_is_base64(each.file_with_bytes) for each in _files(message.content))
        )

    def read(self, message: pb.Message) -> None:
        """Turn the files of a message into base64, for which the SDK's conversion takes them."""
        if not self.twice:
            for file in _files(message.content):
                file.file_with_bytes = base64.b64encode(file.file_with_bytes)

    def written(self, answer: _Answer) -> _Answer:
        """An answer that the SDK's conversion made, its files as the client reads them; changed in place."""
        if not self.twice:
            for file in _files(_parts(answer)):
                file.file_with_bytes = base64.b64decode(file.file_with_bytes)
        return answer


def _files(parts: Iterable[pb.Part]) -> Iterator[pb.FilePart]:
    """The files among parts that are sent with their content."""
    for part in parts:
        if part.WhichOneof("part") == "file" and part.file.WhichOneof("file") == "file_with_bytes":
            yield part.file


def _parts(answer: pb.SendMessageResponse | pb.StreamResponse | pb.Task) -> Iterator[pb.Part]:
    """All parts in an answer."""
    if isinstance(answer, pb.Task):
        yield from _parts_of_task(answer)
        return
    yield from answer.msg.content
    yield from _parts_of_task(answer.task)
    if isinstance(answer, pb.StreamResponse):
        yield from answer.status_update.status.update.content
        yield from answer.artifact_update.artifact.parts


def _parts_of_task(task: pb.Task) -> Iterator[pb.Part]:
    yield from task.status.update.content
    for message in task.history:
        yield from message.content
    for artifact in task.artifacts:
        yield from artifact.parts


def _is_base64(content: bytes) -> bool:
    """Whether content is base64 as encoders write it: on one line, with padding, and with zero in the unused bits."""
    try:
        return base64.b64encode(base64.b64decode(content, validate=True)) == content
    except binascii.Error:
        return False
