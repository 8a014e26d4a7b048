"""Servers, models and accounts that are set up wrongly: one request, and a sentence that says what to change."""

from __future__ import annotations

import json

from tests.models.row import NOTHING, Row, Sent
from tests.models.setup_errors import SETUP_ERRORS, SetupError
from tests.models.table.responses import REASONING
from utils.llm.setup_errors import SETUP_MARKERS
from utils.llm.web_page import WEB_PAGE
from utils.testing.strict.servers import Server, refusal
from utils.testing.strict_provider import Fault

_SIGN_IN = "<!doctype html><html><body><form action='/login'>Sign in</form></body></html>"
_SENTENCES = {row.name: row.message for row in SETUP_MARKERS}


def sent(error: SetupError) -> Sent:
    """The refusal as it is sent."""
    if error.server is Server.BEDROCK:
        kind = "ResourceNotFoundException" if error.status == 404 else "ValidationException"
        return Fault.refusing(error.message, error.status, kind)
    return refusal(
        error.json if isinstance(error.json, str) else json.loads(json.dumps(error.json)), error.status
    )


ROWS = [
    *(
        Row(
            f"set up wrongly: {error.row}",
            error.server,
            [sent(error)] * 3,
            text="",
            state="failed",
            code="invalid_request",
            sentence=_SENTENCES[error.row],
            requests=1,
        )
        for error in SETUP_ERRORS
    ),
    *(
        Row(
            f"a web page in place of an answer{', Responses API' if settings else ''}",
            server,
            [refusal(_SIGN_IN, 200)] * 3,
            text="",
            state="failed",
            code="invalid_request",
            sentence=WEB_PAGE,
            requests=1,
            settings=settings,
        )
        for server, settings in [*((server, NOTHING) for server in Server), (Server.OPENAI, REASONING)]
    ),
]
