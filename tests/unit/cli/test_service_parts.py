from __future__ import annotations

import socket

import pytest

from multi_agents.cli.console import clean, one_line
from multi_agents.cli.errors import ServiceUnreachable
from multi_agents.cli.exit_codes import EXIT_CODE_HELP, ExitCode, exit_code_of
from multi_agents.cli.service.plan import child_environment, make_plan, not_passed_on
from multi_agents.cli.service.ports import choose_ports, is_free
from multi_agents.cli.service.runfile import RunFile, RunningAgent, RunningService
from multi_agents.platform_engineer.sub_agents import sub_agents
from utils.a2a_common.client.agents.agents_file import AgentEntry
from utils.a2a_common.client.stream.events import SETTLED_STATES
from utils.a2a_common.protocol.shares import Shares
from utils.auth.settings import TrustSettings
from utils.errors import StorageError
from utils.events import DelegationState
from utils.settings import SubAgentSettings

ENTRIES = (
    AgentEntry("github", "http://127.0.0.1:8001", "agents.github", 8001, Shares.RESULTS),
    AgentEntry("weather", "https://weather.example"),
)


def test_the_plan_has_the_supervisor_first_and_foreign_agents_only_by_address():
    plan = make_plan(ENTRIES, choose=list)
    assert [(one.name, one.port) for one in plan.processes] == [("supervisor", 8000), ("github", 8001)]
    assert plan.sub_agents == {"github": "http://127.0.0.1:8001", "weather": "https://weather.example"}


def test_a_supervisor_of_an_empty_list_has_no_agents_and_not_those_of_the_project():
    plan = make_plan((), choose=list)
    settings = SubAgentSettings.load(child_environment(plan, plan.supervisor, {}))
    assert sub_agents(settings, TrustSettings.load({})) == ()


def test_variables_of_one_process_do_not_reach_another():
    plan = make_plan(ENTRIES, choose=list)
    base = {"PUBLIC_URL": "https://x", "GRPC_PORT": "1", "SUB_AGENTS": "z=http://z", "OPENAI_API_KEY": "k"}
    agent = child_environment(plan, plan.processes[1], base)
    assert (agent["PUBLIC_URL"], agent["OPENAI_API_KEY"]) == ("http://127.0.0.1:8001", "k")
    assert not {"GRPC_PORT", "SUB_AGENTS", "SUB_AGENTS_SHARES"} & set(agent)
    boss = child_environment(plan, plan.supervisor, base)
    assert boss["SUB_AGENTS"] == "github=http://127.0.0.1:8001,weather=https://weather.example"
    assert boss["SUB_AGENTS_SHARES"] == "github=results,weather=nothing"


def test_the_settings_of_one_process_replace_the_services_there_and_nowhere_else():
    own = {"github": {"CONTEXT_POLICY": "caipe", "GRPC_PORT": "9001", "LLM_MODEL": ""}}
    plan = make_plan(ENTRIES, choose=list, settings=own)
    base = {"CONTEXT_POLICY": "rag", "LLM_MODEL": "gpt-4.1", "GRPC_PORT": "1"}
    agent, boss = (child_environment(plan, one, base) for one in (plan.processes[1], plan.supervisor))
    assert (agent["CONTEXT_POLICY"], agent["GRPC_PORT"], agent["LLM_MODEL"]) == ("caipe", "9001", "")
    assert (boss["CONTEXT_POLICY"], boss["LLM_MODEL"], "GRPC_PORT" in boss) == ("rag", "gpt-4.1", False)
    assert "caipe" not in repr(plan)


@pytest.mark.listens
def test_two_processes_never_get_the_same_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        if port > 65000:
            pytest.fail("the system gave a port without neighbours")
        chosen = choose_ports([port, port + 1, port + 2])
    assert len(set(chosen)) == 3
    assert port not in chosen


@pytest.mark.listens
def test_the_highest_port_taken_is_a_plain_error():
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 65535))
        taken.listen()
        assert not is_free(65535)
        with pytest.raises(ServiceUnreachable, match="No port near 65535"):
            choose_ports([65535])


SERVICE = RunningService(7, (RunningAgent("supervisor", "http://127.0.0.1:8000", 8),))


def test_a_run_file_is_only_believed_while_its_writer_lives(tmp_path):
    holder, reader = RunFile(tmp_path), RunFile(tmp_path)
    assert reader.read() is None
    assert holder.acquire()
    assert reader.read() is None
    holder.write(SERVICE)
    assert reader.read() == SERVICE
    assert not reader.acquire()
    holder.release()
    assert reader.read() is None
    assert [path.name for path in tmp_path.iterdir()] == ["run.lock"]


def test_a_leftover_run_file_is_removed_by_the_next_holder(tmp_path):
    (tmp_path / "run.json").write_text('{"pid": 1, "agents": [{"name": "x", "url": "http://x", "pid": 1}]}')
    run_file = RunFile(tmp_path)
    assert run_file.read() is None
    assert run_file.acquire()
    assert not run_file.path.exists()
    run_file.release()


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"pid": 1, "agents": []}', '{"pid": "x", "agents": [{}]}']
)
def test_a_broken_run_file_means_no_service(tmp_path, content):
    holder = RunFile(tmp_path)
    assert holder.acquire()
    holder.path.write_text(content)
    assert RunFile(tmp_path).read() is None
    holder.release()


def test_a_folder_that_cannot_be_made_is_a_storage_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError):
        RunFile(tmp_path / "file" / "home").acquire()


def test_every_exit_code_is_in_the_help_and_every_settled_state_has_one():
    assert all(f"{code.value} " in EXIT_CODE_HELP for code in ExitCode)
    assert {exit_code_of(state) for state in SETTLED_STATES} == {
        ExitCode.OK, ExitCode.TASK_FAILED, ExitCode.CANCELED, ExitCode.INPUT_REQUIRED,
    }  # fmt: skip
    assert exit_code_of(DelegationState.WORKING) is ExitCode.TASK_FAILED


def test_nothing_that_steers_a_terminal_is_left():
    assert clean("a\x1b[31m\x07b\r\nc\td\u202ee\x9b") == "a[31mb\nc\tde"
    assert one_line("a\n b\t c " + "x" * 200, 10) == "a b c xxx…"


def test_a_grpc_port_of_the_environment_is_named_since_no_process_gets_it():
    plan = make_plan([], settings={"supervisor": {"GRPC_PORT": "8402"}})
    assert "GRPC_PORT" in not_passed_on({"GRPC_PORT": "8401"})
    assert not_passed_on({}) == not_passed_on({"GRPC_PORT": ""}) == ""
    assert child_environment(plan, plan.supervisor, {"GRPC_PORT": "8401"})["GRPC_PORT"] == "8402"
