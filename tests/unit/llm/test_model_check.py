"""A model is asked for one tool call; its server is asked for its window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.ports import free_port
from utils.errors import ModelUnavailable
from utils.llm.classify import classify
from utils.llm.factory import create_chat_model
from utils.llm.model_check import CallForm, check_model
from utils.llm.server_window import server_window
from utils.settings import LLMSettings, ModelProvider
from utils.testing.live_server import running
from utils.testing.strict_provider import Call, Fault, FaultKind, Reply, StrictProvider, Wire

EACH = [one.value for one in ModelProvider if one is not ModelProvider.EMBEDDED]
CALLED = Reply(calls=[Call("call_1", "report_status", {"status": "ok"})])


def settings(double: StrictProvider, provider: str = "openai-compatible", **changes: str) -> LLMSettings:
    return LLMSettings.load(double.environment(provider) | changes)


@pytest.mark.listens
@pytest.mark.parametrize("provider", EACH)
async def test_a_model_that_calls_the_tool_is_good(double: StrictProvider, provider: str):
    double.brain = lambda _request: CALLED
    check = await check_model(settings(double, provider), 20)
    assert (check.good, check.form, check.problem) == (True, CallForm.NATIVE, "")
    assert "calls tools" in check.found
    assert double.received == 1


async def test_a_call_that_is_written_as_text_is_told_as_such(double: StrictProvider):
    text = '{"name": "report_status", "arguments": {"status": "ok"}}'
    double.brain = lambda _request: Reply(text, chunks=[text[:9], text[9:]])
    check = await check_model(settings(double), 20)
    assert (check.good, check.form, check.streams) == (True, CallForm.TEXT, True)
    assert "as text" in check.found


async def test_a_model_that_only_talks_is_not_good_and_the_sentence_says_why(double: StrictProvider):
    double.brain = lambda _request: Reply("The status is ok.")
    check = await check_model(settings(double), 20)
    assert (check.good, check.form) == (False, CallForm.NONE)
    assert "did not call the tool" in check.found


@pytest.mark.parametrize("provider", EACH)
async def test_a_stream_that_just_ends_in_the_middle_is_told(double: StrictProvider, provider: str):
    double.fail_next(FaultKind.ENDED)
    check = await check_model(settings(double, provider), 20)
    assert (check.good, "broke off" in check.problem) == (False, True)


@pytest.mark.parametrize("provider", EACH)
async def test_an_answer_in_one_piece_that_just_ends_in_the_middle_broke_off(
    double: StrictProvider, provider: str
):
    double.fail_next(FaultKind.ENDED)
    with pytest.raises(Exception) as caught:
        await create_chat_model(settings(double, provider)).ainvoke("Hello")
    failure = classify(caught.value)
    assert isinstance(failure, ModelUnavailable)
    assert "broke off" in failure.message


@pytest.mark.parametrize("provider", EACH)
async def test_a_wrong_key_and_an_unknown_model_are_said_at_once(double: StrictProvider, provider: str):
    for fault in (FaultKind.UNAUTHORISED, FaultKind.MODEL_NOT_FOUND):
        double.reset()
        double.fail_next(fault)
        check = await check_model(settings(double, provider), 20)
        assert not check.good
        assert any(word in check.problem for word in ("key", "LLM_MODEL"))
        assert double.received == 1


async def test_a_server_without_tools_is_said_with_what_to_change(double: StrictProvider):
    double.fail_next(Fault.refusing('"auto" tool choice requires --enable-auto-tool-choice'))
    check = await check_model(settings(double), 20)
    assert "--enable-auto-tool-choice" in check.problem


@pytest.mark.listens
async def test_a_server_that_is_off_is_said_with_its_address_and_its_setting_without_a_password():
    dead = {"LLM_PROVIDER": "openai-compatible", "LLM_MODEL": "m"}
    host = f"127.0.0.1:{free_port()}"
    url = f"http://me:hidden-word@{host}/v1"
    check = await check_model(LLMSettings.load(dead | {"OPENAI_BASE_URL": url}), 20)
    assert check.problem == (
        f"The model provider cannot be reached at {host}. See whether its server runs, and check OPENAI_BASE_URL."
    )


@pytest.mark.listens
async def test_a_provider_without_an_address_of_its_own_that_cannot_be_reached_names_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{free_port()}")
    away = {"LLM_PROVIDER": "openai", "LLM_MODEL": "m", "OPENAI_API_KEY": "k"}
    check = await check_model(LLMSettings.load(away), 20)
    assert "HTTPS_PROXY" in check.problem


async def test_a_model_that_does_not_answer_in_time_is_late_and_the_setting_is_named(double: StrictProvider):
    double.brain = lambda _request: Wire([], open_end=True)
    check = await check_model(settings(double), 0.3)
    assert (check.late, check.good) == (True, False)
    assert "LLM_TIMEOUT_SECONDS" in check.problem


OLLAMA = {"model_info": {"qwen3.context_length": 40_960}, "parameters": "num_ctx    8192\nstop x"}
WINDOWS: list[tuple[str, Mapping[str, Any], int | None]] = [
    ("Ollama, loaded", {"/api/show": OLLAMA, "/api/ps": {"models": [{"model": "m:latest", "context_length": 16_384}]}}, 16_384),
    ("Ollama, by its Modelfile", {"/api/show": OLLAMA, "/api/ps": {"models": []}}, 8_192),
    ("Ollama, by default", {"/api/show": {"model_info": {"a.context_length": 40_960}}}, 4_096),
    ("Ollama, a small model", {"/api/show": {"model_info": {"a.context_length": 2_048}}}, 2_048),
    ("llama.cpp", {"/props": {"default_generation_settings": {"n_ctx": 8_192}}}, 8_192),
    ("vLLM", {"/v1/models": {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 32_768}]}}, 32_768),
    ("OpenRouter", {"/v1/models": {"data": [{"id": "m", "context_length": 200_000}]}}, 200_000),
    ("LM Studio", {"/api/v0/models": {"data": [{"id": "m", "loaded_context_length": 4_096, "max_context_length": 32_768}]}}, 4_096),
    ("one that does not say", {"/v1/models": {"data": [{"id": "m"}]}}, None),
    ("one that says nonsense", {"/v1/models": {"data": "none"}, "/props": {"default_generation_settings": 7}}, None),
]  # fmt: skip


def server(answers: Mapping[str, Any]) -> Starlette:
    async def answer(request: Request) -> JSONResponse:
        found = answers.get(request.url.path)
        return JSONResponse(found) if found is not None else JSONResponse({}, 404)

    return Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])


@pytest.mark.listens
@pytest.mark.parametrize(
    ("answers", "tokens"), [each[1:] for each in WINDOWS], ids=[each[0] for each in WINDOWS]
)
async def test_the_window_is_what_the_server_says(answers: Mapping[str, Any], tokens: int | None):
    async with running(server(answers)) as url:
        given = {"LLM_PROVIDER": "openai-compatible", "LLM_MODEL": "m", "OPENAI_BASE_URL": f"{url}/v1/"}
        found = await server_window(LLMSettings.load(given))
    assert (found.tokens if found else None) == tokens


@pytest.mark.listens
async def test_a_server_that_is_not_there_or_another_provider_has_no_window_to_tell(double: StrictProvider):
    given = {"LLM_PROVIDER": "openai-compatible", "LLM_MODEL": "m"}
    url = f"http://127.0.0.1:{free_port()}/v1"
    assert await server_window(LLMSettings.load(given | {"OPENAI_BASE_URL": url})) is None
    assert await server_window(settings(double, "openai")) is None


@pytest.mark.listens
async def test_a_small_window_is_wrong_and_the_sentence_says_how_to_enlarge_it():
    async with running(server({"/props": {"default_generation_settings": {"n_ctx": 4_096}}})) as url:
        given = {"LLM_PROVIDER": "openai-compatible", "LLM_MODEL": "m", "OPENAI_BASE_URL": f"{url}/v1"}
        check = await check_model(LLMSettings.load(given), 20)
    assert "4,096 tokens" in check.small
    assert "--ctx-size" in check.small
    assert not check.good
