"""Secrets of every form stay out of the log, and what is no secret stays in."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator

import anyio
import pytest
import structlog
from mcp import ClientSession
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage
from pydantic import BaseModel, ValidationError

from utils.observability.logging import configure_logging
from utils.observability.redaction import REDACTED, redact, redact_text, secrets_of
from utils.observability.settings import LogSettings

Lines = Callable[[], list[dict[str, object]]]

SECRETS = {
    "GitHub token": "ghp_abcdefghijklmnopqrstuvwxyz012345",
    "GitHub server token": "ghs_abcdefghijklmnop",
    "GitHub fine-grained": "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
    "GitLab": "glpat-abcdefghij0123456789",
    "OpenAI": "sk-proj-abcdefghijklmnopqrstuvwxyz",
    "Anthropic": "sk-ant-api03-abcdefghijklmnop",
    "Stripe": "sk_live_abcdefghij0123456789",
    "AWS key id": "AKIAIOSFODNN7EXAMPLE",
    "AWS session key id": "ASIAIOSFODNN7EXAMPLE",
    "Google": "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "Slack": "xoxb-123456789012-abcdefghijkl",
    "npm": "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "Hugging Face": "hf_abcdefghijklmnopqrstuvwxyz",
    "PyPI": "pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3",
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----",
}

AROUND = {
    "bearer": ("Authorization: Bearer {}", "dGhpcyBpcyBhIHRva2Vu"),
    "basic": ("authorization: Basic {}", "dXNlcjpwYXNzd29yZA=="),
    "URL": ("postgresql://{}@db:5432/x", "admin:hunter22"),
    "URL without a user": ("redis://{}@cache:6379", ":hunter22"),
    "query": ("GET /x?access_token={}&page=2", "abcdef123456"),
    "signature": ("https://s3/x?X-Amz-Signature={}", "0123456789abcdef"),
    "assignment": ("password={}", "hunter22"),
    "JSON": ('{{"api_key": "{}"}}', "hunter22"),
    "YAML": ("client_secret: {}", "hunter22"),
    "environment": ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    "cookie": ("Cookie: {}", "session=abcdef"),
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("frame", ["{}", "refused {} for this", '{{"x": "{}"}}', "a={}&b=1"])
def test_a_secret_of_a_known_form_is_hidden_wherever_it_stands(secret: str, frame: str) -> None:
    hidden = redact_text(frame.format(secret))
    assert secret not in hidden
    assert REDACTED in hidden


@pytest.mark.parametrize(("frame", "secret"), AROUND.values(), ids=AROUND)
def test_a_secret_is_hidden_by_what_stands_around_it(frame: str, secret: str) -> None:
    hidden = redact_text(frame.format(secret))
    assert secret not in hidden
    assert REDACTED in hidden


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=4096, input tokens: 1200",
        "https://api.github.com:443/repos/octocat/hello-world",
        "tool search_code of the task sk-1",
        "the key of the answer is here",
        "2026-11-22T00:00:00Z commit 3f2a9c1d",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_text(text) == text


def test_values_under_telling_names_are_hidden_at_any_depth() -> None:
    value = {"a": [{"api_key": "x", "deep": {"Set-Cookie": "y", "github_token": "z", "tokens": 3}}]}
    deep = {"Set-Cookie": REDACTED, "github_token": REDACTED, "tokens": 3}
    assert redact(value) == {"a": [{"api_key": REDACTED, "deep": deep}]}


def test_an_objects_own_text_is_redacted_too() -> None:
    class Client:
        def __repr__(self) -> str:
            return "Client(key=sk-abcdefghijklmnopqrst)"

    assert redact({"client": Client()}) == {"client": f"Client(key={REDACTED})"}


def test_hostile_text_is_redacted_quickly() -> None:
    for text in (
        "password" * 50_000,
        "://" + "a:" * 100_000,
        "input_value=" * 20_000,
        "eyJ" + "a." * 100_000,
    ):
        redact_text(text)  # the time limit of the test run judges


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Lines]:
    """Logs as a process would, and reads what it wrote."""
    root, written = logging.getLogger(), io.StringIO()
    before, level = root.handlers[:], root.level
    configured = structlog.get_config()  # the defaults would draw every exception with all local values
    monkeypatch.setattr("sys.stderr", written)
    environ = {"GITHUB_TOKEN": "an-odd-form-of-token", "LLM_MODEL": "gpt-4o", "DB_PASSWORD": "short"}
    configure_logging(LogSettings.load({"LOG_FORMAT": "json"}), agent="test", environ=environ)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    root.handlers[:], root.level = before, level
    logging.captureWarnings(capture=False)
    structlog.configure(**configured)
    structlog.contextvars.clear_contextvars()


def test_the_settings_own_secrets_are_hidden_whatever_their_form(lines: Lines) -> None:
    structlog.get_logger("test").warning("x", text="sent an-odd-form-of-token to gpt-4o, in short")
    (line,) = lines()
    assert line["text"] == f"sent {REDACTED} to gpt-4o, in short"
    assert line["agent"] == "test"


def test_only_settings_with_telling_names_and_long_values_count_as_secrets() -> None:
    assert secrets_of({"A_TOKEN": "0123456789", "B_SECRET": "x", "MODEL": "0123456789a"}) == ("0123456789",)


def test_tracebacks_are_redacted_ours_and_those_of_other_libraries(lines: Lines) -> None:
    try:
        raise ValueError("refused key sk-abcdefghijklmnopqrstuvwxyz")
    except ValueError:
        structlog.get_logger("test").exception("ours")
        logging.getLogger("uvicorn.error").exception("theirs")
    ours, theirs = lines()
    for line in (ours, theirs):
        assert "Traceback" in str(line["exception"])
        assert REDACTED in str(line["exception"])
        assert "sk-abc" not in json.dumps(line)


def test_an_input_that_a_validation_error_quotes_is_hidden(lines: Lines) -> None:
    class Model(BaseModel):
        number: int

    said = {"number": "my private words"}
    try:
        Model.model_validate(said)
    except ValidationError:
        structlog.get_logger("test").exception("wrong")
    assert "private words" not in json.dumps(lines())


async def test_a_message_that_the_mcp_package_does_not_accept_is_not_quoted(lines: Lines) -> None:
    private = "my private words"
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](4)
    outgoing, _from_session = anyio.create_memory_object_stream[SessionMessage](4)
    said: list[dict[str, object]] = [
        {"method": "notifications/progress", "params": {"x": private}},
        {"id": 1, "method": private},
        {"id": private, "result": {}},
    ]
    async with to_session, outgoing, _from_session, ClientSession(incoming, outgoing):
        for each in said:
            message = JSONRPCMessage.model_validate({"jsonrpc": "2.0", **each})
            await to_session.send(SessionMessage(message))
        await _from_session.receive()  # the refusal of the second
        await anyio.wait_all_tasks_blocked()
    logging.getLogger("mcp.client.streamable_http").warning(private)
    logging.getLogger().warning("a line of another package")
    assert [line["event"] for line in lines()] == ["a line of another package"]


def test_the_password_in_an_address_is_a_secret_as_it_is_written_and_as_it_is_meant() -> None:
    environ = {"DATABASE_URL": "postgresql://ann:long%40secret@host:5432/x", "DOCS": "http://host:80/a"}
    assert set(secrets_of(environ)) == {"long%40secret", "long@secret"}
    assert (
        redact_text("login with long@secret failed", secrets_of(environ)) == f"login with {REDACTED} failed"
    )
