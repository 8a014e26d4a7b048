"""Pictures and documents that users and sub-agents send reach a model that takes them, at the wire of its provider."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from a2a.types.a2a_pb2 import Part
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.contract.test_conformance import foreign
from tests.e2e.agents.peers import Answer, Keys, connected, message
from tests.e2e.delegation.teams import supervising
from tests.e2e.delegation.test_files import invoices, returning
from tests.property.context.media import pdf, png
from utils.testing.live_agent import running_agent
from utils.testing.live_server import running
from utils.testing.strict_provider import Call, ChatRequest, Reply, ScriptedBrain, run_strict_provider

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

PICTURE = png(300, 200, b"a picture")
REPORT = pdf(2, 2_000)
OWN_FILES = (
    Part(raw=PICTURE, filename="photo.png", media_type="image/png"),
    Part(raw=REPORT, filename="report.pdf", media_type="application/pdf"),
)
SEES = {"LLM_MODEL": "gpt-4o"}
BLIND = {"LLM_MODEL": "gpt-3.5-turbo"}


def holds(request: ChatRequest, content: bytes) -> bool:
    return base64.b64encode(content).decode() in json.dumps(request.body)


@asynccontextmanager
async def files_at(calls: list[str]) -> AsyncIterator[str]:
    """The address of a server with files."""

    async def give(request: Request) -> Response:
        calls.append(request.url.path)
        if request.url.path == "/moved.png":
            return RedirectResponse("/photo.png")
        found = {
            "/photo.png": PICTURE,
            "/report.pdf": REPORT,
            "/lie.png": b"<html>",
            "/huge.png": bytes(3_000_001),
        }
        content = found.get(request.url.path)
        return Response(content) if content is not None else Response("gone", 404)

    async with running(Starlette(routes=[Route("/{name}", give)])) as url:
        yield url


def linked(url: str, name: str) -> Part:
    kind = "application/pdf" if name.endswith("pdf") else "image/png"
    return Part(url=f"{url}/{name}", filename=name, media_type=kind)


async def asked(parts: Sequence[Part], environ: dict[str, str]) -> tuple[Answer, list[ChatRequest]]:
    """An agent's answer to a message with these parts, and what its model was sent."""
    with run_strict_provider(ScriptedBrain(["Seen."])) as double:
        settings = double.environment("openai") | environ
        async with running_agent(Keys, environ=settings) as url, connected(url) as client:
            request = message("What does it show?")
            request.message.parts.extend(parts)
            answer = Answer([event async for event in client.send_message(request)])
        assert double.rejections == []
        return answer, double.requests


def told(answer: Answer) -> str:
    """What the user was told while the agent worked."""
    statuses = (event.status_update.status for event in answer.events if event.HasField("status_update"))
    return "\n".join(part.text for status in statuses for part in status.message.parts)


async def test_files_of_a_user_reach_a_model_that_takes_them() -> None:
    answer, (request,) = await asked(OWN_FILES, SEES)
    assert (answer.state, "does not see" in told(answer)) == ("completed", False)
    assert holds(request, PICTURE)
    assert holds(request, REPORT)


@pytest.mark.parametrize("name", ["photo.png", "moved.png", "report.pdf"])
async def test_a_file_at_an_address_is_fetched_for_a_model_that_takes_it(name: str) -> None:
    calls: list[str] = []
    async with files_at(calls) as url:
        answer, (request,) = await asked([linked(url, name)], SEES | {"FILE_URLS": "any"})
    assert (answer.state, "does not see" in told(answer)) == ("completed", False)
    assert holds(request, REPORT if name.endswith("pdf") else PICTURE)
    assert calls[0] == f"/{name}"


@pytest.mark.parametrize(
    ("name", "addresses", "why"),
    [
        ("photo.png", "public", "The URL's host is not known, or has an address that is not public."),
        ("photo.png", "none", "Files at an address are not fetched here (FILE_URLS)."),
        ("gone.png", "any", "The server answered with status 404."),
        ("huge.png", "any", "The file is larger than 3,000,000 bytes."),
        ("lie.png", "any", "It is no image/png."),
    ],
)
async def test_a_file_that_cannot_be_read_is_told_to_the_user_and_named_to_the_model(
    name: str, addresses: str, why: str
) -> None:
    calls: list[str] = []
    async with files_at(calls) as url:
        answer, (request,) = await asked([linked(url, name)], SEES | {"FILE_URLS": addresses})
    assert answer.state == "completed"
    assert f'The model does not see the content of the file "{name}". {why}' in told(answer)
    assert f'The file "{name}"' in request.messages[-1].text
    assert bool(calls) == (addresses == "any")


class Declared(Keys):
    """An agent that takes pictures, whatever its model takes."""

    input_modes = ("text/plain", "image/png")


@pytest.mark.parametrize("part", [OWN_FILES[0], linked("https://files.example", "photo.png")])
async def test_of_a_file_that_the_model_does_not_take_the_user_is_told(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.e2e.delegation.test_model_files.Keys", Declared)
    answer, (request,) = await asked([part], BLIND)
    said = 'The model does not see the content of the file "photo.png". The model takes no image/png.'
    assert said in told(answer)
    assert not holds(request, PICTURE)


@pytest.mark.parametrize(("model", "sees"), [(SEES, True), (BLIND, False)])
async def test_files_of_a_sub_agent_reach_a_supervisors_model_that_takes_them(
    model: dict[str, str], sees: bool
) -> None:
    replies: list[Any] = [Reply("", [Call("c1", "invoices", {"request": "Fetch the photo"})]), "Here it is."]
    with run_strict_provider(ScriptedBrain(replies)) as double:
        environ = double.environment("openai") | model
        async with (
            foreign(returning(("result", OWN_FILES)), invoices) as agent,
            supervising({"invoices": agent}, None, environ, agent_class=PlatformEngineer) as url,
            connected(url) as client,
        ):
            request = message("Fetch the photo")
            answer = Answer([event async for event in client.send_message(request)])
        assert double.rejections == []
        last = double.requests[-1]
    assert answer.text.startswith("Here it is.")
    assert (holds(last, PICTURE), holds(last, REPORT)) == (sees, sees)
    (result,) = [each.text for each in last.messages if each.role == "tool"]
    assert ("Its content follows." in result, "is not shown here" in result) == (sees, not sees)


@pytest.mark.parametrize(("addresses", "sees"), [("any", True), ("public", False)])
async def test_files_of_a_sub_agent_at_an_address_reach_a_supervisors_model(
    addresses: str, sees: bool
) -> None:
    replies: list[Any] = [Reply("", [Call("c1", "invoices", {"request": "Fetch the photo"})]), "Here it is."]
    calls: list[str] = []
    with run_strict_provider(ScriptedBrain(replies)) as double:
        environ = double.environment("openai") | SEES | {"FILE_URLS": addresses}
        async with (
            files_at(calls) as files,
            foreign(returning(("result", [linked(files, "photo.png")])), invoices) as agent,
            supervising({"invoices": agent}, None, environ, agent_class=PlatformEngineer) as url,
            connected(url) as client,
        ):
            answer = Answer([event async for event in client.send_message(message("Fetch the photo"))])
        assert double.rejections == []
        last = double.requests[-1]
    assert answer.text.startswith("Here it is.")
    assert (holds(last, PICTURE), bool(calls)) == (sees, sees)
    (result,) = [each.text for each in last.messages if each.role == "tool"]
    assert ("Its content follows." in result, "/photo.png" in result) == (sees, not sees)
