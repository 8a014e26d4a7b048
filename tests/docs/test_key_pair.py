"""The documented commands put one key pair into a cluster: the half of the supervisor and the half of its agents fit."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_of
from tests.docs.checkout import VENV

pytestmark = pytest.mark.processes

(MAKING,) = [block.text for block in blocks_of("docs/kubernetes.md") if "keys service" in block.text]


def test_the_public_half_that_is_printed_is_that_of_the_private_half_in_the_secret(tmp_path: Path):
    kubectl = tmp_path / "kubectl"
    kubectl.write_text("#!/bin/sh\ncat supervisor.env > made.env\n")
    kubectl.chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{VENV / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", MAKING],
        cwd=tmp_path, env=environ, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    public = json.loads(done.stdout.strip().removeprefix("AUTH_SERVICE_PUBLIC_KEY="))
    private = json.loads((tmp_path / "made.env").read_text().strip().removeprefix("AUTH_SERVICE_KEY="))
    assert public["x"] == private["x"]
    assert "d" in private
    assert "d" not in public
    assert sorted(path.name for path in tmp_path.glob("*.env")) == ["made.env"]
