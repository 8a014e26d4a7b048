"""A store with encrypted contents does all that the store beneath it does: a member that was forgotten is missed here, not by an operator."""

from __future__ import annotations

import inspect

import pytest

from utils.persistence import stores
from utils.persistence.encrypted import stores as encrypted
from utils.persistence.encrypted.task_log import EncryptedTaskLog
from utils.persistence.memories import Memories
from utils.persistence.runs import RunStore
from utils.persistence.task_log_store import TaskLogStore
from utils.persistence.titles import Titles
from utils.persistence.tool_record import ToolRecord

PAIRS = {
    encrypted.EncryptedStores: stores.Stores,
    encrypted.EncryptedRuns: RunStore,
    encrypted.EncryptedToolRecord: ToolRecord,
    encrypted.EncryptedDelegations: stores.Delegations,
    encrypted.EncryptedArtifacts: stores.Artifacts,
    encrypted.EncryptedTitles: Titles,
    encrypted.EncryptedMemories: Memories,
    EncryptedTaskLog: TaskLogStore,
}


@pytest.mark.parametrize("made", PAIRS, ids=lambda made: made.__name__)
def test_each_member_of_the_protocol_is_forwarded_with_its_own_parameters(made: type) -> None:
    protocol = PAIRS[made]
    members = {
        name: member
        for base in protocol.__mro__
        if base.__module__.startswith("utils.")
        for name, member in vars(base).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }
    assert members
    for name, member in members.items():
        own = getattr(made, name, None)
        assert own is not None, name
        assert own is not member, f"{name} is the protocol's, which does nothing"
        assert list(inspect.signature(own).parameters) == list(inspect.signature(member).parameters), name


def test_each_encrypted_store_is_looked_at() -> None:
    assert {made for name, made in vars(encrypted).items() if name.startswith("Encrypted")} == set(PAIRS)
