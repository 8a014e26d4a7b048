"""Asks questions at a service of its own, with the GitHub double, the way `chat --ask` does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch
from uuid import uuid4

from agents.github.testing.recorder import Recorder
from agents.github.testing.server import run_github_server
from multi_agents.cli.exit_codes import exit_code_of
from multi_agents.cli.peer.connection import Peer, connect
from multi_agents.cli.service.local import LaunchOptions, local_service
from multi_agents.cli.view.startup import StartupView
from multi_agents.cli.view.state import NOTES, Node, TurnView
from tests.eval.blind.question import Question, Reply, Result, ToolCall
from tests.ports import free_port
from utils.a2a_common.client.stream.follow import follow_message
from utils.a2a_common.client.stream.message import user_message

_SOURCE = re.compile(r"\b(?:docs/[\w./-]+|README)\.md(?:#[\w-]+)?")


async def ask_all(questions: Sequence[Question], home: Path) -> list[Result]:
    """Start the service once and ask every question in a conversation of its own."""
    with run_github_server() as github, environment(home, github.url):
        options = LaunchOptions(port=free_port())
        async with (
            local_service(options, StartupView) as (running, _),
            connect(running.supervisor.url) as peer,
        ):
            return [await ask_one(peer, question, github.recorder) for question in questions]


@contextmanager
def environment(home: Path, github: str, settings: Mapping[str, str] | None = None) -> Iterator[None]:
    """The settings of a newcomer: where the data and GitHub are, and `settings`."""
    ours = {"PLATFORM_ENGINEER_HOME": str(home), "GITHUB_API_URL": github, "RAG_READY_SECONDS": "600"}
    with patch.dict(os.environ, ours | dict(settings or {})):
        yield


async def ask_one(peer: Peer, question: Question, recorder: Recorder) -> Result:
    """Ask a question, turn by turn, in a conversation of its own."""
    context_id, replies = str(uuid4()), list[Reply]()
    for said in question.turns:
        before = len(recorder.requests)
        view = TurnView()
        message = user_message(said, context_id=context_id)
        async for event in follow_message(peer.connection, message):
            view.apply(event)
        sent = tuple(f"{each.method} {each.path}?{each.query}" for each in recorder.requests[before:])
        replies.append(_reply(said, view, sent))
    return Result(question, tuple(replies))


def _reply(said: str, view: TurnView, sent: tuple[str, ...]) -> Reply:
    answer = "\n".join(filter(None, [view.answer, view.failure or (view.question if view.waits else "")]))
    return Reply(
        said,
        tuple((node.label, node.detail) for node in _called(view.nodes)),
        tuple(_calls(view.nodes)),
        str(view.state or ""),
        int(exit_code_of(view.state)),
        answer,
        tuple(dict.fromkeys(_SOURCE.findall(answer))),
        sent,
    )


def _called(nodes: Sequence[Node]) -> list[Node]:
    """The calls among the rows; "waiting 5 s" and "rule noted" are none."""
    return [node for node in nodes if node.key not in NOTES]


def _calls(nodes: Sequence[Node]) -> Iterator[ToolCall]:
    for agent in _called(nodes):
        for tool in _called(agent.children):
            yield ToolCall(agent.label, tool.label, tool.detail, tool.status)
