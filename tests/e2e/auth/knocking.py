"""Knocks at every door with every credential, and tells what was wrong with the answers."""

from __future__ import annotations

from structlog.testing import capture_logs

from tests.e2e.auth.bindings import BINDINGS, Answered, Door
from tests.e2e.auth.cases import Case, Sent, bearer, cases
from tests.e2e.auth.house import House
from utils.auth.service_tokens import Signer


def wrong(case: Case, binding: str, sent: Sent, answered: Answered, logged: list[dict[str, object]]) -> str:
    """What is wrong with an answer; empty where nothing is."""
    if answered.status != case.status:
        return f"answered {answered.status}: {answered.body[:200]}"
    if binding != "gRPC" and case.status == 401 and 'Bearer resource_metadata="' not in answered.challenge:
        return f"challenge {answered.challenge!r}"
    refused = [entry for entry in logged if entry["event"] == "auth.refused"]
    if len(refused) != 1 and not (binding == "gRPC" and case.number == "35"):
        return f"{len(refused)} lines in the log"
    tokens = [value.split()[-1] for name, value in sent.headers if len(value.split()) > 1]
    if any(token in str(logged) or token in answered.body for token in tokens):
        return "the token is told"
    return ""


async def failures_of(it: House) -> tuple[int, list[str]]:
    """How many requests were made, and what was wrong with which."""
    made = 0
    failures: list[str] = []
    bodies: dict[str, set[str]] = {}
    for case in cases(it.service_key):
        for door in it.doors:
            for binding in BINDINGS:
                if binding == "gRPC" and case.only_http:
                    continue
                sent = case.make(it.provider, door.agent)
                with capture_logs() as logged:
                    answered = await door.knock(binding, sent, it.http)
                made += 1
                problem = wrong(case, binding, sent, answered, list(map(dict, logged)))
                if problem:
                    failures.append(f"{case.number} {case.name} at {door.agent} over {binding}: {problem}")
                if case.status == 401:
                    bodies.setdefault(binding, set()).add(answered.body)
    failures += [
        f"{len(said)} bodies over {binding}: {said}" for binding, said in bodies.items() if len(said) > 1
    ]
    return made, failures


async def replayed(it: House, door: Door, binding: str) -> list[int]:
    token = Signer(it.service_key, "platform-engineer").token(door.agent, "conversation")
    return [(await door.knock(binding, bearer(token), it.http)).status for _ in range(2)]


async def knocked(it: House) -> tuple[int, list[str]]:
    """All refusals, and beside them at each door what is let in: a good token, and a service token once."""
    made, failures = await failures_of(it)
    for door in it.doors:
        for binding in BINDINGS:
            good = await door.knock(binding, bearer(it.provider.token(door.agent)), it.http)
            if good.status != 200 or "error" in good.body:
                failures.append(f"a good token at {door.agent} over {binding}: {good}")
            if await replayed(it, door, binding) != [200, 401]:
                failures.append(f"38 a service token used twice at {door.agent} over {binding}")
            made += 3
    return made, failures
