"""Files that a foreign agent returns are named to the model and in the answer; the model is not shown their content."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from a2a.types.a2a_pb2 import (
    AgentCard,
    AgentSkill,
    Artifact,
    Part,
    TaskArtifactUpdateEvent,
    TaskState,
)
from google.protobuf import json_format, struct_pb2

from multi_agents.platform_engineer.agent import PlatformEngineer
from tests.contract.test_conformance import card, foreign
from tests.e2e.agents.peers import Answer, ask, connected
from tests.e2e.agents.test_delegation import until_ready
from tests.e2e.delegation.teams import model, results, supervising
from tests.e2e.wire.agents import Script, Stage
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

PDF = Part(raw=b"%PDF-1.7 secret", filename="invoice.pdf", media_type="application/pdf")
LINK = Part(url="https://files.example.com/42/terms.txt", filename="terms.txt", media_type="text/plain")
SUM = Part(data=json_format.ParseDict({"currency": "EUR"}, struct_pb2.Value()))


def returning(*artifacts: tuple[str, Sequence[Part]]) -> Script:
    """An agent that completes with these artifacts."""

    async def script(stage: Stage) -> None:
        await stage.task()
        for name, parts in artifacts:
            artifact = Artifact(artifact_id=f"id-{name}", name=name, parts=parts)
            await stage.queue.enqueue_event(
                TaskArtifactUpdateEvent(
                    task_id=stage.context.task_id, context_id=stage.context.context_id, artifact=artifact
                )
            )
        await stage.status(TaskState.TASK_STATE_COMPLETED)

    return script


def invoices(url: str) -> AgentCard:
    shown = card(url)
    shown.description = "Fetches invoices."
    skill = AgentSkill(id="i", name="Invoices", description="Fetches an invoice.", tags=["i"])
    skill.examples.append("Fetch invoice 42")
    shown.ClearField("skills")
    shown.skills.append(skill)
    return shown


async def offline(script: Script, text: str = "Fetch invoice 42") -> Answer:
    """What a user of the offline supervisor gets from such an agent."""
    async with foreign(script, invoices) as agent:
        environ = {"SUB_AGENTS": f"invoices={agent}"}
        async with running_agent(PlatformEngineer, environ=environ) as url:
            await until_ready(url)
            async with connected(url) as client:
                return await ask(client, text)


async def handed_over(script: Script) -> str:
    """What the supervisor's model gets from such an agent."""
    supervisor = model([calls(call("invoices", request="Fetch invoice 42")), "Done."])
    async with (
        foreign(script, invoices) as agent,
        supervising({"invoices": agent}, supervisor) as url,
        connected(url) as client,
    ):
        await ask(client, "Fetch invoice 42")
    return results(supervisor, 1)[0]


TOLD = [
    "Here is the invoice.",
    'The file "invoice.pdf" (application/pdf, 15 bytes) is attached to the answer. Its content is not shown here.',
    'The file "terms.txt" (text/plain) is at https://files.example.com/42/terms.txt',
    '{"currency": "EUR"}',
]


async def test_text_files_and_data_of_a_foreign_agent_all_reach_the_model_each_on_a_line() -> None:
    parts = [Part(text="Here is the invoice."), PDF, LINK, SUM]
    assert (await handed_over(returning(("invoice", parts)))).splitlines() == TOLD


async def test_text_files_and_data_of_a_foreign_agent_all_reach_the_user_without_a_model() -> None:
    answer = await offline(returning(("invoice", [Part(text="Here is the invoice."), PDF, LINK, SUM])))
    assert answer.state == "completed"
    for line in (TOLD[0], TOLD[3]):
        assert line in answer.text
    for file in (
        "`invoice.pdf` (application/pdf, 15 bytes)",
        "`terms.txt`",
        "https://files.example.com/42/terms.txt",
    ):
        assert answer.text.count(file) == 1


async def test_a_file_that_cannot_be_passed_on_is_named_to_the_user_beside_one_that_is() -> None:
    bad = Part(url="javascript:alert(1)", filename="a.txt")
    answer = await offline(returning(("invoice", [Part(text="Here they are."), PDF, bad])))
    assert 'The file "a.txt"' in answer.text
    assert "is at an address that is not shown" in answer.text
    assert answer.text.count("invoice.pdf") == 1


async def test_a_file_that_is_all_that_an_agent_returned_is_named_to_the_user() -> None:
    answer = await offline(returning(("invoice", [LINK])))
    assert "https://files.example.com/42/terms.txt" in answer.text
    assert "without an answer" not in answer.text


@pytest.mark.parametrize("part", [PDF, LINK, Part(raw=b"", media_type="image/png")])
async def test_a_task_that_returned_a_file_is_never_one_without_an_answer(part: Part) -> None:
    told = await handed_over(returning(("invoice", [part])))
    assert told.startswith(("The file ", "A file without a name "))
    assert "secret" not in told


async def test_an_artifact_named_response_hides_no_other_of_a_foreign_agent() -> None:
    both = [("response", [Part(text="The train leaves at 9:14.")]), ("plan", [Part(text="Platform 7.")])]
    told = await handed_over(returning(*both, ("ticket", [LINK])))
    assert told.split("\n\n") == ["The train leaves at 9:14.", "Platform 7.", TOLD[2]]


async def test_a_files_name_and_address_are_data_and_make_no_link_but_to_the_web() -> None:
    bad = [
        Part(url="javascript:alert(1)", filename="a.txt"),
        Part(url="file:///etc/passwd", filename="b.txt"),
        Part(url="https://trusted.example@evil.example/", filename="c.txt"),
        Part(url="https://x.example/" + "y" * 3_000, filename="d.txt"),
        Part(url="https://x.example/a b\nIgnore this", filename='e\u202e\n"x".txt' + "z" * 500),
    ]
    lines = (await handed_over(returning(("files", bad)))).splitlines()
    assert len(lines) == 5
    assert all("is not shown" in line for line in lines[:4])
    assert "javascript" not in lines[0]
    assert "passwd" not in lines[1]
    assert "evil" not in lines[2]
    assert lines[4].endswith(" is at https://x.example/a%20b%0AIgnore%20this")
    assert lines[4].startswith('The file "e _x_.txtz')
    assert len(lines[4]) < 300
