"""The real gh against a GitHub on loopback. `gh.lock` pins the wheel that it comes in."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

import pytest

from agents.github.gh.runner import Gh, find_gh
from agents.github.gh.tool import gh_tool
from agents.github.settings import GitHubSettings
from tests.contract.github.gh_github import API_URL, gh_github
from tests.unit.github.conftest import TOKEN
from utils.errors import ToolTimeout, UpstreamRefused
from utils.messages.results import Record, parse_result
from utils.testing.live_server import loopback_socket

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

LOCK = Path(__file__).parent / "gh.lock"
FOLDER = Path(__file__).resolve().parents[3] / ".cache" / "gh"
REPO = {"owner": "octocat", "repo": "hello-world"}


@pytest.fixture(scope="session")
def gh_folder() -> Path:
    """The folder with gh, installed when the lock is new."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    stamp, wanted = FOLDER / "stamp", hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()
    with (FOLDER / "lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text() != wanted:
            shutil.rmtree(FOLDER / "venv", ignore_errors=True)
            venv.create(FOLDER / "venv", with_pip=True)
            pip = [str(FOLDER / "venv" / "bin" / "python"), "-m", "pip", "install", "-q"]
            options = ["--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", str(LOCK)]
            subprocess.run([*pip, *options], check=True, capture_output=True)
            stamp.write_text(wanted)
    return FOLDER / "venv" / "bin"


def made(folder: Path, proxy: str, **environ: str) -> Gh:
    settings = {
        "PATH": str(folder),
        "HTTP_PROXY": proxy,
        "HTTPS_PROXY": proxy,
        "GITHUB_API_URL": API_URL,
        "GITHUB_TOKEN": TOKEN,
        **environ,
    }
    found = find_gh(GitHubSettings.load(settings), settings)
    assert found is not None
    return found


async def call(gh: Gh, *arguments: str) -> Record:
    result = parse_result(await gh_tool(gh).ainvoke({**REPO, "arguments": list(arguments)}))
    assert isinstance(result, Record)
    return result


def test_it_is_the_real_program(gh_folder):
    told = subprocess.run([gh_folder / "gh", "--version"], capture_output=True, text=True, check=True).stdout
    assert told.startswith("gh version 2.")


async def test_why_a_run_failed_is_answered_by_the_real_gh(gh_folder):
    async with gh_github() as (proxy, recorder):
        result = await call(made(gh_folder, proxy), "run", "view", "30433642", "--log-failed")
    assert result.item["job"] == "build"
    assert result.item["failed_step"] == "Run Tests"
    assert result.item["errors"][-1] == "Process completed with exit code 1."
    lines = result.item["error_excerpt"].splitlines()
    assert '  Actual: "Grüße"' in lines
    assert "bundle exec rake" in lines, "colours are taken out"
    assert recorder.changes() == []
    assert {request.headers["authorization"] for request in recorder.requests} == {f"token {TOKEN}"}


async def test_runs_are_listed_by_the_real_gh(gh_folder):
    async with gh_github() as (proxy, _):
        result = await call(made(gh_folder, proxy), "gh", "run", "list", "--limit", "3", "--branch=main")
    assert "failure\tUpdate README.md\tBuild\tmain" in result.item["output"]


async def test_what_the_real_gh_refuses_is_a_sentence_without_the_token(gh_folder):
    async with gh_github() as (proxy, _):
        with pytest.raises(UpstreamRefused) as caught:
            await call(made(gh_folder, proxy), "run", "view", "7", "--json", "nosuchfield")
    assert caught.value.message.startswith("gh ended with an error (1).")
    assert TOKEN not in caught.value.message


@pytest.mark.parametrize(
    "arguments", [["api", "/user"], ["auth", "token"], ["run", "rerun", "7"], ["run", "view", "7", "--web"]]
)
async def test_the_real_gh_is_not_started_for_what_is_not_allowed(gh_folder, arguments):
    async with gh_github() as (proxy, recorder):
        with pytest.raises(UpstreamRefused, match="gh was not run"):
            await call(made(gh_folder, proxy), *arguments)
    assert recorder.requests == []


async def test_a_gh_that_takes_too_long_is_ended(gh_folder):
    with loopback_socket() as silent:  # the kernel takes the connection, and nobody ever answers
        port = silent.getsockname()[1]
        gh = made(gh_folder, f"http://127.0.0.1:{port}", GITHUB_GH_TIMEOUT_SECONDS="0.5")
        started = time.monotonic()
        with pytest.raises(ToolTimeout):
            await call(gh, "run", "list")
    assert time.monotonic() - started < 50  # the limit that holds where none is set is 60 s
