from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from multi_agents.cli.model.unused import unused_key, unused_server
from tests.ports import free_port
from utils.testing.live_server import running


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("OPENAI_API_KEY", "LLM_PROVIDER=openai LLM_MODEL="),
        ("ANTHROPIC_API_KEY", "LLM_PROVIDER=anthropic LLM_MODEL="),
        ("GOOGLE_API_KEY", "LLM_PROVIDER=google-gemini"),
        ("GEMINI_API_KEY", 'LLM_PROVIDER=google-gemini GOOGLE_API_KEY="$GEMINI_API_KEY"'),
        ("OPENROUTER_API_KEY", "LLM_PROVIDER=openai-compatible"),
        ("AWS_PROFILE", "LLM_PROVIDER=aws-bedrock"),
    ],
)
def test_a_key_that_is_not_used_is_named_with_the_command_that_uses_it_and_never_shown(name, command):
    sentence = unused_key({name: "sk-secret"})
    assert sentence.startswith(f"{name} is set and not used: {command}")
    assert "sk-secret" not in sentence
    assert "\n" not in sentence


def test_a_key_of_the_embeddings_is_used():
    assert not unused_key({"OPENAI_API_KEY": "k", "EMBEDDINGS_PROVIDER": "openai"})
    assert not unused_key({"PATH": "/bin"})


@pytest.mark.listens
async def test_a_model_server_on_this_machine_is_named_with_its_first_model():
    async def models(_: Request) -> JSONResponse:
        return JSONResponse({"data": [{"id": "llama3.1:8b"}, {"id": "other"}]})

    async with running(Starlette(routes=[Route("/v1/models", models)])) as url:
        servers = {"Nobody": f"http://127.0.0.1:{free_port()}/v1", "Ollama": f"{url}/v1"}
        sentence = await unused_server(servers)
    assert sentence == (
        f"Ollama answers at {url}/v1 and is not used: LLM_PROVIDER=openai-compatible OPENAI_BASE_URL={url}/v1 "
        "LLM_MODEL=llama3.1:8b platform-engineer chat uses it."
    )


@pytest.mark.listens
async def test_another_program_at_that_port_is_not_taken_for_a_model_server():
    async def page(_: Request) -> JSONResponse:
        return JSONResponse({"data": []})

    async with running(Starlette(routes=[Route("/v1/models", page)])) as url:
        assert not await unused_server({"Ollama": f"{url}/v1", "Other": f"{url}/nothing"})
