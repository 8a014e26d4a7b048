"""The tools against a server that is not ours: prism, which mocks GitHub's own OpenAPI description.

Needs node and npm; `prism/package-lock.json` pins what npm installs.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.github.client import GitHubClient
from agents.github.settings import GitHubSettings
from agents.github.testing.data import example
from agents.github.tools import build_tools
from utils.messages.results import Items, Record, parse_result

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

FOLDER = Path(__file__).parent / "prism"
DESCRIPTION = FOLDER / "node_modules/@octokit/openapi/generated/api.github.com.json"
PRISM = FOLDER / "node_modules/@stoplight/prism-cli/dist/index.js"
REPO: dict[str, Any] = {"owner": "octocat", "repo": "hello-world"}
START_SECONDS = 120.0


def install() -> str:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not installed")
    with (FOLDER / "package-lock.json").open(encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be installing it
        if not DESCRIPTION.is_file():
            subprocess.run(
                [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                cwd=FOLDER,
                check=True,
                capture_output=True,
            )
    return node


def write_description(path: Path) -> None:
    """GitHub's description of what the tools use. Answers are also offered as the media type that clients ask for."""
    whole = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    whole["paths"] = {name: whole["paths"][name] for name in example("parameters")}
    whole.pop("x-webhooks", None)
    for operations in whole["paths"].values():
        for answer in operations["get"]["responses"].values():
            content = answer.get("content", {})
            if "application/json" in content:
                content["application/vnd.github+json"] = content["application/json"]
    path.write_text(json.dumps(whole), encoding="utf-8")


def await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("prism did not start")


@pytest.fixture(scope="module")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    node = install()
    description = tmp_path_factory.mktemp("prism") / "github.json"
    write_description(description)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    command = [node, str(PRISM), "mock", "--host", "127.0.0.1", "--port", str(port), str(description)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            await_port(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.mark.parametrize(
    "tool, arguments, shown",
    [
        ("search_repositories", {"query": "tetris"}, {"name": "dtrupenn/Tetris"}),
        ("list_repositories", {"owner": "octocat", "limit": 1}, {"name": "octocat/Hello-World"}),
        ("list_pull_requests", {**REPO, "limit": 1}, {"number": 1347, "author": "octocat"}),
        ("get_pull_request", {**REPO, "number": 1347}, {"number": 1347, "title": "Amazing new feature"}),
        ("list_commits", {**REPO, "limit": 1}, {"message": "Fix all the bugs"}),
        ("list_tags", {**REPO, "limit": 1}, {"name": "v0.1"}),
        ("get_commit", {**REPO, "sha": "6dcb09b5b578"}, {"message": "Fix all the bugs", "additions": 104}),
        ("get_comparison", {**REPO, "base": "master", "head": "topic"}, {"ahead_by": 1, "behind_by": 2}),
        ("get_file", {**REPO, "path": "README.md"}, {"path": "README.md", "size": 5362}),
        ("search_code", {"query": "addClass"}, {"repository": "jquery/jquery"}),
        ("list_releases", {**REPO, "limit": 1}, {"tag": "v1.0.0"}),
        ("list_workflow_runs", {**REPO, "limit": 1}, {"workflow": "Build"}),
        ("get_workflow_run", {**REPO, "run_id": 30433642}, {"id": 30433642, "branch": "main"}),
    ],
)
async def test_a_tool_understands_what_prism_serves(prism, tool, arguments, shown):
    client = GitHubClient(GitHubSettings.load({"GITHUB_API_URL": prism, "GITHUB_TIMEOUT_SECONDS": "60"}))
    bound = next(bound for bound in build_tools(client) if bound.name == tool)
    result = parse_result(await bound.ainvoke(arguments))
    await client.stop()
    assert isinstance(result, Items | Record)
    found = result.items[0] if isinstance(result, Items) else result.item
    assert shown.items() <= found.items()
