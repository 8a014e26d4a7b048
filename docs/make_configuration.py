"""`python -m docs.make_configuration`: write docs/configuration.md, .env.example, docs/error-codes.md, docs/chart-values.md and the chart's tables of settings."""
# ruff: noqa: INP001 - a folder of documents with one script in it is no package

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from docs.chart_values import chart_values
from docs.error_codes import error_codes
from utils.settings import EnvSettings
from utils.settings_accepted import FORMS, rules_of
from utils.settings_docs import COMPOSE, env_example_of, markdown_of, settings_of
from utils.settings_index import groups_in, shared_groups

ROOT = Path(__file__).resolve().parent.parent

INTRODUCTION = """\
# Configuration

<!-- This page and .env.example are made from the settings classes in utils/settings.py, utils/*/settings.py and agents/*/settings.py: run
`python -m docs.make_configuration` after a change there. -->

## How do I change a setting?

Write the setting in a file `.env` in the folder where you start the command, or set it in the environment, and start again. Every setting is
an environment variable; the environment wins over `.env`, and an empty value counts as unset. The file must be UTF-8;
a line of it that is neither `NAME=VALUE` nor a comment, or whose quotes are not closed, ends every command that reads settings with exit code 2.

To start again, leave the chat with `/quit` and call it again, or end `make up` with Ctrl-C and run it again. In Docker `docker compose up -d`
makes new containers with the changed `.env`; on Kubernetes `helm upgrade` starts new pods. Conversations are kept.

A wrong value ends the start with a sentence that names the variable, and exit code 2. `platform-engineer doctor` checks every setting of
every agent. It also names misspelled settings and what was probably meant; `up`, `chat` and each agent warn of them when they start.

## Which settings do most people need?

These ten. All others have a default that works:

| variable | for |
|---|---|
| `LLM_PROVIDER`, `LLM_MODEL` and the provider's key, such as `OPENAI_API_KEY` | [a language model](models.md) instead of the offline model |
| `GITHUB_TOKEN` | private repositories, and more than 60 requests an hour |
| `RAG_SOURCES` | your own documents |
| `PORT` | another port than 8000 |
| `AUTH_MODE`, `PUBLIC_URL` | [other people](login.md#how-do-callers-log-in) who use the service |
| `DATABASE_URL` | [PostgreSQL](scale.md) instead of SQLite files |
| `RETENTION_DAYS` | the deletion of old conversations |

## Settings of one agent

To give one agent its own settings, write them under `env` of its entry in `agents/agents.yaml`: another model, another context window or
policy, a token that only it needs. `up` and `chat` use them for that process in place of the service's settings.

```yaml
github:
  module: agents.github
  port: 8001
  env:
    LLM_MODEL: gpt-4.1-mini
    MAX_CONTEXT_TOKENS: 32000
    CONTEXT_POLICY: caipe
    GITHUB_TOKEN: ${TEAM_GITHUB_TOKEN}
supervisor:
  env:
    TURN_TIMEOUT_SECONDS: 600
```

### What may stand in the env of an agent?

- `${NAME}` is replaced by the service's variable of that name, so secrets can stay out of the file. A name that is not set is an error.
- Write a number or `true` as it is. An empty value means the default, whatever the service has.
- `HOST`, `PORT`, `PUBLIC_URL`, `SUB_AGENTS`, `SUB_AGENTS_SHARES` and `PLATFORM_ENGINEER_HOME` are set by the service and cannot be given here.
  Nor can `TLS_CERT_FILE`, `TLS_KEY_FILE` and `TLS_CLIENT_CA_FILE`: the service asks its agents by HTTP on this machine.
- `doctor` shows and checks an agent's own settings. A wrong value is an error that names file, agent and setting.
- `ingest` uses the settings of the RAG agent. `serve` uses the environment only.
- The chart takes the same under `env` of an agent in its values, and docker compose under `environment` of a service. An agent with a
  `url` has its settings where it runs. `SUB_AGENTS` replaces the file and the settings in it.

"""
SECRETS = """\
# Settings that are secrets: the chart refuses them in `settings` and `env`, which become ConfigMaps.
# Made by `python -m docs.make_configuration` from the settings classes.
"""
VALUES = """\
# What the value of each setting may be: the chart refuses another one in `settings` and `env`, as the service does at its start.
# Made by `python -m docs.make_configuration` from the settings classes.
"""
CHART = ROOT / "helm" / "platform-engineer"
EXAMPLE = "# Copy to .env, remove the # before what you change. Every line shows its default.\n\n"


def groups() -> list[type[EnvSettings]]:
    """Every group: the shared ones, then those of each agent by name."""
    return shared_groups() + [group for own in groups_of_agents().values() for group in own]


def groups_of_agents() -> dict[str, list[type[EnvSettings]]]:
    """The groups of each agent by its name, but for the one that is only copied."""
    packages = (path.parent.name for path in sorted(ROOT.glob("agents/*/settings.py")))
    return {name.replace("_", "-"): groups_in(f"agents.{name}") for name in packages if name != "template"}


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


def secret_settings() -> str:
    """The names of all settings that are secrets by their type, as a list in YAML."""
    names = {one.variable for group in groups() for one in settings_of(group) if one.secret}
    return SECRETS + "".join(f"- {name}\n" for name in sorted(names))


def setting_values() -> str:
    """What each setting takes, as YAML: `forms` by name, and a row for each setting."""
    rules = rules_of(shared_groups())
    rules += [rule for agent, own in groups_of_agents().items() for rule in rules_of(own, agent)]
    lines = ["forms:", *(f"  {name}: {json.dumps(pattern)}" for name, pattern in FORMS.values()), "settings:"]
    return VALUES + "\n".join([*lines, *(f"  - {json.dumps(rule)}" for rule in rules)]) + "\n"


def files() -> Mapping[Path, str]:
    """What each generated file must hold. Defaults inside the checkout are shown as seen from it."""
    every = groups()
    texts = {
        ROOT / "docs" / "configuration.md": INTRODUCTION + markdown_of(every) + compose_section(),
        ROOT / "docs" / "error-codes.md": error_codes(),
        ROOT / ".env.example": EXAMPLE + env_example_of(every) + compose_example(),
    }
    if CHART.is_dir():
        texts[ROOT / "docs" / "chart-values.md"] = chart_values(CHART)
        texts[CHART / "secret-settings.yaml"] = secret_settings()
        texts[CHART / "setting-values.yaml"] = setting_values()
    return {path: text.replace(f"{ROOT}/", "") for path, text in texts.items()}


if __name__ == "__main__":
    for path, text in files().items():
        kept = "\r\n" if path.is_file() and b"\r\n" in path.read_bytes() else "\n"
        path.write_text(text, "utf-8", newline=kept)
