"""Progress is passed up as fast as somebody can read it; beginnings and ends always are."""

from __future__ import annotations

from utils.a2a_common.client.delegation.progress import AT_ONCE, PER_SECOND, ProgressGate
from utils.events import DelegationFinished, DelegationProgress, DelegationStarted, DelegationState


def test_a_flood_of_progress_is_thinned_and_nothing_else_is() -> None:
    told: list[object] = []
    now = 0.0
    gate = ProgressGate(told.append, clock=lambda: now)
    progress = DelegationProgress("c", "far", "t", DelegationState.WORKING)
    for _ in range(10 * AT_ONCE):
        gate(progress)
    assert (len(told), gate.left_out) == (AT_ONCE, 9 * AT_ONCE)
    now = 2.0
    for _ in range(AT_ONCE):
        gate(progress)
    assert len(told) == AT_ONCE + 2 * PER_SECOND
    gate(DelegationStarted("c", "far", "x"))
    gate(DelegationFinished("c", "far", "t", DelegationState.COMPLETED, 1.0))
    assert len(told) == AT_ONCE + 2 * PER_SECOND + 2
