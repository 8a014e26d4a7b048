"""Agents that trust the identity provider alone are asked with a token of the person, which the provider exchanges."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.e2e.agents.peers import Keys
from tests.e2e.auth.bindings import Door
from tests.e2e.auth.cases import bearer
from tests.e2e.auth.exchange_grant import CLIENT
from tests.e2e.auth.exchanging import SUPERVISOR, Houses, Vault, exchanging, houses
from tests.e2e.auth.provider import OTHER, Provider, provider
from tests.e2e.delegation.teams import model, results
from tests.ports import free_port
from utils.auth import exchange
from utils.auth.exchange import Exchanged
from utils.auth.service_tokens import Signer, key_in
from utils.auth.token_form import parse_token
from utils.errors import SettingsError
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]

ASKS = calls(call("vault", "c1", request="What is a?"))
DONE = "TASK_STATE_COMPLETED"


def told(it: Houses) -> str:
    """What the supervisor's model was told of the agent."""
    return results(it.top)[-1]


async def test_the_agent_gets_a_token_for_it_in_the_persons_name_and_never_the_persons_own(
    tmp_path: Path,
) -> None:
    async with houses(tmp_path, [ASKS, "It is 1."], ["a is 1"]) as it:
        with capture_logs() as logged:
            task = await it.say("What is a?")
        assert (task["status"]["state"], told(it)) == (DONE, "a is 1")
        [asked] = it.idp.exchange.asked
        assert (asked["subject_token"], asked["audience"], asked["resource"]) == (
            it.sent[0],
            "vault",
            it.vault,
        )
        assert {value.removeprefix("Bearer ") for value in Vault.seen} == {it.idp.exchange.given[0]}
        claims = parse_token(it.idp.exchange.given[0]).claims
        assert (claims["aud"], claims["sub"], claims["tenant"]) == ("vault", "ann", "acme")
        assert (claims["act"], claims["scope"]) == ({"sub": CLIENT}, "agent:vault:use")
        tokens = [*it.sent, *it.idp.exchange.given]
        assert it.found([task["contextId"]]) != []
        assert it.found(tokens) == []
        assert not any(token in str(logged) for token in tokens)
        assert len(await it.tasks_at_vault(it.token("vault"))) == 1
        assert await it.tasks_at_vault(it.token("vault", "bob")) == []


async def test_each_person_is_asked_for_in_their_own_name_and_a_program_with_those_it_acts_for(
    tmp_path: Path,
) -> None:
    script = [ASKS, "It is 1.", ASKS, "It is 1."]
    async with houses(tmp_path, script, ["a is 1", "a is 1"]) as it:
        await it.say("What is a?", it.token(sub="bob"))
        await it.say("What is a?", it.token(act={"sub": "page"}))
        bob, ann = (parse_token(token).claims for token in it.idp.exchange.given)
        assert (bob["sub"], bob["act"]) == ("bob", {"sub": CLIENT})
        assert (ann["sub"], ann["act"]) == ("ann", {"sub": CLIENT, "act": {"sub": "page"}})
        assert len(await it.tasks_at_vault(it.token("vault", "bob"))) == 1


async def test_an_answer_to_the_agents_question_brings_a_new_token_and_goes_to_the_same_task(
    tmp_path: Path,
) -> None:
    below = [calls(call("where", "w1")), "It is there."]
    async with houses(tmp_path, [ASKS, "It is there."], below) as it:
        asked = await it.say("Where is a?")
        assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        answered = await it.say("Rome", taskId=asked["id"], contextId=asked["contextId"])
        assert (answered["status"]["state"], told(it)) == (DONE, "It is there.")
        first, second = it.idp.exchange.given
        assert Vault.seen[-1] == f"Bearer {second}" != f"Bearer {first}"
        assert len(await it.tasks_at_vault(it.token("vault"))) == 1


def alive() -> int:
    """How many exchanged tokens are in the memory of this process, of those that came after the last `gc.freeze`."""
    gc.collect()
    return sum(isinstance(each, Exchanged) for each in gc.get_objects())


async def test_a_token_is_in_memory_as_long_as_its_turn_runs(tmp_path: Path) -> None:
    gc.collect()
    gc.freeze()  # what is there already need not be looked through each time
    started, gate = asyncio.Event(), asyncio.Event()
    below = [ScriptedReply(text="a is 1", started=started, gate=gate)]
    async with houses(tmp_path, [ASKS, "It is 1."], below) as it:
        saying = asyncio.create_task(it.say("What is a?"))
        async with asyncio.timeout(60):
            await started.wait()
            assert alive() == 1
            gate.set()
            await saying
            while alive():
                await asyncio.sleep(0.05)


async def test_a_message_over_grpc_is_exchanged_for_too(tmp_path: Path) -> None:
    port = free_port()
    ours = {"GRPC_PORT": str(port)}
    async with houses(tmp_path, [ASKS, "It is 1."], ["a is 1"], ours=ours) as it:
        door = Door(SUPERVISOR, it.url, port)
        answered = await door.knock("gRPC", bearer(it.token()), it.http)
        assert (answered.status, told(it)) == (200, "a is 1")
        assert it.idp.exchange.asked[0]["subject_token"] == it.sent[0]


Break = Callable[[Provider], None]


def _set(**changes: Any) -> Break:
    def broken(idp: Provider) -> None:
        for name, value in changes.items():
            setattr(idp.exchange, name, value)

    return broken


def _echo(idp: Provider) -> None:
    ECHO.append(idp.token(SUPERVISOR))
    idp.exchange.answers["access_token"] = ECHO[-1]


def _out(idp: Provider) -> None:
    idp.out = True


ECHO: list[str] = []
REFUSED = "your identity provider gives no access to it in your name"
UNANSWERED = "your identity provider gave no answer about access to it"
LATE = "the provider does not answer in time"
FRESH = "it takes requests in your name only while your message is fresh"

FAILURES = {
    "the person may not use it": (_set(strangers={"ann"}), REFUSED),
    "the provider knows no such agent": (_set(audiences=set()), REFUSED),
    "the provider echoes the person's own token": (_echo, REFUSED),
    "the token may approve": (_set(claims={"scope": "agent:vault:use agent:vault:approve"}), REFUSED),
    "the answer says that it may approve": (_set(answers={"scope": "agent:vault:approve"}), REFUSED),
    "the token is good at the supervisor too": (_set(claims={"aud": ["vault", SUPERVISOR]}), REFUSED),
    "the client is not taken": (_set(client=("boss-client", "changed")), UNANSWERED),
    "the provider does not exchange": (_set(grants=["authorization_code"]), UNANSWERED),
    "the provider is down": (_out, UNANSWERED),
    "the provider is in trouble": (_set(trouble="temporarily_unavailable"), UNANSWERED),
    LATE: (_set(gate=asyncio.Event()), UNANSWERED),
    "the answer holds no token": (_set(answers={"access_token": None}), UNANSWERED),
    "the token is not for a header": (_set(answers={"access_token": "a\r\nb"}), UNANSWERED),
    "the token is of another type": (_set(answers={"token_type": "N_A"}), UNANSWERED),
    "the token is no access token": (
        _set(answers={"issued_token_type": "urn:ietf:params:oauth:token-type:id_token"}),
        UNANSWERED,
    ),
    "the token ends at once": (_set(lasts=3), FRESH),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.long
async def test_without_a_token_the_agent_is_not_asked_and_the_turn_goes_on(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == LATE:
        monkeypatch.setattr(exchange, "SECONDS", 0.5)
    both = calls(call("vault", "c1", request="What is a?"), call("words", "c2", request="What is b?"))
    broken, said = FAILURES[name]
    words = running_agent(Keys, model=model(["b is 2"]), home=tmp_path / "words")
    async with words as url, houses(tmp_path, [both, "b is 2."], [], further={"words": url}) as it:
        warm = it.token()  # the supervisor knows the provider's keys by now
        await it.rpc("ListTasks", {}, warm)
        broken(it.idp)
        task = await it.say("What are a and b?", ECHO[-1] if broken is _echo else it.token())
        vault, other = results(it.top)[-2:]
        assert (task["status"]["state"], other) == (DONE, "b is 2")
        assert "sub_agent_not_authorised" in vault
        assert said in vault
        assert Vault.seen == []
        assert it.found(it.idp.exchange.given) == []


async def test_neither_a_person_of_another_provider_nor_a_supervisor_before_ours_is_exchanged_for(
    tmp_path: Path,
) -> None:
    async with houses(tmp_path, [ASKS, "No.", ASKS, "No."], []) as it:
        signer = Signer(key_in(it.home / "ours" / "service-key.json"), "boss")
        signed = signer.token(SUPERVISOR, f"{it.idp.issuer()} ann", tenant="acme")
        for token in (it.token(issued_by=OTHER), signed):
            task = await it.say("What is a?", token)
            assert task["status"]["state"] == "TASK_STATE_FAILED"
            assert REFUSED in str(task["status"])
        assert (it.idp.exchange.asked, Vault.seen) == ([], [])


async def test_only_agents_that_are_configured_so_are_exchanged_for_at_once_and_by_their_origin_too(
    tmp_path: Path,
) -> None:
    gate = asyncio.Event()
    words = running_agent(Keys, model=model([]), home=tmp_path / "words")
    wants = "vault=vault agent:vault:use,second=second"
    async with (
        words as url,
        houses(tmp_path, ["Hello."], [], wants=wants, further={"second": url, "third": url}) as it,
    ):
        it.idp.exchange.gate = gate
        saying = asyncio.create_task(it.say("Hello."))
        async with asyncio.timeout(30):
            while len(it.idp.exchange.asked) < 2:
                await asyncio.sleep(0.01)
        gate.set()
        await saying
        assert sorted(form["audience"] for form in it.idp.exchange.asked) == ["second", "vault"]
        assert {form["audience"]: form.get("scope") for form in it.idp.exchange.asked} == {
            "vault": "agent:vault:use",
            "second": None,
        }


async def test_a_provider_that_knows_agents_by_their_origin_and_clients_by_the_form_is_asked_so(
    tmp_path: Path,
) -> None:
    async with houses(tmp_path, [ASKS, "It is 1."], ["a is 1"], wants="vault=") as it:
        it.idp.exchange.methods = ["private_key_jwt", "client_secret_post"]
        it.idp.exchange.audiences = {it.vault}
        it.idp.exchange.claims = {"aud": ["vault", it.vault], "scope": "agent:vault:use"}
        await it.say("What is a?")
        assert told(it) == "a is 1"
        [asked] = it.idp.exchange.asked
        assert ("audience" in asked, "scope" in asked, asked["resource"]) == (False, False, it.vault)


@pytest.mark.parametrize(
    "changes",
    [{"AUTH_EXCHANGE_CLIENT_ID": ""}, {"AUTH_EXCHANGE_CLIENT_SECRET": ""}, {"AUTH_MODE": "api-key"}],
)
async def test_a_supervisor_that_cannot_exchange_does_not_start(
    tmp_path: Path, changes: dict[str, str]
) -> None:
    async with provider() as idp:
        settings = exchanging(idp, {"vault": "http://127.0.0.1:1"}, "vault=vault") | changes
        with pytest.raises(SettingsError, match="AUTH_EXCHANGE_CLIENT_SECRET"):
            async with running_agent(PlatformEngineer, model=model([]), home=tmp_path, environ=settings):
                pass
