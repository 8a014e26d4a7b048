"""A traceback tells where it went wrong and what kind of error it was, and quotes nothing that a provider answered."""

from __future__ import annotations

from typing import Any

import httpx
import openai
import pytest
from botocore.exceptions import ClientError

from utils.errors import InvalidRequest
from utils.observability.tracebacks import HIDDEN, QUOTING, causes_of, without_quotes

WORDS = "my salary is zebra 9000"


def _raised(error: Exception, cause: Exception | None = None) -> str:
    try:
        raise error from cause
    except Exception as caught:
        return without_quotes((type(caught), caught, caught.__traceback__))


def _openai() -> openai.BadRequestError:
    body = {"message": f"[input_value='{WORDS}']", "code": "invalid_value", "param": "messages[1].content"}
    response: Any = httpx.Response(400, request=httpx.Request("POST", "http://x"), json={"error": body})
    return openai.BadRequestError(f"Error code: 400 - {body}", response=response, body=body)


def _bedrock() -> ClientError:
    return ClientError({"Error": {"Code": "ValidationException", "Message": WORDS}}, "Converse")


@pytest.mark.parametrize(
    ("error", "facts"),
    [
        (
            _openai(),
            "openai.BadRequestError: status 400, code invalid_value, parameter messages[1].content, ",
        ),
        (_bedrock(), "botocore.exceptions.ClientError: code ValidationException, "),
    ],
    ids=["openai", "bedrock"],
)
def test_of_a_providers_error_type_and_names_are_told_and_no_text(error: Exception, facts: str) -> None:
    for text in (_raised(error), _raised(InvalidRequest("Refused."), error)):
        assert f"{facts}{HIDDEN}" in text
        assert "zebra" not in text
        assert "in _raised" in text
    assert "Refused." in _raised(InvalidRequest("Refused."), error)


@pytest.mark.parametrize("package", sorted(QUOTING))
def test_every_package_of_a_provider_is_known_to_quote(package: str) -> None:
    kind = type("ServerError", (Exception,), {"__module__": f"{package}.errors"})
    assert "zebra" not in _raised(kind(WORDS))


def test_what_a_package_of_a_provider_raises_with_another_type_is_left_out_too() -> None:
    space: dict[str, object] = {"__name__": "langchain_openai.chat_models.base"}
    exec("def fail(text): raise ValueError(text)", space)
    with pytest.raises(ValueError, match="zebra") as caught:
        space["fail"](WORDS)  # type: ignore[operator]
    text = without_quotes((caught.type, caught.value, caught.tb))
    assert "zebra" not in text
    assert "ValueError" in text


def test_other_errors_are_told_as_python_tells_them_with_all_that_led_to_them() -> None:
    group = ExceptionGroup("two", [ValueError("one"), KeyError("other")])
    text = _raised(RuntimeError("outside"), group)
    for part in ("RuntimeError: outside", "direct cause", "ValueError: one", "KeyError: 'other'"):
        assert part in text


def test_an_error_that_is_its_own_context_ends() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__context__, second.__context__ = second, first
    assert without_quotes((ValueError, first, None)).count("ValueError") == 2


def test_the_causes_of_a_foreseen_error_are_one_short_line_each_and_quote_no_provider() -> None:
    try:
        try:
            raise ConnectionResetError(104, "reset by peer " * 100)
        except OSError as reset:
            raise _openai() from reset
    except openai.BadRequestError as refused:
        newest, provider, system = (
            causes_of(InvalidRequest("Refused.").with_traceback(None)),
            *causes_of(refused),
        )
    assert newest == ["utils.errors.InvalidRequest: Refused."]
    assert HIDDEN in provider
    assert "(in test_the_causes_of" in provider
    assert system.startswith("ConnectionResetError: [Errno 104] reset by peer")
    assert max(map(len, (provider, system))) < 420


def test_causes_that_lead_back_to_each_other_end() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert causes_of(first) == ["ValueError: a", "ValueError: b"]
