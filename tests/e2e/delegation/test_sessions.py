"""A gateway before another agent knows its callers by a session: nobody gets into the session of somebody else."""

from __future__ import annotations

import itertools

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.e2e.agents.peers import ask, connected
from tests.e2e.delegation.foreign import answering, foreign
from tests.e2e.delegation.teams import model, supervising
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


class Gateway:
    """Begins a session with each request that comes without one, and notes the sessions that requests are part of."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._numbers = app, itertools.count(1)
        self.asked: list[str] = []
        self.begun = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        cookie = dict(scope["headers"]).get(b"cookie", b"").decode()
        self.asked.append(cookie)

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and not cookie:
                self.begun += 1
                begins = (b"set-cookie", b"session=%d; Path=/; HttpOnly" % next(self._numbers))
                message = {**message, "headers": [*message["headers"], begins]}
            await send(message)

        await self._app(scope, receive, told)


async def test_requests_of_two_people_are_never_in_one_session_at_another_agent() -> None:
    gateways: list[Gateway] = []

    def behind(app: ASGIApp) -> ASGIApp:
        gateways.append(Gateway(app))
        return gateways[-1]

    script = [calls(call("vault", "c1", request="Show my secret")), "Shown."] * 2
    async with (
        foreign(answering("It is 7."), behind=behind) as vault,
        supervising({"vault": vault.url}, model(script)) as url,
    ):
        for _ in ("ann", "eve"):
            async with connected(url) as client:
                assert (await ask(client, "Show my secret")).text == "Shown."
    (gateway,) = gateways
    assert len(vault.messages) == 2
    assert set(gateway.asked) == {""}
    assert gateway.begun == len(gateway.asked) > 2
