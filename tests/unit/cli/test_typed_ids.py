"""An id may be typed as far as it differs from the others, of whatever it is an id."""

from __future__ import annotations

import pytest

from multi_agents.cli.errors import UsageError
from multi_agents.cli.typed_ids import id_begun_with


@pytest.mark.parametrize(("typed", "meant"), [("d", "de5"), ("abc1", "abc1"), ("abc", "abc"), ("none", None)])
def test_a_beginning_means_the_only_id_that_has_it_and_a_whole_id_itself(
    typed: str, meant: str | None
) -> None:
    assert id_begun_with(typed, ("abc1", "abc2", "abc", "de5"), "tasks") == meant


def test_a_beginning_of_several_is_refused_with_what_they_are_ids_of() -> None:
    with pytest.raises(UsageError, match="2 conversations begin with ab: type more of the id"):
        id_begun_with("ab", ("abc1", "abc2"), "conversations")
