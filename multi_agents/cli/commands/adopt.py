"""`conversations adopt`: gives conversations that were had without authentication to a person, by each agent's own program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from multi_agents.cli.commands.db import by_program, local_modules
from multi_agents.cli.console import clean, out, print_json
from multi_agents.cli.exit_codes import ExitCode
from multi_agents.cli.own_settings import own_settings
from multi_agents.cli.paths import SUPERVISOR_MODULE
from multi_agents.cli.running import run
from multi_agents.cli.service.local import home_folder
from utils.a2a_common.client.agents.agents_file import SUPERVISOR
from utils.auth.service_tokens import ISSUER
from utils.settings import process_environment


def adopt_conversations(
    person: str, tenant: str, agent: str | None, agents_file: Path, *, dry: bool, as_json: bool
) -> ExitCode:
    """Assign the conversations of every local agent, or of one, to a person; exit code 2 if those of an agent could not be assigned.

    Args:
        person: Issuer and subject of the person.
        tenant: The tenant of the conversations.
        agent: The agent; all local ones when omitted.
        agents_file: The list of agents.
        dry: Whether they are only listed.
        as_json: Whether programs read what is shown.
    """

    async def main() -> ExitCode:
        environ = process_environment() | {"PLATFORM_ENGINEER_HOME": str(home_folder())}
        own = {one.agent: one for one in own_settings(agents_file, environ)}
        code = ExitCode.OK

        async def told_by(
            name: str, module: str, *, dry: bool, elsewhere: object = None
        ) -> dict[str, Any] | None:
            # an agent behind the supervisor knows a person by the supervisor's word
            whose = person if name == SUPERVISOR else f"{ISSUER} {person}"
            options = ["--adopt", whose, "--tenant", tenant]
            options += ["--dry-run"] * dry + ["--elsewhere"] * (elsewhere is not None)
            given = json.dumps(elsewhere) if elsewhere is not None else ""
            return await by_program(
                module, options, own[name].over(environ) if name in own else environ, given
            )

        modules = local_modules(agent, agents_file)
        elsewhere = None
        if SUPERVISOR not in modules:
            asked = await told_by(SUPERVISOR, SUPERVISOR_MODULE, dry=True)
            if asked is None:
                return ExitCode.USAGE
            elsewhere = asked["elsewhere"]
        for name, module in modules.items():
            told = await told_by(name, module, dry=dry, elsewhere=elsewhere)
            if name == SUPERVISOR:
                if told is None:
                    return ExitCode.USAGE  # what the others have of its conversations is not known
                elsewhere = told.pop("elsewhere")
            elif told is not None:
                del told["elsewhere"]
            if told is None:
                code = ExitCode.USAGE
            elif as_json:
                print_json(told)
            else:
                for line in _lines(told["agent"], told["conversations"], told["left"], dry=dry):
                    out().print(clean(line), markup=False, highlight=False, soft_wrap=True)
        return code

    return run(main(), as_json=as_json)


def _lines(agent: str, moved: list[str], left: list[str], *, dry: bool) -> list[str]:
    done = "to be adopted" if dry else "adopted"
    lines = [f"{agent}: {len(moved)} {done}", *(f"  {each}" for each in moved)]
    why = "left: a turn has not ended, or the person has one of this id"
    return lines + [f"  {each}  {why}" for each in left]
