"""The parts of one agent's request handler."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from a2a.server.id_generator import IDGenerator, UUIDGenerator
from a2a.types import a2a_pb2 as pb

from utils.a2a_common.engine.turn_engine import TurnEngine
from utils.a2a_common.handler.callers import CallerLimits
from utils.a2a_common.handler.consent import Consent
from utils.a2a_common.handler.disk_room import DiskRoom
from utils.a2a_common.handler.pending_input import PendingInputPolicy
from utils.a2a_common.handler.webhooks import Webhooks
from utils.a2a_common.protocol.before_turn import MessageAnswers, Preparation
from utils.a2a_common.tasks.log import TaskLog


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerParts:
    """The parts of one agent's handler; without state of a request.

    Attributes:
        log: The tasks.
        engine: Runs the turns.
        webhooks: Their push notification configurations.
        card: The public card.
        pending_input: The policy for tasks that wait for their user.
        extended_card: What authenticated callers see.
        consent: Decides who may approve.
        answers: Answer messages of extensions, such as those that ask for conversations.
        preparation: What the agent does about a message before its turn begins.
        takes_files: Whether the agent reads parts that are neither text nor JSON objects.
        limits: What one caller may ask for; anything when omitted.
        room: How much room there is to store a message; any when omitted.
        ids: Makes the ids of new conversations.
        clock: Seconds since 1970.
    """

    log: TaskLog
    engine: TurnEngine
    webhooks: Webhooks
    card: pb.AgentCard
    pending_input: PendingInputPolicy
    extended_card: pb.AgentCard | None = None
    consent: Consent = field(default_factory=Consent)
    answers: Sequence[MessageAnswers] = ()
    preparation: Preparation | None = None
    takes_files: bool = False
    limits: CallerLimits = field(default_factory=CallerLimits)
    room: DiskRoom = field(default_factory=DiskRoom)
    ids: IDGenerator = field(default_factory=UUIDGenerator)
    clock: Callable[[], float] = time.time
