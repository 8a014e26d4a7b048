"""What the tools that change something send, against GitHub's own description of the requests."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest

from agents.github.changes.change import checked
from agents.github.changes.post import Poster
from agents.github.changes.tools import CHANGES
from agents.github.settings import GitHubSettings
from agents.github.testing.data import example
from agents.github.testing.recorder import Recorded
from agents.github.testing.server import GitHubServer, run_github_server
from tests.contract.github import test_prism
from tests.contract.github.test_requests import pattern

REPO: dict[str, Any] = {"owner": "octocat", "repo": "hello-world"}
DESCRIPTION: dict[str, dict[str, Any]] = example("request_bodies")

# Every argument of every tool, absent, at its ends and with what JSON must escape.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("comment_on_issue", {**REPO, "number": 1, "body": "x"}),
    ("comment_on_issue", {**REPO, "number": 2**31, "body": 'Grüße 🚀\n\n> "quoted" \\ \t' * 100}),
    ("create_issue", {**REPO, "title": "T"}),
    ("create_issue", {**REPO, "title": "T" * 256, "body": "Steps:\n1. Start it", "labels": ["bug", "ä b"]}),
    ("create_issue", {**REPO, "title": "12", "body": "", "labels": []}),
    ("rerun_workflow", {**REPO, "run_id": 30433642}),
    ("rerun_workflow", {**REPO, "run_id": 30433642, "whole": True}),
]


@pytest.fixture(scope="module")
def server(listens):
    with run_github_server() as running:
        yield running


async def sent(server: GitHubServer, tool: str, arguments: dict[str, Any]) -> Recorded:
    """The request that a tool sends after a yes."""
    spec = next(spec for spec in CHANGES if spec.name == tool)
    change = checked(spec.change(spec.arguments.model_validate(arguments)))
    poster = Poster(GitHubSettings.load({"GITHUB_API_URL": server.url, "GITHUB_TOKEN": "token"}))
    server.recorder.requests.clear()
    await poster.post(change.path, change.what, change.body, linked=change.linked)
    await poster.stop()
    (request,) = server.recorder.changes()
    return request


def violations(request: Recorded) -> list[str]:
    """Where a request is not as GitHub describes it. GitHub drops unknown fields in silence: here they count."""
    known = next((one for path, one in DESCRIPTION.items() if pattern(path).fullmatch(request.path)), None)
    if known is None or request.method != "POST":
        return [f"GitHub has no {request.method} {request.path}"]
    if not request.body:
        return ["the body is missing"] if known["required"] else []
    schema, body = copy.deepcopy(known["schema"]) | {"additionalProperties": False}, json.loads(request.body)
    found = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(body)]
    kind = request.headers.get("content-type")
    return found + ([] if kind == "application/json" else [f"the body is {kind}"])


@pytest.mark.parametrize("tool, arguments", CALLS)
async def test_every_change_is_a_request_that_github_describes(server, tool, arguments):
    assert violations(await sent(server, tool, arguments)) == []


def test_the_calls_above_use_every_argument_of_every_tool():
    used: dict[str, set[str]] = {}
    for tool, arguments in CALLS:
        used.setdefault(tool, set()).update(arguments)
    assert used == {spec.name: set(spec.arguments.model_fields) for spec in CHANGES}


@pytest.mark.parametrize(
    "path, body, told",
    [
        ("/repos/a/b/issues", {"body": "no title"}, "'title' is a required property"),
        ("/repos/a/b/issues", {"title": "t", "labels": "bug"}, "'bug' is not of type 'array'"),
        ("/repos/a/b/issues", {"title": "t", "label": ["bug"]}, "'label' was unexpected"),
        ("/repos/a/b/issues/5/comments", {"body": None}, "None is not of type 'string'"),
        ("/repos/a/b/issues/5/comments", None, "the body is missing"),
        ("/repos/a/b/issues/5/comment", {"body": "x"}, "GitHub has no POST"),
    ],
)
def test_the_check_itself_finds_what_is_wrong(path, body, told):
    content = b"" if body is None else json.dumps(body).encode()
    request = Recorded(path, "", {"content-type": "application/json"}, "POST", content)
    assert told in violations(request)[0]


@pytest.mark.servers
@pytest.mark.timeout(600)
def test_the_description_is_the_one_that_github_publishes():
    test_prism.install()
    whole = json.loads(test_prism.DESCRIPTION.read_text(encoding="utf-8"))["paths"]
    bodies = {path: whole[path]["post"]["requestBody"] for path in DESCRIPTION}
    assert {
        path: {"required": body["required"], "schema": body["content"]["application/json"]["schema"]}
        for path, body in bodies.items()
    } == DESCRIPTION
