"""`make compose-e2e`: builds the image on a real engine, starts the stack, chats, restarts it, goes on.

Prints what it saw; ends with another code than 0 at the first thing that is not so. Everything that it makes carries
its own names and is removed at the end; the engine's cache of layers stays under `.cache`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.compose.engine import base_image, engine
from tests.compose.tool import ROOT, compose
from utils.testing.live_server import loopback_socket

IMAGE = "platform-engineer:e2e"
SUPERVISOR = "caipe-supervisor"
DOCUMENTS = {
    "zebra.md": "# Zebra rollout\n\nThe zebra rollout window is Tuesday at 14:00 UTC. Its owner is the Okapi team.\n",
    "walrus.md": "# Walrus migration\n\nThe walrus migration ends on Friday. Its owner is the Ibex team.\n",
}
OFFLINE = (
    "from utils.embeddings.minilm import MiniLmEmbedder as M; from utils.messages.tokens import count_text_tokens as c;"
    "assert M().embed_sync(['a']).shape == (1, 384); assert c('hello world') == 2; print('offline')"
)
KNOCK = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], 8000), timeout=3)
    print("somebody")
except OSError:
    print("nobody")
"""
BARE = "test $(id -u) = 10001; ! touch /app/x 2>/dev/null; touch /data/x; for x in gcc cc pip; do ! command -v $x; done"


@dataclass(frozen=True)
class Stack:
    """The running stack: how to reach its engine and its supervisor."""

    environ: dict[str, str]
    url: str

    def compose(self, *arguments: str) -> str:
        """A command of docker-compose on this stack."""
        return _run([str(compose()), "-p", "pe-e2e", *arguments], self.environ)

    def docker(self, *arguments: str) -> str:
        """A command of docker."""
        return _run(["docker", *arguments], self.environ)

    def chat(self, context: str, question: str) -> str:
        """The answer of the supervisor, from outside."""
        command = ["platform-engineer", "chat", "--url", self.url, "--context", context, "--ask", question]
        command[0] = str(Path(sys.executable).parent / command[0])
        return _run(command, self.environ)


def main() -> int:
    """Run it all."""
    with engine() as environ, TemporaryDirectory() as folder:
        for name, text in DOCUMENTS.items():
            (Path(folder) / name).write_text(text)
        Path(folder).chmod(0o755)
        with loopback_socket() as free:
            port = str(free.getsockname()[1])
        own = {"IMAGE": IMAGE, "DOCUMENTS": folder, "SUPERVISOR_PORT": port, "COMPOSE_ENV_FILES": "/dev/null"}
        stack = Stack({**environ, **own, "PUBLIC_URL": "", "ALLOWED_HOSTS": ""}, f"http://localhost:{port}")
        _say("build", lambda: build(stack))
        _say("runs without a network, a compiler or a writable file system", lambda: look_inside(stack))
        try:
            _say("up", lambda: stack.compose("up", "-d", "--wait", "--no-build"))
            _say("no agent reaches the supervisor", lambda: knock(stack))
            _say("chat, restart, chat", lambda: talk(stack))
        except AssertionError:
            print(stack.compose("ps", "-a"), stack.compose("logs", "--tail", "20"))
            raise
        finally:
            stack.compose("down", "-v", "--timeout", "10")
    return 0


def knock(stack: Stack) -> None:
    """Connect to every address of the supervisor, and to its name, from each agent's container."""
    template = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}"
    targets = ["supervisor", *stack.docker("inspect", "-f", template, SUPERVISOR).split()]
    for agent in ("github", "rag"):
        for target in targets:
            knocked = stack.compose("exec", "-T", agent, "python3", "-c", KNOCK, target)
            assert knocked.strip() == "nobody", f"{agent} reaches the supervisor at {target}: {knocked}"


def build(stack: Stack) -> None:
    """Build the image as `docker compose build` would, and print its size."""
    base = base_image(stack.environ)
    options = ["--network", "host", "--build-arg", f"PYTHON_IMAGE={base}", "-t", IMAGE]
    stack.docker("build", *options, str(ROOT))
    size, under = (int(stack.docker("image", "inspect", "-f", "{{.Size}}", name)) for name in (IMAGE, base))
    print(f"  image {size / 1e6:.0f} MB, of which {under / 1e6:.0f} MB are the base {base}", flush=True)


def look_inside(stack: Stack) -> None:
    """What the image promises, seen in containers of it."""
    safe = ["run", "--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"]
    assert stack.docker(*safe, "--entrypoint", "python3", IMAGE, "-c", OFFLINE).strip() == "offline"
    assert stack.docker(*safe, "--entrypoint", "bash", IMAGE, "-euc", BARE).strip() == ""


def talk(stack: Stack) -> None:
    """Two conversations, which a restart must not mix or lose."""
    assert "Tuesday at 14:00" in stack.chat("zebra", "When is the zebra rollout window?")
    assert "Friday" in stack.chat("walrus", "When does the walrus migration end?")
    found = _run(
        ["sh", "-c", f"docker logs {SUPERVISOR} 2>/dev/null | grep -c sub_agent.reachable"], stack.environ
    )
    assert int(found) >= 2, "the log is not where operators look for it"
    stack.compose("restart")
    stack.compose("up", "-d", "--wait", "--no-build")
    assert "Okapi" in stack.chat("zebra", "Who is its owner?")
    assert "Ibex" in stack.chat("walrus", "Who is its owner?")
    listed = _run([*_tasks(), "list", "--url", stack.url], stack.environ)
    assert listed.count("completed") == 4, listed


def _tasks() -> list[str]:
    return [str(Path(sys.executable).parent / "platform-engineer"), "tasks"]


def _say(step: str, action: Callable[[], object]) -> None:
    started = time.monotonic()
    print(f"{step} …", flush=True)
    action()
    print(f"  done in {time.monotonic() - started:.0f} s", flush=True)


def _run(command: list[str], environ: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
