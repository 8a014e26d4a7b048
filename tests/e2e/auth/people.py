"""People and programs that an agent knows, each with a task that runs, one that waits, and a secret that they told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

from a2a.client import Client
from a2a.client.client import ClientCallContext
from a2a.types import a2a_pb2 as pb

from tests.e2e.agents.peers import Keys
from tests.e2e.auth.provider import OTHER, Provider
from tests.e2e.wire.ways import asking
from utils.a2a_common.protocol.request import AgentRequest
from utils.auth.service_tokens import Signer
from utils.events import AgentEvent, Completed, InputRequired, TextDelta

WAITS, RUNS = "wait", "run"


class Desk(Keys):
    """Asks something, or works until it may end."""

    name = "desk"
    go = asyncio.Event()

    async def stream(self, request: AgentRequest) -> AsyncGenerator[AgentEvent, None]:
        if request.resumes:
            yield TextDelta(f"You chose {request.text}.")
        elif request.text.startswith(WAITS):
            yield InputRequired("Which one?", self.name)
            return
        elif request.text.startswith(RUNS):
            yield TextDelta("Begun. ")
            await Desk.go.wait()
        yield Completed()


@dataclass
class Person:
    """Somebody whom the agent knows.

    Attributes:
        name: What the test calls them.
        token: A credential for one request.
        waiting: Their task that waits for an answer.
        running: Their task that runs.
        begun: All tasks that are theirs.
    """

    name: str
    token: Callable[[], str]
    waiting: pb.Task = field(default_factory=pb.Task)
    running: pb.Task = field(default_factory=pb.Task)
    begun: set[str] = field(default_factory=set)

    @property
    def secret(self) -> str:
        """What nobody else may read."""
        return f"the secret of [{self.name}]"

    @property
    def webhook(self) -> str:
        """The id of the webhook of their waiting task."""
        return f"hook of {self.name}"

    def message_id(self, kind: str) -> str:
        """The id of the message that their task began with."""
        return f"{kind} of {self.name}"

    def proof(self) -> ClientCallContext:
        """What goes along with one request."""
        return ClientCallContext(service_parameters={"Authorization": f"Bearer {self.token()}"})

    async def begin(self, client: Client, webhook: str) -> None:
        """Begin their tasks."""
        for kind in (WAITS, RUNS):
            request = asking(f"{kind} with {self.secret}")
            request.message.message_id = self.message_id(kind)
            async for event in client.send_message(request, context=self.proof()):
                task = event.task if event.HasField("task") else None
                if task is not None:
                    self.begun.add(task.id)
                    setattr(self, "waiting" if kind == WAITS else "running", task)
                if kind == RUNS and event.HasField("artifact_update"):
                    break
        hook = pb.TaskPushNotificationConfig(task_id=self.waiting.id, id=self.webhook, url=webhook)
        await client.create_task_push_notification_config(hook, context=self.proof())


def everybody(idp: Provider, service_key: dict[str, Any]) -> list[Person]:
    """Two users of two tenants, one of another provider, an administrator, a program, and our supervisor for two of them."""
    signer = Signer(service_key, "platform-engineer")

    def known(name: str, sub: str, **claims: Any) -> Person:
        return Person(name, lambda: idp.token(Desk.name, sub=sub, **claims))

    return [
        known("ann", "ann"),
        known("bob", "bob"),
        known("ann of another tenant", "ann", tenant="other"),
        known("bob of another tenant", "bob", tenant="other"),
        known("ann of another provider", "ann", issued_by=OTHER),
        known("an administrator", "root"),
        known("a program", "robot", client_id="robot"),
        Person(
            "the supervisor for ann",
            lambda: signer.token(Desk.name, f"{idp.issuer()} ann", tenant="acme"),
        ),
        Person(
            "the supervisor for bob",
            lambda: signer.token(Desk.name, f"{idp.issuer()} bob", tenant="acme"),
        ),
    ]
