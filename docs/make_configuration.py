"""`python -m docs.make_configuration`: write docs/configuration.md and .env.example anew from the settings."""
# ruff: noqa: INP001 - a folder of documents with one script in it is no package

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

from utils import settings
from utils.context import settings as context
from utils.observability import settings as observability
from utils.settings import EnvSettings
from utils.settings_docs import env_example_of, groups_of, markdown_of

ROOT = Path(__file__).resolve().parent.parent

INTRODUCTION = """\
# Configuration

Every setting is an environment variable. A `.env` file in the working folder is read too; the environment wins over
it. An empty value counts as unset. A wrong value is one sentence that names the variable, and exit code 2.
`platform-engineer doctor` checks them all.

This page and `.env.example` are made from the settings classes in `utils/settings.py`, `utils/*/settings.py`
and `agents/*/settings.py`: run
`python -m docs.make_configuration` after a change there.

"""
COMPOSE = {
    "IMAGE": ("platform-engineer:latest", "The image that every container runs"),
    "SUPERVISOR_PORT": ("8000", "Port of this machine that leads to the supervisor"),
    "SUPERVISOR_BIND": ("127.0.0.1", "Address of this machine that it listens at; 0.0.0.0 lets others in"),
    "DOCUMENTS": ("./docs", "Folder whose documents are ingested at start"),
    "FOREIGN_AGENTS": (
        "",
        "Agents that run elsewhere, besides those of the file: name=url pairs separated by commas",
    ),
    "FOREIGN_AGENTS_SHARES": (
        "",
        "What these are told besides their sub-task: name=nothing, request or results, with commas",
    ),
}
"""What docker-compose.yaml reads besides the settings: variable, default and meaning."""
EXAMPLE = "# Copy to .env, remove the # before what you change. Every line shows its default.\n\n"


def groups() -> list[type[EnvSettings]]:
    """Every group: the shared ones, then those of each agent by name, but for the one that is only copied."""
    found = groups_of(settings) + groups_of(context) + groups_of(observability)
    for path in sorted(ROOT.glob("agents/*/settings.py")):
        if path.parent.name == "template":
            continue
        found += groups_of(importlib.import_module(f"agents.{path.parent.name}.settings"))
    return found


def compose_section() -> str:
    """The variables of docker-compose.yaml, as a section of the page."""
    lines = ["", "## Only for docker compose", "", "| variable | default | meaning |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {f'`{default}`' if default else 'unset'} | {meaning}. |"
        for name, (default, meaning) in COMPOSE.items()
    ]
    return "\n".join(lines) + "\n"


def compose_example() -> str:
    """The same for `.env.example`."""
    lines = ["", "# --- Only for docker compose", ""]
    for name, (default, meaning) in COMPOSE.items():
        lines += [f"# {meaning} (text).", f"# {name}={default}", ""]
    return "\n".join(lines)


def files() -> Mapping[Path, str]:
    """What each generated file must hold. Defaults inside the checkout are shown as seen from it."""
    every = groups()
    texts = {
        ROOT / "docs" / "configuration.md": INTRODUCTION + markdown_of(every) + compose_section(),
        ROOT / ".env.example": EXAMPLE + env_example_of(every) + compose_example(),
    }
    return {path: text.replace(f"{ROOT}/", "") for path, text in texts.items()}


if __name__ == "__main__":
    for path, text in files().items():
        kept = "\r\n" if path.is_file() and b"\r\n" in path.read_bytes() else "\n"
        path.write_text(text, "utf-8", newline=kept)
