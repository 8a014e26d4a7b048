"""Is what a program would be that the preloaded interpreter forks in its place: `python -I -S attach.py SOCKET -m MODULE …`.

Starting this costs 0.02 processor seconds, importing the libraries in a new interpreter a second.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

COMMAND = "multi_agents.cli"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(path: str, *arguments: str) -> None:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # open as long as this runs
    server.connect(path)
    ours, theirs = socket.socketpair()
    request = {
        "arguments": arguments,
        "cwd": os.getcwd(),  # noqa: PTH109 - pathlib takes longer than all of this
        "environ": dict(os.environ),
        "leads": arguments[1:2] == (COMMAND,),
    }
    with theirs:
        socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2, theirs.fileno()])
    lines = ours.makefile("rb", 0)
    pid = int(lines.readline())
    for number in SIGNALS:
        signal.signal(number, lambda number, _: os.kill(pid, number))
    code = int(lines.readline().split()[0])
    if code < 0:
        if -code in SIGNALS:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
