"""The strict provider: an ASGI application that checks, records and answers requests."""

from __future__ import annotations

import base64
import inspect
import json
import re
from collections import deque
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from utils.testing.strict import (
    anthropic_rules,
    anthropic_wire,
    bedrock_rules,
    bedrock_wire,
    gemini_rules,
    gemini_wire,
    openai_rules,
    openai_wire,
    responses_rules,
    responses_wire,
)
from utils.testing.strict.brains import Answer, Brain, EchoBrain, with_legal_ids
from utils.testing.strict.conversation import Api, ChatRequest, Rejection, Reply, Wire
from utils.testing.strict.exchange import Exchange, ModelTarget, Receive, Send, send_json
from utils.testing.strict.faults import IN_ANSWER, Fault, FaultKind

Scope = MutableMapping[str, Any]

_CONVERSE = re.compile(r"/model/(?P<model>.+)/(?P<operation>converse|converse-stream)")
_DEPLOYMENT = re.compile(r"/openai/deployments/(?P<model>[^/]+)/chat/completions")

_GENERATE = re.compile(r"/.+/models/(?P<model>[^/:]+):(?P<operation>streamGenerateContent|generateContent)")
_RULES = {
    Api.OPENAI: openai_rules.check,
    Api.BEDROCK: bedrock_rules.check,
    Api.ANTHROPIC: anthropic_rules.check,
    Api.GEMINI: gemini_rules.check,
    Api.RESPONSES: responses_rules.check,
}
_KEYS = (b"api-key", b"x-api-key", b"x-goog-api-key")


@dataclass(frozen=True)
class Rejected:
    """A request that broke a rule.

    Attributes:
        api: The API that it came over.
        rule: Short name of the rule.
        message: The error message that the client received.
        body: The request as it was sent.
    """

    api: Api
    rule: str
    message: str
    body: Mapping[str, Any]


class BrainError(AssertionError):
    """The brain answered with what no real model could."""


class StrictProvider:
    """A double of the APIs of OpenAI, Bedrock, Anthropic and Gemini that refuses what they refuse.

    Attributes:
        requests: Every request that passed the checks, in order, with its token count.
        received: HTTP requests that came, refused ones and injected faults included.
        headers: Headers of each of them.
        rejections: Every request that broke a rule. An end-to-end test asserts that it is empty.
        errors: What the brain raised; the client saw status 500. `run_strict_provider` raises the first.
        window: Context window in tokens; may be changed between requests.
        refusing: What is refused in any request that holds it: a text, or the content of a file; and how.
        lenient: Rules that are not enforced, for servers that do not have them.
        url: Address of the running double; set by `run_strict_provider`.
    """

    def __init__(self, brain: Brain | None = None, *, window: int = 128_000) -> None:
        self.url = ""
        self.reset(brain, window=window)

    def reset(self, brain: Brain | None = None, *, window: int = 128_000) -> None:
        """Reset, so that several tests can share one running server."""
        self.brain: Brain = brain or EchoBrain()
        self.window = window
        self.lenient: frozenset[str] = frozenset()
        self.refusing: dict[str | bytes, Fault] = {}
        self.received = 0
        self.requests: list[ChatRequest] = []
        self.headers: list[Mapping[bytes, bytes]] = []
        self.rejections: list[Rejected] = []
        self.errors: list[Exception] = []
        self._faults: deque[Fault] = deque()

    def fail_next(self, *faults: Fault | FaultKind) -> None:
        """Let the next requests, one for each fault, go wrong, whatever the brain would say."""
        self._faults.extend(Fault(fault) if isinstance(fault, FaultKind) else fault for fault in faults)

    @property
    def openai_url(self) -> str:
        """Base URL for OpenAI clients."""
        return f"{self.url}/v1"

    def environment(self, provider: str) -> dict[str, str]:
        """Variables that make `utils.settings` and boto3 talk to this double, and leave it to the agent alone.

        What an agent asks in the background or at its start (`CONTEXT_PINS_BY_MODEL`, `LLM_CHECK`) is off, since a script is played in order.

        Args:
            provider: A value of `LLM_PROVIDER` other than `embedded`.
        """
        by_provider = {
            "openai": {
                "OPENAI_API_KEY": "sk-double",
                "OPENAI_BASE_URL": self.openai_url,
                "LLM_MODEL": "gpt-4o",
            },
            "openai-compatible": {"OPENAI_BASE_URL": self.openai_url, "LLM_MODEL": "served-model"},
            "azure-openai": {
                "AZURE_OPENAI_API_KEY": "double",
                "AZURE_OPENAI_ENDPOINT": self.url,
                "LLM_MODEL": "gpt-4o",
            },
            "aws-bedrock": {
                "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.url,
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "AKIADOUBLE",
                "AWS_SECRET_ACCESS_KEY": "double",
                "LLM_MODEL": "anthropic.claude-sonnet-4-5-20250929-v1:0",
            },
            "anthropic": {
                "ANTHROPIC_API_KEY": "sk-ant-double",
                "ANTHROPIC_BASE_URL": self.url,
                "LLM_MODEL": "claude-sonnet-5",
            },
            "google-gemini": {
                "GOOGLE_API_KEY": "double",
                "GOOGLE_GEMINI_BASE_URL": self.url,
                "LLM_MODEL": "gemini-3-pro-preview",
            },
            "gcp-vertexai": {
                "GOOGLE_API_KEY": "double",
                "GOOGLE_GEMINI_BASE_URL": self.url,
                "LLM_MODEL": "gemini-3-pro-preview",
            },
        }
        return {
            "LLM_PROVIDER": provider,
            "CONTEXT_PINS_BY_MODEL": "false",
            "LLM_CHECK": "false",
        } | by_provider[provider]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        target = _target(scope["path"])
        raw = await _read(receive)
        if raw is None:
            return
        if target is None or scope["method"] != "POST":
            await send_json(
                send, 404, {"error": {"message": f"Invalid URL ({scope['method']} {scope['path']})"}}
            )
            return
        await self._serve(Exchange(target, dict(scope["headers"]), receive, send), raw)

    async def _serve(self, exchange: Exchange, raw: bytes) -> None:
        self.received += 1
        self.headers.append(exchange.headers)
        fault = self._faults.popleft() if self._faults else None
        if fault is not None and fault.kind not in IN_ANSWER:
            await exchange.refuse_for(fault)
            return
        checked = self._check(exchange.target, exchange.headers, raw)
        if isinstance(checked, Rejection):
            await exchange.refuse(checked)
            return
        self.requests.append(checked)
        answer = fault or self._refused(checked) or await self._think(checked)
        if isinstance(answer, Reply):
            await exchange.answer(checked, with_legal_ids(answer, checked.api))
        elif isinstance(answer, Wire):
            await exchange.send_bytes(answer)
        elif answer.kind in IN_ANSWER:
            await exchange.spoil(checked, answer)
        else:
            await exchange.refuse_for(answer)

    async def _think(self, request: ChatRequest) -> Answer:
        try:
            thought = self.brain(request)
            answer = await thought if inspect.isawaitable(thought) else thought
            _must_be_offered(answer, request)
        except Exception as error:
            self.errors.append(error)
            raise
        return answer

    def _refused(self, request: ChatRequest) -> Fault | None:
        body = json.dumps(request.body, ensure_ascii=False)
        held = (
            fault
            for wanted, fault in self.refusing.items()
            if any(each in body for each in _spellings(wanted))
        )
        return next(held, None)

    def _check(
        self, target: ModelTarget, headers: Mapping[bytes, bytes], raw: bytes
    ) -> ChatRequest | Rejection:
        body: dict[str, Any] = {}
        try:
            body = json.loads(raw)
            if target.api is Api.OPENAI:
                body.setdefault("model", target.model)
            broken = _unsigned(target.api, headers) or _RULES[target.api](body, self.window)
            if broken is None or broken.rule in self.lenient:
                return _parse(target, body)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            code = "ValidationException" if target.api is Api.BEDROCK else None
            broken = Rejection("malformed", "We could not parse the JSON body of your request.", code=code)
        self.rejections.append(Rejected(target.api, broken.rule, broken.message, body))
        return broken


def _spellings(wanted: str | bytes) -> tuple[str, ...]:
    """A text as it stands in a body; a file's content in both alphabets of base64."""
    if isinstance(wanted, str):
        return (wanted,)
    plain = base64.b64encode(wanted).decode().rstrip("=")
    return plain, plain.replace("+", "-").replace("/", "_")


def _target(path: str) -> ModelTarget | None:
    if converse := _CONVERSE.fullmatch(path):
        return ModelTarget(
            Api.BEDROCK, unquote(converse["model"]), converse["operation"] == "converse-stream"
        )
    if deployment := _DEPLOYMENT.fullmatch(path):
        return ModelTarget(Api.OPENAI, deployment["model"], stream=False)
    if generate := _GENERATE.fullmatch(path):
        return ModelTarget(Api.GEMINI, generate["model"], generate["operation"] == "streamGenerateContent")
    if path.endswith("/v1/messages"):
        return ModelTarget(Api.ANTHROPIC, None, stream=False)
    if path.endswith("/v1/responses"):
        return ModelTarget(Api.RESPONSES, None, stream=False)
    if path.endswith("/chat/completions"):
        return ModelTarget(Api.OPENAI, None, stream=False)
    return None


def _must_be_offered(answer: Answer, request: ChatRequest) -> None:
    offered = {tool.name for tool in request.tools}
    called = {call.name for call in answer.calls} if isinstance(answer, Reply) else set()
    if called - offered:
        raise BrainError(f"The brain called {sorted(called)}, the request offers {sorted(offered)}.")


def _unsigned(api: Api, headers: Mapping[bytes, bytes]) -> Rejection | None:
    if headers.get(b"authorization", b"").strip() or any(headers.get(name) for name in _KEYS):
        return None
    if api is Api.BEDROCK:
        return Rejection(
            "unsigned", "Missing Authentication Token", status=403, code="MissingAuthenticationTokenException"
        )
    return Rejection("unsigned", "You didn't provide an API key.", status=401)


def _parse(target: ModelTarget, body: Mapping[str, Any]) -> ChatRequest:
    if target.api is Api.OPENAI:
        return openai_wire.parse(body)
    if target.api is Api.RESPONSES:
        return responses_wire.parse(body)
    if target.api is Api.ANTHROPIC:
        return anthropic_wire.parse(body)
    if target.api is Api.GEMINI:
        return gemini_wire.parse(body, target.model or "", stream=target.stream)
    return bedrock_wire.parse(body, target.model or "", stream=target.stream)


async def _read(receive: Receive) -> bytes | None:
    """The body of a request; `None` if the client disconnected before it was complete."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)
