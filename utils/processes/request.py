"""What a fork server is asked for: one message with three file descriptors."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass

_FORK = b"f"
_DESCRIPTORS = 3


@dataclass(frozen=True, slots=True)
class ProcessTarget:
    """A process to start: `python -m MODULE ARGUMENT…` with this environment."""

    module: str
    arguments: tuple[str, ...]
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """A target as the fork server receives it.

    Attributes:
        target: What to run.
        output: Descriptor that becomes standard output and standard error.
        reply: Pipe that the new process writes its id to; closed without a byte when there is none.
    """

    target: ProcessTarget
    output: int
    reply: int


def send(channel: socket.socket, request: ForkRequest) -> None:
    """Ask for a process. The target travels in a file of its own, since an environment may be large.

    Raises:
        OSError: The fork server is gone.
    """
    with os.fdopen(os.memfd_create("target"), "w+b") as file:
        target = request.target
        file.write(json.dumps([target.module, target.arguments, dict(target.environ)]).encode())
        file.flush()
        socket.send_fds(channel, [_FORK], [file.fileno(), request.output, request.reply])


def receive(channel: socket.socket) -> ForkRequest | None:
    """Wait for the next request; `None` when the other side is gone."""
    _, descriptors, _, _ = socket.recv_fds(channel, len(_FORK), _DESCRIPTORS)
    if len(descriptors) != _DESCRIPTORS:
        return None
    with os.fdopen(descriptors[0], "rb") as file:
        file.seek(0)
        module, arguments, environ = json.load(file)
    return ForkRequest(ProcessTarget(module, tuple(arguments), environ), descriptors[1], descriptors[2])
