"""What several chats of one user share: the service, and the ports of this machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from multi_agents.cli.service.attached import ATTACHED, attached, attached_to
from multi_agents.cli.service.ports import reserving_ports
from tests.ports import free_port

pytestmark = pytest.mark.listens

HOLDS = """
import sys
from pathlib import Path
from multi_agents.cli.service.attached import attached_to
with attached_to(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_chat_counts_as_long_as_it_lives_however_it_ends(tmp_path):
    assert attached(tmp_path) == 0
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert attached(tmp_path) == 1
        with attached_to(tmp_path):
            assert attached(tmp_path) == 2
        assert attached(tmp_path) == 1
        other.kill()
        other.wait()
        assert attached(tmp_path) == 0
    assert list((tmp_path / ATTACHED).iterdir()) == []


def test_a_port_that_another_start_has_chosen_is_not_chosen_before_anybody_listens_there(tmp_path):
    port = free_port()
    with reserving_ports(tmp_path) as choose:
        assert choose([port]) == [port]
        with reserving_ports(tmp_path) as choose_too:
            assert choose_too([port]) == [port + 1]
    with reserving_ports(tmp_path) as choose:
        assert choose([port]) == [port]


def test_where_no_lock_can_be_kept_a_free_port_is_chosen_all_the_same(tmp_path):
    (tmp_path / "file").touch()
    port = free_port()
    with reserving_ports(tmp_path / "file") as choose:
        assert choose([port]) == [port]
