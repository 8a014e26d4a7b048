"""The reason why an answer cannot be read names the field and what is wrong with it, and never holds much of the answer."""

from __future__ import annotations

import pytest
from a2a.compat.v0_3 import types
from a2a.types.a2a_pb2 import StreamResponse, Task
from a2a.utils.proto_utils import parse_lenient
from structlog.testing import capture_logs

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.teams import model, results, supervising
from tests.unit.client.test_unreadable import (
    BEGUN,
    COMPLETED,
    UNWRAPPED,
    WRONG_FILE,
    Speaker,
    speaking,
    task_of,
)
from utils.a2a_common.client.transport.errors import UnusableAnswer, typed_errors
from utils.a2a_common.client.transport.unread_reason import LONGEST_REASON
from utils.testing.scripted_model import call, calls


def _reason(answer: object, message: Task | StreamResponse) -> str:
    with pytest.raises(UnusableAnswer) as caught, typed_errors():
        parse_lenient(answer, message)  # type: ignore[arg-type]
    return caught.value.reason


def test_a_field_is_named_with_its_path() -> None:
    wrong = {"statusUpdate": {"status": {"timestamp": "soon"}}}
    told = "status.timestamp: Failed to parse timestamp: missing valid timezone offset."
    assert _reason(wrong, StreamResponse()) == told.removesuffix(".")
    assert _reason({"id": []}, Task()) == "id: expected string or bytes-like object, got 'list'"


def test_a_field_of_protocol_0_3_is_named_as_well() -> None:
    with pytest.raises(UnusableAnswer) as caught, typed_errors():
        types.Task.model_validate({"id": "x", "contextId": 5, "status": {"state": "working"}})
    assert caught.value.reason == "contextId: Input should be a valid string"


def test_what_it_quotes_of_the_answer_is_cut_and_shown_as_it_is() -> None:
    reason = _reason({"artifacts": {"a\u200b": "x" * 5_000}}, Task())
    assert reason.startswith("artifacts: repeated field artifacts must be in []")
    assert len(reason) <= LONGEST_REASON
    assert "\u200b" not in reason


@pytest.mark.listens
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
async def test_the_user_and_the_log_are_told_the_reason() -> None:
    supervisor = model([calls(call("odd", request="Dig")), "It said something odd."])
    async with (
        speaking(Speaker([BEGUN], [task_of("COMPLETED") | {"artifacts": [WRONG_FILE]}])) as address,
        supervising({"odd": address}, supervisor) as url,
        connected(url) as client,
    ):
        with capture_logs() as logs:
            await ask(client, "Dig")
    reason = "artifacts.parts.raw: object of type 'int' has no len()"
    assert f'What is wrong: \\"{reason}\\"' in results(supervisor, 1)[0]
    assert [each["detail"] for each in logs if each["event"] == "delegation.refused"] == [reason]


@pytest.mark.listens
@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
async def test_the_log_tells_of_an_element_that_was_not_read_where_the_task_held_the_answer() -> None:
    supervisor = model([calls(call("odd", request="Dig")), "Done."])
    agent = Speaker([BEGUN, *UNWRAPPED, COMPLETED], [task_of("COMPLETED", "", "the answer")])
    async with (
        speaking(agent) as address,
        supervising({"odd": address}, supervisor) as url,
        connected(url) as client,
    ):
        with capture_logs() as logs:
            await ask(client, "Dig")
    assert "the answer" in results(supervisor, 1)[0]
    assert [each["agent"] for each in logs if each["event"] == "delegation.unread"] == ["odd"]
