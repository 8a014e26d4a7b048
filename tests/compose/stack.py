"""What docker-compose makes of docker-compose.yaml."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.compose.tool import ROOT, compose


def copied(folder: Path) -> Path:
    """A folder with the file alone, so that no .env of this machine is read."""
    shutil.copy(ROOT / "docker-compose.yaml", folder)
    return folder


def config(
    project: Path, *options: str, profile: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """`docker-compose config` with variables and nothing else of this machine."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(project), **variables}
    profiles = ["--profile", profile] if profile else []
    command = [str(compose()), *profiles, "config", *options]
    return subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, check=False)


def services_of(project: Path, profile: str = "", **variables: str) -> dict[str, dict[str, Any]]:
    """The services, with those of a profile."""
    found: dict[str, dict[str, Any]] = _json(project, profile, **variables)["services"]
    return found


def networks_of(project: Path, profile: str = "") -> dict[str, dict[str, Any]]:
    """The networks that these use."""
    found: dict[str, dict[str, Any]] = _json(project, profile)["networks"]
    return found


def _json(project: Path, profile: str, **variables: str) -> Any:
    done = config(project, "--format", "json", profile=profile, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
