"""The keys of a provider: kept, asked for again, and taken for a while when it does not answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.e2e.auth.keys import rsa_key
from tests.e2e.auth.provider import GOOD, Provider, provider
from tests.support.clock import Clock
from utils.auth.api_keys import KeyFile
from utils.auth.authenticator import UNCHECKED, Authenticator
from utils.auth.jwks import FRESH_SECONDS, RETRY_SECONDS, STALE_SECONDS
from utils.auth.refusal import AuthRefused, RefusalReason
from utils.auth.service_tokens import ServiceTokens, new_private_key
from utils.auth.settings import AuthSettings

pytestmark = pytest.mark.listens


@asynccontextmanager
async def knowing(home: Path) -> AsyncIterator[tuple[Provider, Authenticator, Clock]]:
    """A provider and what knows its callers."""
    async with provider() as idp:
        settings = AuthSettings.load({"AUTH_MODE": "oidc", "AUTH_ISSUERS": idp.issuers})
        clock = Clock()
        service = ServiceTokens(new_private_key(), "desk", 30)
        keys = KeyFile(home / "keys.json")
        yield idp, Authenticator("desk", settings, service=service, keys=keys, ticks=clock), clock


async def why(authenticator: Authenticator, token: str) -> RefusalReason | None:
    """Why a token is refused; `None` where it is taken."""
    try:
        await authenticator.caller([f"Bearer {token}"])
    except AuthRefused as error:
        return error.why
    return None


async def test_a_new_key_is_found_and_one_that_was_taken_away_is_refused(tmp_path: Path) -> None:
    async with knowing(tmp_path) as (idp, known, clock):
        old, new = idp.token("desk"), rsa_key("rsa-2")
        assert await why(known, old) is None
        idp.keys[GOOD] = [new]
        assert await why(known, idp.token("desk", key=new)) is None, "an unknown key is looked for at once"
        assert await why(known, old) is RefusalReason.UNKNOWN_KEY
        assert idp.reads[GOOD] == 2
        clock.now += FRESH_SECONDS + 1
        assert await why(known, idp.token("desk", key=new)) is None
        assert idp.reads[GOOD] == 3


async def test_tokens_with_unknown_keys_ask_the_provider_once_a_minute(tmp_path: Path) -> None:
    async with knowing(tmp_path) as (idp, known, clock):
        for number in range(20):
            forged = idp.token("desk", header={"kid": f"unknown-{number}"})
            assert await why(known, forged) is RefusalReason.UNKNOWN_KEY
        assert idp.reads[GOOD] == 2
        clock.now += RETRY_SECONDS
        await why(known, idp.token("desk", header={"kid": "unknown"}))
        assert idp.reads[GOOD] == 3


async def test_known_keys_are_taken_for_an_hour_while_the_provider_is_out(tmp_path: Path) -> None:
    async with knowing(tmp_path) as (idp, known, clock):
        token = idp.token("desk")
        assert await why(known, token) is None
        idp.out = True
        clock.now += STALE_SECONDS - 1
        assert await why(known, token) is None
        clock.now += 2
        assert await why(known, token) is RefusalReason.KEYS_UNAVAILABLE
        idp.out = False
        clock.now += RETRY_SECONDS
        assert await why(known, token) is None


async def test_a_new_key_that_cannot_be_read_yet_is_not_taken_for_a_wrong_one(tmp_path: Path) -> None:
    async with knowing(tmp_path) as (idp, known, clock):
        old, new = idp.token("desk"), rsa_key("rsa-2")
        assert await why(known, old) is None
        idp.out = True
        clock.now += FRESH_SECONDS + 1
        assert await why(known, idp.token("desk", key=new)) is RefusalReason.KEYS_UNAVAILABLE
        assert known.trouble == UNCHECKED
        assert await why(known, old) is None
        idp.out, idp.keys[GOOD] = False, [new]
        clock.now += RETRY_SECONDS
        assert await why(known, old) is RefusalReason.UNKNOWN_KEY
        assert known.trouble == "", "the provider was read, whatever it says of a token"


async def test_a_provider_with_one_key_need_not_name_it(tmp_path: Path) -> None:
    async with knowing(tmp_path) as (idp, known, _):
        assert await why(known, idp.token("desk", issued_by="single", header={"kid": None})) is None


@pytest.mark.parametrize("number", [0, 1, 2])
async def test_tokens_of_each_kind_of_key_are_taken(tmp_path: Path, number: int) -> None:
    async with knowing(tmp_path) as (idp, known, _):
        caller = await known.caller([f"bearer {idp.token('desk', key=idp.keys[GOOD][number])}"])
        assert caller.name == f"{idp.issuer()} ann"
