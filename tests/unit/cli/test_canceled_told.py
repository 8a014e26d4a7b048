"""What the chat says of a task that was canceled."""

from __future__ import annotations

import pytest

from multi_agents.cli.chat.ask import print_result
from multi_agents.cli.chat.drive import TurnResult
from multi_agents.cli.view.state import TurnView
from utils.a2a_common.client.stream.events import StatusChanged
from utils.a2a_common.protocol.extensions import TaskError
from utils.events import DelegationState

UNKNOWN = "deploy was still under way: whether it had its effect is unknown."


@pytest.mark.parametrize(
    ("interrupted", "sentence"), [(True, "Canceled."), (False, "The task was canceled.")]
)
@pytest.mark.parametrize("error", [None, TaskError("unknown_outcome", UNKNOWN)])
def test_a_canceled_task_is_told_with_what_is_not_known_of_its_calls(
    capsys: pytest.CaptureFixture[str], error: TaskError | None, interrupted: bool, sentence: str
) -> None:
    view = TurnView()
    if error is not None:
        view.apply(error)
    view.apply(StatusChanged("t", "c", DelegationState.CANCELED))
    print_result(TurnResult(view, interrupted=interrupted))
    told = " ".join(capsys.readouterr().err.split())
    assert told == (f"{sentence} {UNKNOWN}" if error else sentence)
