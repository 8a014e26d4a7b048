"""Writes tiny agent modules into a folder: real servers of the standard library, without A2A."""

from __future__ import annotations

from pathlib import Path

SERVER = """
import argparse, json, os, signal, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

parser = argparse.ArgumentParser()
parser.add_argument("--host")
parser.add_argument("--port", type=int)
parser.add_argument("--exit-with-parent", action="store_true")
options = parser.parse_args()


class Probe(BaseHTTPRequestHandler):
    def do_GET(self):
        ready = {awaited!r} is None or os.path.exists({awaited!r})
        state = {{"ready": ready, "detail": "" if ready else "ingesting 3 of 12 documents"}}
        state["env"] = {{name: os.environ.get(name) for name in ("PUBLIC_URL", "PORT", "SUB_AGENTS", "GRPC_PORT")}}
        body = json.dumps(state).encode()
        self.send_response(200 if ready else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


print("serving", flush=True)
{extra}
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
ThreadingHTTPServer((options.host, options.port), Probe).serve_forever()
"""


def write_agent(folder: Path, name: str, *, awaited: str | None = None, extra: str = "") -> str:
    """A module that is ready, or says "ingesting" until the file `awaited` of the folder exists; `extra` runs before it listens."""
    path = None if awaited is None else str(folder / awaited)
    (folder / f"{name}.py").write_text(SERVER.format(awaited=path, extra=extra))
    return name


def write_list(folder: Path, **ports: int) -> Path:
    """An agents file that names modules of the folder."""
    path = folder / "agents.yaml"
    path.write_text("".join(f"{name}: {{module: {name}, port: {port}}}\n" for name, port in ports.items()))
    return path
