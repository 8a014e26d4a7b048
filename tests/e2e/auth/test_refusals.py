"""Credentials that prove nothing open no door, whichever way they come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.auth.house import house
from tests.e2e.auth.knocking import knocked

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning"), pytest.mark.timeout(300)]


@pytest.mark.long
async def test_nobody_gets_in_with_credentials_that_prove_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as it:
        made, failures = await knocked(it)
    assert "\n".join(failures) == ""
    assert made > 700
