"""Providers by setting, against a real HTTP server on loopback."""

import asyncio
import base64
import struct
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from utils.embeddings import create_embedder
from utils.errors import AuthFailed, ModelUnavailable, SettingsError
from utils.settings import EmbeddingSettings
from utils.testing.live_server import loopback_socket
from utils.testing.threaded_server import threaded_server

pytestmark = pytest.mark.listens


class EmbeddingServer:
    """The embeddings route of an OpenAI-compatible server. The vector tells letters from digits."""

    def __init__(self):
        self.requests = []

    async def embeddings(self, request):
        body = await request.json()
        if request.headers["authorization"] == "Bearer wrong":
            return JSONResponse({"error": {"message": "bad key", "code": "invalid_api_key"}}, 401)
        self.requests.append(body)
        rows = [
            {"object": "embedding", "index": index, "embedding": self._vector(text, body)}
            for index, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return JSONResponse({"object": "list", "data": rows, "model": body["model"], "usage": usage})

    @staticmethod
    def _vector(text, body):
        values = [3.0 * sum(c.isalpha() for c in text), 4.0 * sum(c.isdigit() for c in text), 0.0]
        if body.get("encoding_format") == "base64":
            return base64.b64encode(struct.pack("<3f", *values)).decode()
        return values


@contextmanager
def running(app):
    with loopback_socket() as listener, threaded_server(app, listener, name="embeddings"):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


@pytest.fixture
def double():
    return EmbeddingServer()


@pytest.fixture
def url(double):
    with running(Starlette(routes=[Route("/v1/embeddings", double.embeddings, methods=["POST"])])) as address:
        yield address


def made(settings, cache=None):
    embedder = create_embedder(settings, cache=cache)
    assert embedder is not None
    return embedder


def compatible(url, **more):
    variables = {
        "EMBEDDINGS_PROVIDER": "openai-compatible",
        "EMBEDDINGS_BASE_URL": url,
        "EMBEDDINGS_MODEL": "bge-m3",
    }
    return EmbeddingSettings.load(variables | more)


async def test_an_openai_compatible_server_is_asked_over_http(double, url):
    embedder = made(compatible(url))
    vectors = await embedder.embed(["abc", "123"])
    assert np.allclose(vectors, [[1, 0, 0], [0, 1, 0]])
    assert double.requests[0]["input"] == ["abc", "123"]
    assert double.requests[0]["model"] == "bge-m3"


async def test_dimensions_of_an_unknown_model_are_asked_once(double, url):
    embedder = made(compatible(url))
    assert await asyncio.to_thread(lambda: (embedder.dimensions, embedder.dimensions)) == (3, 3)
    assert len(double.requests) == 1


async def test_known_texts_do_not_reach_the_server_again(double, url, tmp_path):
    for _ in range(2):
        await made(compatible(url), tmp_path).embed(["abc"])
    assert len(double.requests) == 1


async def test_many_texts_are_sent_in_several_requests(double, url):
    vectors = await made(compatible(url)).embed([f"a{n}" for n in range(300)])
    assert vectors.shape == (300, 3)
    assert [len(request["input"]) for request in double.requests] == [256, 44]


async def test_a_refused_key_is_an_auth_failure(url):
    embedder = made(compatible(url, OPENAI_API_KEY="wrong"))
    with pytest.raises(AuthFailed) as caught:
        await embedder.embed(["abc"])
    assert "wrong" not in caught.value.message


async def test_a_server_that_is_down_is_unavailable():
    embedder = made(compatible("http://127.0.0.1:9/v1"))
    with pytest.raises(ModelUnavailable):
        await embedder.embed(["abc"])


@pytest.mark.parametrize(
    "variables, missing",
    [
        ({"EMBEDDINGS_PROVIDER": "openai"}, "OPENAI_API_KEY"),
        ({"EMBEDDINGS_PROVIDER": "openai-compatible"}, "EMBEDDINGS_BASE_URL"),
        ({"EMBEDDINGS_PROVIDER": "openai-compatible", "OPENAI_BASE_URL": "http://x"}, "EMBEDDINGS_MODEL"),
        (
            {"EMBEDDINGS_PROVIDER": "openai-compatible", "EMBEDDINGS_BASE_URL": "x", "EMBEDDINGS_MODEL": "m"},
            "EMBEDDINGS_BASE_URL",
        ),
        ({"EMBEDDINGS_PROVIDER": "azure-openai"}, "AZURE_OPENAI_ENDPOINT"),
        (
            {
                "EMBEDDINGS_PROVIDER": "azure-openai",
                "AZURE_OPENAI_ENDPOINT": "https://x",
                "EMBEDDINGS_MODEL": "m",
            },
            "AZURE_OPENAI_API_KEY",
        ),
        ({"EMBEDDINGS_PROVIDER": "aws-bedrock"}, "AWS_REGION"),
    ],
)
def test_a_missing_setting_is_named(variables, missing):
    with pytest.raises(SettingsError) as caught:
        create_embedder(EmbeddingSettings.load(variables), cache=None)
    assert caught.value.variable == missing
    assert missing in caught.value.message


def test_every_provider_can_be_built_from_its_settings():
    azure = {
        "EMBEDDINGS_PROVIDER": "azure-openai",
        "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com",
        "AZURE_OPENAI_API_KEY": "k",
        "EMBEDDINGS_MODEL": "text-embedding-3-small",
    }
    openai = {"EMBEDDINGS_PROVIDER": "openai", "OPENAI_API_KEY": "k"}
    bedrock = {"EMBEDDINGS_PROVIDER": "aws-bedrock", "AWS_REGION": "eu-central-1"}
    built = [made(EmbeddingSettings.load(v)) for v in (azure, openai, bedrock)]
    assert [e.dimensions for e in built] == [1536, 1536, 1024]
    assert len({e.name for e in built}) == 3


@pytest.mark.processes
def test_importing_the_package_loads_no_model_and_no_client():
    code = "import sys, utils.embeddings; print([m for m in ('numpy','onnxruntime','openai','langchain_core') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
