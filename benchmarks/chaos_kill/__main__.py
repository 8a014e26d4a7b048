"""The run: `python -m benchmarks.chaos_kill STORE=sqlite N=300 SEED=1`. The last line counts; 1 where anything went wrong.

N: conversations. SEED: decides what happens in which. STORE: where the service keeps its state (sqlite, postgresql).
REPLICAS: processes of each agent, 2 with PostgreSQL and else 1; a client whose replica is gone goes to the other one.
KEEP=1 keeps the folder with data and logs, and prints where it is.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from uuid import uuid4

import httpx

from benchmarks.chaos_kill.deal import Turn, deal
from benchmarks.chaos_kill.killer import Killer
from benchmarks.chaos_kill.tally import Tally
from benchmarks.service.client import COMPLETED, OPEN, WAITING, Seen, Talk, http_client, tasks_in
from benchmarks.service.doors import GRPC, JSONRPC, REST, Door, GrpcDoor, RestDoor, RpcDoor
from benchmarks.service.failover import Failover
from benchmarks.service.gate import Gate, open_gate
from benchmarks.service.processes import Service, running_service
from benchmarks.service.script import ASK, SUPERVISOR, TOOLS, WORK
from benchmarks.service.store import STORES, stored_in

AT_ONCE = 4
SECRET_TRIES = 3
ANSWER_TRIES = 10
SETTLE_SECONDS = 60.0
PROGRESS_SHARES = 20


async def run(conversations: int, seed: int, folder: Path, replicas: int = 1) -> Tally:
    """All conversations, and what is left of them."""
    tally, dealt, gate = Tally(), deal(conversations, seed), Gate()
    turns = [turn for conversation in dealt for turn in conversation]
    async with (
        open_gate(gate),
        running_service(folder, gate, grpc=True, replicas=replicas) as service,
        http_client() as http,
    ):
        killer = Killer(service, gate, turns, tally, seed)
        gate.on_arrival = killer.arrive
        await _converse_all(http, service, dealt, tally, killer)
        await killer.finish()
        await _count_stuck(http, service, tally)
        tally.check_effects(service.effects())
        _count_remarks(gate, turns, set(service.effects()), tally)
    delegated = sum(turn.order.kind in TOOLS for turn in turns)
    wanted = {"supervisor": len(turns) + 2 * conversations + delegated, "worker": 2 * delegated}
    print(
        "model calls, beside those of a run without kills: "
        + ", ".join(f"{agent} {gate.asked[agent]} ({count})" for agent, count in wanted.items())
    )
    return tally


async def _converse_all(
    http: httpx.AsyncClient, service: Service, dealt: list[list[Turn]], tally: Tally, killer: Killer
) -> None:
    turnstile, done = asyncio.Semaphore(AT_ONCE), 0
    step = max(1, len(dealt) // PROGRESS_SHARES)

    async def one(number: int, turns: list[Turn]) -> None:
        nonlocal done
        async with turnstile:
            await _converse(Clients(http, service, number), number, turns, tally, killer)
        done += 1
        if done % step == 0:
            said = f"{done} of {len(dealt)} conversations, {tally.kills.total()} kills, {tally.wrong.total()} wrong"
            print(said, file=sys.stderr, flush=True)

    async with asyncio.TaskGroup() as group:
        for number, turns in enumerate(dealt):
            group.create_task(one(number, turns))


class Clients:
    """One client of each binding, which talk in the same context; each begins at another replica than the one before."""

    def __init__(self, http: httpx.AsyncClient, service: Service, number: int) -> None:
        supervisors = service.replicas[SUPERVISOR]
        doors: dict[str, list[Door]] = {
            JSONRPC: [RpcDoor(http, each.url) for each in supervisors],
            REST: [RestDoor(http, each.url) for each in supervisors],
            GRPC: [GrpcDoor(each.grpc) for each in supervisors],
        }
        context_id = str(uuid4())
        self._talks = {
            binding: Talk(http, "", context_id=context_id, door=Failover(replicas, number + at))
            for at, (binding, replicas) in enumerate(doors.items())
        }

    def by(self, binding: str) -> Talk:
        """The client of a binding."""
        return self._talks[binding]


async def _converse(clients: Clients, number: int, turns: list[Turn], tally: Tally, killer: Killer) -> None:
    await _ask_for_secret(clients.by(turns[0].binding), number, tally, f"Remember secret-{number}.")
    for turn in turns:
        talk = clients.by(turn.binding)
        killer.begin(turn)
        seen = await talk.send(turn.order.text, streamed=turn.streamed)
        if seen.state == WAITING and turn.order.kind == ASK:
            await killer.wait_for_user(turn)
            seen = await _answer(talk, turn, seen)
        tally.check(turn, seen)
    await _ask_for_secret(clients.by(turns[-1].binding), number, tally, "What is the secret?")


async def _answer(talk: Talk, turn: Turn, asked: Seen) -> Seen:
    """Answer the question, which is asked once more where a kill came before the answer was taken."""
    for _ in range(ANSWER_TRIES):
        seen = await talk.send("the blue one", streamed=turn.streamed, task_id=asked.task_id)
        if seen.state != WAITING:
            break
        await asyncio.sleep(1)
    return seen


async def _ask_for_secret(talk: Talk, number: int, tally: Tally, text: str) -> None:
    """Tell or ask for the secret; a turn that a kill fails is one wrong, the secret's loss another."""
    for _ in range(SECRET_TRIES):
        seen = await talk.send(text)
        if seen.state == COMPLETED:
            break
        tally.unfinished(seen, f"conversation {number}, {text!r}")
    if seen.stored.strip() != f"The secret is secret-{number}":
        tally.fault("lost", f"conversation {number}, {text!r}: {seen.stored!r}, {seen.said[:160]!r}")


async def _count_stuck(http: httpx.AsyncClient, service: Service, tally: Tally) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    for name, agent in service.agents.items():
        while left := sum([await tasks_in(http, agent.url, state) for state in OPEN if state]):
            if time.monotonic() > deadline:
                tally.fault("stuck", f"{left} tasks of {name} work on after all conversations", left)
                break
            await asyncio.sleep(0.2)


def _count_remarks(gate: Gate, turns: list[Turn], effects: set[str], tally: Tally) -> None:
    told_unknown = {key for key, remark in gate.remarks if remark.startswith("tool said")}
    for turn in turns:
        key = turn.order.key
        if turn.order.kind == WORK and key in tally.finished and key not in effects | told_unknown:
            tally.fault("lost", f"the effect of {key}, of which nobody was told that it is unknown")
    seen: Counter[str] = Counter()
    for (key, remark), times in gate.remarks.items():
        if remark.startswith("refused"):
            tally.fault("refused", remark, times)
        elif remark == "message doubled":
            tally.doubled(key, f"the message of {key} stands in its conversation twice")
        else:
            seen[remark.replace(key, "KEY")] += times
    for remark, times in seen.most_common(8):
        print(f"{times} times: {remark}")


def main(arguments: list[str]) -> int:
    """Run and print the counts."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    options = {"N": "300", "SEED": "1", "STORE": "sqlite", "REPLICAS": "", "KEEP": ""}
    given = dict(text.split("=", 1) for text in arguments if "=" in text)
    if unknown := (set(given) - set(options)) | {text for text in arguments if "=" not in text}:
        print(f"{', '.join(sorted(unknown))}: not known. {__doc__}", file=sys.stderr)
        return 2
    options |= given
    if options["STORE"] not in STORES:
        print(f"STORE={options['STORE']}: there are {', '.join(STORES)}.", file=sys.stderr)
        return 2
    replicas = int(options["REPLICAS"] or (1 if options["STORE"] == "sqlite" else 2))
    if replicas > 1 and options["STORE"] == "sqlite":
        print("Several replicas need STORE=postgresql.", file=sys.stderr)
        return 2
    folder, began = Path(tempfile.mkdtemp(prefix="chaos-kill-")), time.monotonic()
    try:
        with stored_in(options["STORE"]):
            tally = asyncio.run(run(int(options["N"]), int(options["SEED"]), folder, replicas))
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    finally:
        if options["KEEP"]:
            print(f"data and logs: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{time.monotonic() - began:.0f} s, seed {options['SEED']}")
    print(tally.verdict(int(options["N"])))
    return 0 if tally.passed() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
