"""Whose conversations at an agent behind the supervisor go to a person: what the supervisor asked for others stays."""

from __future__ import annotations

import pytest

from utils.a2a_common.server.commands.adopt import heirs_at
from utils.persistence.adoption import ContextsElsewhere

KNOWN = ContextsElsewhere({"github": ["theirs"]}, {"github": ["another's"]})


@pytest.mark.parametrize(
    ("tenant", "elsewhere", "expected"),
    [
        ("", None, {'["", ""]': ["theirs", "another's", "asked directly"]}),
        ("", KNOWN, {'["", ""]': ["theirs", "asked directly"]}),
        ("acme", None, {'["acme", ""]': ["theirs", "another's", "asked directly"]}),
        ("acme", KNOWN, {'["acme", ""]': ["theirs", "asked directly"], '["", ""]': ["theirs"]}),
        (
            "acme",
            ContextsElsewhere({"rag": ["theirs"]}, {}),
            {'["acme", ""]': ["theirs", "another's", "asked directly"]},
        ),
    ],
)
def test_what_the_supervisor_asked_for_others_stays(
    tenant: str, elsewhere: ContextsElsewhere | None, expected: dict[str, list[str]]
) -> None:
    heirs = heirs_at("github", "issuer ann", tenant, elsewhere)
    contexts = ["theirs", "another's", "asked directly"]
    assert {heir.before: [each for each in contexts if heir.gets(each)] for heir in heirs} == expected
