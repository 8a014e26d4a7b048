"""How long a person waits: `--help`, the first answer on an empty data folder, and the next one.

Everything is a ratio to the start of a bare Python in the same run; the seconds beside it belong to
the machine.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

QUESTION = "How do I add a sub-agent?"
_ENTRY = "from multi_agents.cli.main import main; main()"


def seconds(arguments: list[str], home: str = "") -> float:
    """Wall time of one command.

    Raises:
        subprocess.CalledProcessError: The command failed; its output says why.
    """
    environment = {**os.environ, "PLATFORM_ENGINEER_HOME": home} if home else dict(os.environ)
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


def run() -> None:
    """Print the waits."""
    bare = statistics.median(seconds(["-c", "pass"]) for _ in range(5))
    shown = statistics.median(seconds(["-c", _ENTRY, "--help"]) for _ in range(3))
    with tempfile.TemporaryDirectory() as home:
        ask = ["-c", _ENTRY, "chat", "--ask", QUESTION]
        first, second = seconds(ask, home), seconds(ask, home)
    print("start-up                                          seconds  times bare Python")
    for name, value in (
        ("bare Python", bare),
        ("platform-engineer --help", shown),
        ("chat --ask on an empty data folder", first),
        ("chat --ask, documents known", second),
    ):
        print(f"  {name:<45} {value:9.2f} {value / bare:15.1f}")


if __name__ == "__main__":
    run()
