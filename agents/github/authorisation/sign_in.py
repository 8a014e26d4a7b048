"""Gets the authorisation of the user who asks for a change: the stored one, or a new one by the device flow at GitHub.

A tool runs again from its beginning with each answer of the user, and the answers come in the order of its questions. So
the number of questions is stored, and they are asked again first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog

from agents.github.authorisation.grant import Grant, SignIn, Unreadable
from utils.auth.device_flow import (
    DeviceCode,
    DeviceFlow,
    FlowRefused,
    FlowUnavailable,
    TokenErrorCode,
    slower,
)
from utils.errors import UpstreamRefused, UpstreamUnavailable
from utils.messages.question import Question

if TYPE_CHECKING:
    from agents.github.authorisation.store import Grants
    from agents.github.settings import GitHubSettings

log = structlog.get_logger(__name__)

Ask = Callable[[dict[str, Any]], Any]
"""Asks the user and returns the answer: LangGraph's `interrupt`, which ends the run until there is one."""

LOOKS = 4
"""How often GitHub is asked after an answer, since people answer a little before they have finished there."""
_LONGEST_WAIT = 10.0
_KEPT_PUBLIC = "https://github.com"
_PUBLIC_API = "https://api.github.com"

UNREACHABLE = "Nothing was sent: GitHub's sign-in cannot be reached. Try again later."
DENIED = "Nothing was sent: the authorisation was refused at GitHub."
NOT_TAKEN = "Nothing was sent: GitHub does not take GITHUB_OAUTH_CLIENT_ID. An operator has to set it, and allow the device flow there."
UNREADABLE = (
    "Nothing was sent: the key with which this sign-in began has been removed. Ask for the change again."
)
NOBODY = "Nothing was sent: changes on GitHub are made in your name, and you are not logged in. Log in, or ask the operator to set AUTH_MODE."
_QUESTION = (
    "Changes on GitHub are made in your own name, so I need your authorisation. Open {url} , enter the code {code} , and then "
    'answer here, for example with "done". The code is for you alone and ends in {minutes} minutes.'
)
_KNOWN = "You have authorised me at GitHub. Answer here to go on."
_NOT_YET = "GitHub has not received your authorisation yet."
_ENDED = "Your code has expired."


@dataclass(frozen=True, slots=True)
class Asker:
    """For whom a change is made, and by which call.

    Attributes:
        owner: Key of the user's authorisation; empty for an unknown user.
        call: Key of the tool call.
        thread_id: The conversation.
    """

    owner: str
    call: str
    thread_id: str


class SignIns:
    """Gets the authorisations of users.

    Args:
        settings: Address of GitHub, and our client there.
        grants: The store.
    """

    def __init__(self, settings: GitHubSettings, grants: Grants) -> None:
        base = oauth_url(settings.api_url)
        client = settings.oauth_client_id or ""
        self._base, self._settings, self.grants = base, settings, grants
        self._flow = DeviceFlow(f"{base}/login/device/code", f"{base}/login/oauth/access_token", client)

    async def granted(self, asker: Asker, ask: Ask) -> Grant:
        """The user's authorisation; asks for it if there is none.

        Raises:
            UpstreamRefused: The user or GitHub refuses it.
            UpstreamUnavailable: GitHub cannot be reached.
        """
        if not asker.owner:
            raise UpstreamRefused(NOBODY)
        try:
            return await self._granted(asker, ask)
        except FlowUnavailable as error:
            raise UpstreamUnavailable(UNREACHABLE) from error

    async def forget(self, owner: str) -> bool:
        """Delete a user's authorisation; whether there was one."""
        return await self.grants.forget(owner)

    async def _granted(self, asker: Asker, ask: Ask) -> Grant:
        sign_in, why = await self._begun(asker), ""
        if sign_in.asked:
            again = _again(sign_in.code, known=await self._stored(asker.owner) is not None)
            for _ in range(sign_in.asked):
                ask(again.value())  # all but the last one were answered, and return at once
        while True:
            grant = await self._stored(asker.owner)
            if grant is None and sign_in.asked and sign_in.code is not None:
                grant, why = await self._fetched(asker.owner, sign_in.code)
                if grant is not None:
                    await self.grants.put(replace(sign_in, code=None))
            if grant is not None:
                return grant
            code = sign_in.code if why == _NOT_YET else None
            code = code or await self._code()
            sign_in = replace(sign_in, asked=sign_in.asked + 1, code=code)
            await self.grants.put(sign_in)
            ask(question_of(code, why).value())

    async def _begun(self, asker: Asker) -> SignIn:
        """The sign-in of the call. The number of its questions distinguishes their answers."""
        try:
            found = await self.grants.sign_in(asker.call)
        except Unreadable as error:
            raise UpstreamRefused(UNREADABLE) from error
        return found or SignIn(asker.call, asker.thread_id)

    async def _stored(self, owner: str) -> Grant | None:
        """The stored authorisation, renewed if it is about to expire; one that cannot be read or renewed is deleted."""
        try:
            grant = await self.grants.grant(owner)
            if grant is None or not grant.tokens.old(time.time()):
                return grant
            grant = replace(grant, tokens=await self._flow.renewed(grant.tokens))
        except (Unreadable, FlowRefused):
            await self.grants.forget(owner)
            log.info("github.authorisation_ended")
            return None
        await self.grants.keep(owner, grant)
        return grant

    async def _fetched(self, owner: str, code: DeviceCode) -> tuple[Grant | None, str]:
        """What the user has authorised, or why there is nothing yet."""
        pause = code.interval
        for look in range(LOOKS):
            if look:
                await asyncio.sleep(min(pause, _LONGEST_WAIT))
            try:
                tokens = await self._flow.tokens(code)
            except FlowRefused as error:
                match error.why:
                    case TokenErrorCode.PENDING:
                        continue
                    case TokenErrorCode.SLOW_DOWN:
                        pause = slower(code)
                        continue
                    case TokenErrorCode.DENIED:
                        raise UpstreamRefused(DENIED) from error
                    case TokenErrorCode.EXPIRED | TokenErrorCode.GRANT:
                        return None, _ENDED
                    case _:
                        raise UpstreamRefused(NOT_TAKEN) from error
            grant = Grant(tokens, await self._login(tokens.access))
            await self.grants.keep(owner, grant)
            log.info("github.authorised")
            return grant, ""
        return None, _NOT_YET

    async def _code(self) -> DeviceCode:
        try:
            code = await self._flow.begin(self._settings.oauth_scopes)
        except FlowRefused as error:
            raise UpstreamRefused(NOT_TAKEN) from error
        if urlsplit(code.url)[:2] != urlsplit(self._base)[:2]:
            raise FlowUnavailable  # no place where anybody should enter a code of GitHub
        return code

    async def _login(self, token: str) -> str:
        """Name of the account that a token is for."""
        from githubkit.exception import GitHubException

        from agents.github.connection import Connection

        connection = Connection(self._settings, token=token)
        try:
            found = (await connection.arequest("GET", "user")).json()
        except (GitHubException, ValueError) as error:
            raise FlowUnavailable from error
        finally:
            await connection.close()
        login = found.get("login") if isinstance(found, dict) else None
        if not isinstance(login, str) or not login:
            raise FlowUnavailable
        return login


def oauth_url(api_url: str) -> str:
    """Address of GitHub's sign-in for that of its API: the same host, but for github.com."""
    if api_url.rstrip("/") == _PUBLIC_API:
        return _KEPT_PUBLIC
    scheme, host, *_ = urlsplit(api_url)
    return f"{scheme}://{host}"


def _again(code: DeviceCode | None, *, known: bool) -> Question:
    """The last question once more: its answer may not have come, while the user has answered that of another call."""
    if known or code is None:
        return Question(_KNOWN, "github", auth=True)
    return question_of(code)


def question_of(code: DeviceCode, why: str = "") -> Question:
    """Where the user signs in, with which code."""
    minutes = max(1, round((code.expires_at - time.time()) / 60))
    asked = _QUESTION.format(url=code.url, code=code.user_code, minutes=minutes)
    form = {"url": code.url, "code": code.user_code}
    return Question(f"{why} {asked}".strip(), "github", form, auth=True)
