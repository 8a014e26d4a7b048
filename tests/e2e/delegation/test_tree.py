"""One look at a task shows all that it caused, at any depth."""

from __future__ import annotations

import os
from asyncio.subprocess import PIPE
from collections.abc import Iterator

import pytest
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest
from google.protobuf.json_format import MessageToDict

from multi_agents.cli.view.tree import draw
from tests.e2e.agents.peers import Keys, ask, connected
from tests.e2e.cli.command import ROOT
from tests.e2e.delegation.teams import Asker, Middle, model, supervising
from tests.preloaded import process as preloaded
from utils.a2a_common.client.delegation.task_view import TaskView
from utils.a2a_common.protocol.extensions import ACTIVITY_PLAN, TREE_EXTENSION
from utils.a2a_common.protocol.task_tree import parse_tree
from utils.events import DelegationState, Usage
from utils.testing.live_agent import running_agent
from utils.testing.scripted_model import ScriptedReply, call, calls

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


async def test_the_tree_names_every_task_with_state_time_and_tokens() -> None:
    keys = model([ScriptedReply(text="a is 1", usage=Usage(100, 10))])
    middle = model([calls(call("keys", request="What is a?"), usage=Usage(20, 2)), "Middle: a is 1."])
    asker = model([calls(call("where")), "Found."])
    top = model(
        [calls(call("middle", "c1", request="Find a"), call("asker", "c2", request="Find places")), "Done."]
    )
    async with (
        running_agent(Keys, model=keys) as keys_url,
        running_agent(Asker, model=asker) as asker_url,
        supervising({"keys": keys_url}, middle, agent_class=Middle) as middle_url,
        supervising({"middle": middle_url, "asker": asker_url}, top) as url,
        connected(url) as client,
    ):
        asked = await ask(client, "Find a and places")
        await ask(client, "Newark", task_id=asked.task_id)
        task = await client.get_task(GetTaskRequest(id=asked.task_id))
        command = ("-m", "multi_agents.cli", "tasks", "tree", task.id, "--url", url)
        process = await preloaded.start(
            command, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, stdout=PIPE
        )
        shown, _ = await process.communicate()
    metadata = MessageToDict(task.metadata)
    children = {child["agent"]: child for child in metadata[TREE_EXTENSION]["children"]}
    assert {name: child["state"] for name, child in children.items()} == {
        "middle": "completed",
        "asker": "completed",
    }
    assert children["middle"]["tokens"]["input_tokens"] == 120
    (grandchild,) = children["middle"]["children"]
    assert (grandchild["agent"], grandchild["state"]) == ("keys", "completed")
    assert grandchild["task_id"]
    assert process.returncode == 0
    lines = shown.decode().splitlines()
    assert lines[0].startswith(f"platform-engineer {task.id} · completed · ")
    names = [line.lstrip("│├└─ ").split()[0] for line in lines]
    assert sorted(names) == ["asker", "keys", "middle", "platform-engineer"]  # the two began at the same time
    at = names.index("middle")
    assert "120 in, 12 out" in lines[at]
    assert names[at + 1] == "keys"
    assert lines[at + 1].index("└─") > lines[at].index("─"), "below the task that caused it"


async def test_a_task_that_is_canceled_while_it_waits_shows_no_child_and_no_step_as_open() -> None:
    asker = model([calls(call("where")), "Found."])
    top = model([calls(call("asker", "c1", request="Find places")), "Done."])
    async with (
        running_agent(Asker, model=asker) as asker_url,
        supervising({"asker": asker_url}, top) as url,
        connected(url) as client,
    ):
        asked = await ask(client, "Find places")
        before = MessageToDict((await client.get_task(GetTaskRequest(id=asked.task_id))).metadata)
        await client.cancel_task(CancelTaskRequest(id=asked.task_id))
        after = MessageToDict((await client.get_task(GetTaskRequest(id=asked.task_id))).metadata)
    states = [[child["state"] for child in each[TREE_EXTENSION]["children"]] for each in (before, after)]
    steps = [[step["status"] for step in each[ACTIVITY_PLAN]["steps"]] for each in (before, after)]
    assert states == [["input-required"], ["canceled"]]
    assert steps == [["working"], ["canceled"]]


def drawn(metadata: object) -> Iterator[str]:
    task = TaskView("t", state=DelegationState.WORKING, sub_tasks=parse_tree(metadata))
    return draw("agent", task)


@pytest.mark.parametrize("hostile", [None, "text", {"children": "x"}, {"children": [1, {"seconds": "x"}]}])
def test_a_tree_that_is_malformed_is_drawn_as_far_as_it_goes(hostile: object) -> None:
    assert next(drawn(hostile)).startswith("agent t · working")


def test_a_tree_without_end_is_cut() -> None:
    endless: dict[str, object] = {"agent": "loop", "state": "working"}
    for _ in range(50):
        endless = {"agent": "loop", "state": "working", "children": [endless]}
    assert len(list(drawn({"children": [endless]}))) < 12
