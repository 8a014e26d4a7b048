"""What the start costs: processor seconds of `make chat ASK=…` until it has answered and everything has ended.

Processor time counts the command and all its descendants, so that what runs at the same moment is
not hidden. `cold` is a fresh checkout and data folder after installing: no bytecode of ours, documents not
read. `warm` is the same once more. The RAG agent's memory is its share of what is resident (PSS), after it has embedded documents
that are not shipped with vectors.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from benchmarks.checkout import ROOT, make_checkout
from benchmarks.cpu import cpu_seconds
from utils.testing.live_server import loopback_socket

QUESTION = "How do I add a sub-agent?"
ROUNDS = 3
_ENTRY = "from multi_agents.cli.main import main; main()"
_READY_SECONDS = 300.0
_POLL_SECONDS = 0.2


def run() -> None:
    """Print the figures; the last line is for programs."""
    bare = statistics.median(seconds(["-c", "pass"]) for _ in range(5))
    shown = statistics.median(seconds(["-c", _ENTRY, "--help"]) for _ in range(3))
    print(f"  --help takes {shown:.2f} s, {shown / bare:.1f} times bare Python")
    with tempfile.TemporaryDirectory() as folder:
        checkout, home = Path(folder) / "checkout", Path(folder) / "home"
        make_checkout(checkout)
        cold = ask(checkout, home)
        rounds = [ask(checkout, home) for _ in range(ROUNDS)]
        print(f"  chat ASK=…, cold: {cold:.2f} CPU s; warm: {', '.join(f'{one:.2f}' for one in rounds)}")
        memory = rag_memory(checkout, Path(folder))
    print(f"cold_cpu_s={cold:.2f} warm_cpu_s={statistics.median(rounds):.2f} rag_rss_mb={memory:.0f}")


def seconds(arguments: list[str]) -> float:
    """Wall time of a Python command."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - started


def ask(checkout: Path, home: Path) -> float:
    """Processor seconds of one question, with the start and the end of the service."""
    command = ["make", "chat", f"ASK={QUESTION}", f"PYTHON={sys.executable}"]
    return cpu_seconds(command, checkout, _environ(home))


def rag_memory(checkout: Path, folder: Path) -> float:
    """MB of the RAG agent's process after it has embedded documents of which no vector is shipped."""
    documents, home = folder / "documents", folder / "other-home"
    documents.mkdir()
    for path in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]:
        text = path.read_text(encoding="utf-8")  # the title is part of what each passage's vector is made of
        (documents / path.name).write_text(text.replace("# ", "# Copy of ", 1), encoding="utf-8")
    with _service(checkout, _environ(home) | {"RAG_SOURCES": str(documents)}):
        running = json.loads((home / "run.json").read_text())
        rag = next(one for one in running["agents"] if one["name"] == "rag")
        _wait_until_embedded(rag["url"])
        return _pss_mb(rag["pid"])


@contextmanager
def _service(checkout: Path, environ: Mapping[str, str]) -> Iterator[None]:
    with loopback_socket() as listener:
        port = listener.getsockname()[1]
    command = [str(checkout / ".venv/bin/platform-engineer"), "up", "--port", str(port)]
    process = subprocess.Popen(command, cwd=checkout, env=environ, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr or ():
            if line.startswith("The service is up"):
                break
        else:
            sys.exit("The service did not start.")
        yield
    finally:
        process.terminate()
        process.communicate()


def _wait_until_embedded(url: str) -> None:
    opener = build_opener(ProxyHandler({}))
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        with opener.open(f"{url}/readyz") as response:
            if not json.load(response)["busy"]:
                return
        time.sleep(_POLL_SECONDS)
    sys.exit("The documents were not embedded in time.")


def _pss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


def _environ(home: Path) -> dict[str, str]:
    return {**os.environ, "PLATFORM_ENGINEER_HOME": str(home)}


if __name__ == "__main__":
    run()
