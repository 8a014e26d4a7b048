"""A process that imports modules once and forks a process for each request; run as a module.

`python -m utils.processes.fork_server CHANNEL CLIENT MODULE…`: the descriptor of a socket, the id of
the process that asks, and what to import. It imports and does nothing else: no thread, no event
loop, no settings, no model, because a fork copies only the thread that calls it and a lock that another
one holds stays locked in the copy. When a module starts a thread, it refuses to fork and ends.

A forked process becomes a child of the client, not of this one (the client is a "subreaper"), so
that the client waits for it and ends it as if it had started it itself, and the end of the fork server changes nothing.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from utils.processes.agent_module import run_agent_module
from utils.processes.launcher import end_with_parent
from utils.processes.request import ForkRequest, ProcessTarget, receive
from utils.processes.title import set_title

_POLL_SECONDS = 0.0005


def main(arguments: Sequence[str]) -> None:
    """Serve until the client is gone; returns only in a forked process, after its module."""
    descriptor, client, *modules = arguments
    channel = socket.socket(fileno=int(descriptor))
    gc.disable()  # an import makes hardly any garbage, and looking for it is a quarter of its time
    for module in modules:
        importlib.import_module(module)
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads > 1:
        # written before the exit ends the channel: then the client reads the log
        sys.stderr.write(f"{threads - 1} threads were started by an import; nothing is forked.\n")
        sys.exit(1)
    gc.freeze()  # what is imported is never garbage: not looking at it keeps its memory shared
    gc.enable()
    run(_serve(channel, int(client)))


def run(target: ProcessTarget) -> None:
    """Run a module as `python -m` does, in this process, whose output is its log."""
    run_agent_module(target.module, target.arguments)


def _serve(channel: socket.socket, client: int) -> ProcessTarget:
    """Fork for every request. Returns in each forked process, with the target that it runs."""
    while True:
        request = receive(channel)
        if request is None:
            sys.exit(0)
        middle = os.fork()
        if middle == 0:
            channel.close()
            return _become_child(request, client)
        os.close(request.output)
        os.close(request.reply)
        os.waitpid(middle, 0)


def _become_child(request: ForkRequest, client: int) -> ProcessTarget:
    """Fork once more and end, so that the client adopts the second process; returns in that one."""
    middle = os.getpid()
    if os.fork():
        os._exit(0)
    os.setsid()
    while os.getppid() == middle:
        time.sleep(_POLL_SECONDS)
    end_with_parent(client)
    _take_over(request)
    return request.target


def _take_over(request: ForkRequest) -> None:
    """Give this process the environment, output and name of its target, and say that it is there."""
    os.environ.clear()
    os.environ.update(request.target.environ)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device
        os.dup2(nothing.fileno(), 0)
    os.dup2(request.output, 1)
    os.dup2(request.output, 2)
    os.close(request.output)
    target = request.target
    set_title(target.module.rpartition(".")[2], [sys.executable, "-m", target.module, *target.arguments])
    try:
        os.write(request.reply, str(os.getpid()).encode())
    except BrokenPipeError:  # the client does not wait any more
        sys.exit(1)
    os.close(request.reply)


if __name__ == "__main__":
    main(sys.argv[1:])
