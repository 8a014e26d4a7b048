"""The JSON of an answer of GitHub, or of what answers in its place. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from utils.messages.characters import repaired_json

if TYPE_CHECKING:
    from githubkit import Response


def json_body(response: Response[Any]) -> Any:
    """What the body holds; half a character, escaped or as bytes, which could be neither stored nor sent on, is U+FFFD in it.

    Raises:
        ValueError: It is no JSON, or is nested too deeply.
    """
    body = repaired_json(response.content)
    try:
        return json.loads(body.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
