"""`doctor` finds an identity provider that does not answer."""

from __future__ import annotations

import pytest

from multi_agents.cli.issuers_check import SILENT, check_issuers
from tests.e2e.auth.provider import provider

pytestmark = pytest.mark.listens


async def test_a_provider_that_answers_is_told_with_the_number_of_its_keys_and_one_that_does_not_is_wrong() -> (
    None
):
    async with provider() as idp:
        environ = {"AUTH_MODE": "oidc", "AUTH_ISSUERS": f"{idp.issuer()},http://127.0.0.1:9"}
        up, down = await check_issuers(environ)
        assert (up.level, up.check) == ("ok", "callers")
        assert up.message.startswith(f"{idp.issuer()} answers, with ")
        assert (down.level, down.message) == ("wrong", SILENT.format(issuer="http://127.0.0.1:9"))


async def test_nothing_is_said_where_callers_are_known_in_another_way() -> None:
    assert await check_issuers({"AUTH_MODE": "api-key"}) == []
