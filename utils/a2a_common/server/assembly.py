"""Engine, push sender and handler of an agent, put together by its settings."""

from __future__ import annotations

from dataclasses import dataclass

from a2a.server.request_handlers import RequestHandler

from utils.a2a_common.engine.caller_quota import CallerQuota
from utils.a2a_common.engine.local import LocalEngine
from utils.a2a_common.engine.turn_engine import MIN_STOP_SECONDS, TurnEngine
from utils.a2a_common.engine.turn_runner import TurnRunner
from utils.a2a_common.handler.callers import CallerLimits
from utils.a2a_common.handler.disk_room import DiskRoom
from utils.a2a_common.handler.handler_parts import HandlerParts
from utils.a2a_common.handler.request_handler import PlatformRequestHandler
from utils.a2a_common.handler.webhooks import Webhooks
from utils.a2a_common.server.agent_service import AgentService
from utils.a2a_common.server.conversations import Conversations
from utils.a2a_common.server.deletion import Deletion
from utils.a2a_common.server.push.delivery import PushPolicy
from utils.a2a_common.server.push.sender import PushSender
from utils.a2a_common.server.push.webhook_urls import url_rule
from utils.settings import ServerSettings

KNOWN_REQUESTS_PER_MINUTE = 1_200
KNOWN_OPEN_REQUESTS = 64
KNOWN_TURNS_MB = 16
"""The default limits of one caller where callers are authenticated."""


@dataclass(frozen=True)
class Parts:
    """The request handler of an application, and the parts that are started and stopped with it.

    Attributes:
        handler: Answers the operations of the protocol.
        engine: Runs the turns.
        push: Sends the events of tasks to webhooks.
        room: The free space of the disk.
    """

    handler: RequestHandler
    engine: TurnEngine
    push: PushSender
    room: DiskRoom


def assemble(service: AgentService, settings: ServerSettings) -> Parts:
    """Engine, push sender and handler over the log of a service."""
    engine = _engine(service, settings)
    policy = PushPolicy(allow_private=settings.push_allow_private)
    push = PushSender(service.log, service.push_configs, policy, engine.has_turn)
    service.log.on_claim = push.follow
    room = DiskRoom(service.free_bytes, settings.disk_reserve_mb * 1024**2)
    rule = url_rule(allow_private=settings.push_allow_private)
    needs = HandlerParts(
        log=service.log,
        engine=engine,
        webhooks=Webhooks(service.log, service.push_configs, push, rule),
        card=service.card,
        extended_card=service.extended_card,
        pending_input=service.pending_input,
        takes_files=service.takes_files,
        consent=service.consent,
        answers=[*_conversations(service, engine), *service.message_answers],
        preparation=service.preparation,
        limits=_limits(service, settings),
        room=room,
    )
    return Parts(PlatformRequestHandler(needs), engine, push, room)


def _limits(service: AgentService, settings: ServerSettings) -> CallerLimits:
    """The limits per caller. Without authentication all callers count as one, and only limits that are set apply."""
    known = service.authenticator is not None
    usual = (KNOWN_REQUESTS_PER_MINUTE, KNOWN_OPEN_REQUESTS) if known else (0, 0)
    asked = (settings.caller_requests_per_minute, settings.caller_open_requests)
    per_minute, at_once = (
        default if value is None else value for value, default in zip(asked, usual, strict=True)
    )
    return CallerLimits(per_minute, at_once)


def _conversations(service: AgentService, engine: TurnEngine) -> list[Conversations]:
    if service.deletion is None:
        return []
    deletion = Deletion(service.deletion, service.log, service.push_configs)
    return [Conversations(service.log, engine, deletion, service.deletion.titles)]


def _engine(service: AgentService, settings: ServerSettings) -> TurnEngine:
    stop_seconds = max(MIN_STOP_SECONDS, settings.shutdown_grace_seconds)
    runner = TurnRunner(service.executor, service.log, stop_seconds=stop_seconds)
    known = service.authenticator is not None
    turns = None if known and settings.caller_turns is None else settings.caller_turns or 0
    mebibytes = settings.caller_turns_mb
    size = (KNOWN_TURNS_MB if known else 0) if mebibytes is None else mebibytes
    fair = known if settings.fair_turns is None else settings.fair_turns
    quota = CallerQuota(turns, size * 1024**2)
    lines = {"max_turns": settings.max_concurrent_turns, "max_waiting": settings.max_waiting_turns}
    if service.queue is None:
        return LocalEngine(
            service.log, service.runs, runner, caller_quota=quota, fair=fair, hold=service.hold, **lines
        )
    from utils.a2a_common.engine.distributed import DistributedEngine

    engine = DistributedEngine(
        service.log, service.runs, runner, service.queue, caller_quota=quota, fair=fair, **lines
    )
    service.log.other_replicas.has_turn = engine.has_turn
    return engine
