"""The JSON of answers, however it is written."""

from __future__ import annotations

import httpx
import pytest
from githubkit import Response

from agents.github.json_body import json_body


def answer(body: bytes) -> Response[dict[str, str]]:
    return Response(httpx.Response(200, content=body), dict[str, str])


def test_half_a_character_is_replaced_so_that_the_answer_can_be_stored_and_sent_on() -> None:
    assert json_body(answer(rb'{"title": "cut \ud83d, whole \ud83d\ude00"}')) == {
        "title": "cut \ufffd, whole \U0001f600"
    }
    told = json_body(answer(b'{"title": "cut \xed\xa0\xbd"}'))
    assert told["title"].encode() == "cut \ufffd\ufffd\ufffd".encode()


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 100_000, b'{"number": ' + b"9" * 5_000 + b"}"])
def test_what_is_no_json_or_too_deep_or_too_large_a_number_is_one_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json_body(answer(body))
