"""A change on GitHub from the command line: asked for, approved in a second call, sent once."""

from __future__ import annotations

import asyncio
import json

import pytest

from agents.github.testing.server import run_github_server
from tests.e2e.cli.command import run, start
from tests.e2e.cli.test_up import read_until
from tests.ports import free_port

REQUEST = 'Create an issue in octocat/hello-world titled "Disk full" with the body "No space left"'


@pytest.mark.timeout(600)  # the whole service
async def test_a_change_is_sent_once_it_was_approved_and_not_after_another_answer(tmp_path):
    settings = {
        "RAG_SOURCES": "",
        "EMBEDDINGS_PROVIDER": "none",
        "GITHUB_WRITE": "true",
        "GITHUB_TOKEN": "a-token-of-the-double",
    }
    with run_github_server(pulls=2) as github:
        settings["GITHUB_API_URL"] = github.url
        up = await start("up", "--port", str(free_port()), home=tmp_path, **settings)
        await read_until(up, b"The service is up")
        try:
            asked = await run("chat", "--ask", REQUEST, home=tmp_path)
            assert (asked.code, asked.out) == (5, "")
            assert "May I send a new issue in octocat/hello-world?" in asked.err
            assert '"form"' not in asked.err
            assert _posts(github) == []
            context = asked.err.split("chat --context ")[1].split()[0]
            sent = await run("chat", "--context", context, "--ask", "yes", home=tmp_path)
            assert (sent.code, "It was approved and sent." in sent.out) == (0, True)
            (post,) = _posts(github)
            assert json.loads(post.body)["title"] == "Disk full"

            again = await run("chat", "--ask", REQUEST, "--json", home=tmp_path)
            context = json.loads(again.out.splitlines()[-1])["context_id"]
            refused = await run("chat", "--context", context, "--ask", "no", home=tmp_path)
            assert "It was approved and sent." not in refused.out
            assert len(_posts(github)) == 1
        finally:
            up.terminate()
            await asyncio.wait_for(up.wait(), 60)


def _posts(github):
    return [one for one in github.recorder.requests if one.method == "POST"]
