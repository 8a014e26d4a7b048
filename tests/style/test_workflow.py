"""The workflow runs the gate and nothing else, so that it cannot come to check something other than `make ci`."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.style.sources import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    text = (ROOT / ".github" / "workflows" / "ci.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.load(text, yaml.BaseLoader)  # else the key `on` is read as True
    return found


def test_the_gate_is_the_only_command(workflow):
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    actions = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
    assert commands == ["bash .ci/run"]
    assert actions == ["actions/checkout"]
    assert not any(key in job for key in ("env", "if", "strategy", "continue-on-error"))


def test_the_gate_runs_make_ci():
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[-1] == "exec make ci"


def test_it_runs_for_each_push_to_main_and_each_pull_request(workflow):
    assert workflow["on"] == {"push": {"branches": ["main"]}, "pull_request": ""}


def test_it_may_read_the_repository_and_nothing_more(workflow):
    (job,) = workflow["jobs"].values()
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in job
    (checkout,) = [step for step in job["steps"] if "uses" in step]
    assert checkout["with"] == {"persist-credentials": "false"}


def test_it_ends_by_itself_and_gives_way_to_a_newer_push(workflow):
    (job,) = workflow["jobs"].values()
    assert 0 < int(job["timeout-minutes"]) <= 120
    assert "github.ref" in workflow["concurrency"]["group"]


def test_it_runs_the_oldest_python_on_the_system_of_the_image(workflow):
    (job,) = workflow["jobs"].values()
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    image = re.search(r"^ARG PYTHON_IMAGE=(\S+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    assert image
    python, _, release = job["container"].removeprefix("python:").partition("-")
    assert f">={python}" == oldest
    assert image[1].startswith(f"python:{python}.")
    assert image[1].endswith(f"-{release}")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_an_action_is_named_by_its_commit(path):
    used = re.findall(r"\buses: *(\S+)", path.read_text("utf-8"))
    assert used
    assert [name for name in used if not PINNED.fullmatch(name)] == []
