"""`platform-engineer`: what each command takes. What it does stands in `commands/`, imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from multi_agents.cli.conversation_commands import conversations
from multi_agents.cli.crash import tell_crash
from multi_agents.cli.db_commands import db
from multi_agents.cli.erase_command import erase
from multi_agents.cli.exit_codes import EXIT_CODE_HELP, ExitCode
from multi_agents.cli.memory_commands import memory
from multi_agents.cli.options import AgentsFile, Json, Token, Url

app = typer.Typer(
    name="platform-engineer",
    help="Chat with the platform engineer, run its service, and look after its agents.",
    epilog=EXIT_CODE_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

tasks = typer.Typer(help="The tasks of an agent.", no_args_is_help=True)
app.add_typer(tasks, name="tasks")
app.add_typer(conversations, name="conversations")
app.add_typer(memory, name="memory")
keys = typer.Typer(help="The API keys of the agents.", no_args_is_help=True)
app.add_typer(keys, name="keys")
agents = typer.Typer(
    help="Show the agents: health, latency, version and skills; add foreign ones.",
    invoke_without_command=True,
    epilog=EXIT_CODE_HELP,
)
app.add_typer(agents, name="agents")

app.add_typer(db, name="db")
app.command("erase", epilog=EXIT_CODE_HELP)(erase)

TaskId = Annotated[str, typer.Argument(metavar="TASK", help="Id of the task.")]
Port = Annotated[
    int | None,
    typer.Option("--port", min=1, max=65535, help="Port of the supervisor; default: PORT, else 8000."),
]


def _tell_version(asked: bool) -> None:
    if asked:
        from utils.version import project_version

        typer.echo(f"platform-engineer {project_version()}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """What stands before a command."""
    del version  # its callback has done the work


@app.command(epilog=EXIT_CODE_HELP)
def chat(
    conversation: Annotated[
        str, typer.Argument(metavar="[ID]", help="With --resume: the beginning of a conversation's id.")
    ] = "",
    *,
    url: Url = None,
    ask: Annotated[str | None, typer.Option("--ask", help="Ask this, print the answer, exit.")] = None,
    context: Annotated[str, typer.Option("--context", help="Id of the conversation to go on with.")] = "",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an earlier conversation; without its ID list them.")
    ] = False,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only answers and failures.")] = False,
    downloads: Annotated[
        Path | None,
        typer.Option("--downloads", help="Folder for files of an answer; default: in the data folder."),
    ] = None,
    port: Port = None,
    agents_file: AgentsFile = None,
    token: Token = "",
) -> None:
    """Chat with an agent; without --url with the local service, which is started when none runs."""
    from multi_agents.cli.commands.chat import Asked
    from multi_agents.cli.commands.chat import chat as command
    from multi_agents.cli.service.local import LaunchOptions
    from multi_agents.cli.service.plan import AGENTS_FILE

    launch = LaunchOptions(port, agents_file or AGENTS_FILE)
    asked = Asked(url, ask, context, resume, conversation, as_json, quiet, downloads, launch, token)
    raise typer.Exit(command(asked))


@app.command(epilog=EXIT_CODE_HELP)
def up(
    port: Port = None,
    agents_file: AgentsFile = None,
    supervisor: Annotated[
        str, typer.Option("--supervisor", help="Module that serves the supervisor.", hidden=True)
    ] = "multi_agents.platform_engineer",
) -> None:
    """Start the supervisor and its local agents, and keep them running until Ctrl-C."""
    from multi_agents.cli.commands.up import up as command
    from multi_agents.cli.service.local import LaunchOptions
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(LaunchOptions(port, agents_file or AGENTS_FILE, supervisor)))


@app.command(epilog=EXIT_CODE_HELP)
def web(
    port: Port = None,
    agents_file: AgentsFile = None,
    *,
    unopened: Annotated[bool, typer.Option("--no-open", help="Only say where the page is.")] = False,
) -> None:
    """Open the page in a browser; start the local service when none runs."""
    from multi_agents.cli.commands.web import web as command
    from multi_agents.cli.service.local import LaunchOptions
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(LaunchOptions(port, agents_file or AGENTS_FILE), opened=not unopened))


@app.command(epilog=EXIT_CODE_HELP)
def serve(
    target: Annotated[
        str, typer.Argument(metavar="NAME|module:Class", help="supervisor, an agent, or a class.")
    ],
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = None,
    agents_file: AgentsFile = None,
) -> None:
    """Become the server of one agent: this process is replaced."""
    from multi_agents.cli.commands.serve import serve as command

    raise typer.Exit(command(target, host, port, agents_file))


@app.command(epilog=EXIT_CODE_HELP)
def ingest(
    sources: Annotated[list[str], typer.Argument(metavar="PATH|URL…", help="Files, folders and addresses.")],
    agents_file: AgentsFile = None,
) -> None:
    """Read documents into the index of the RAG agent."""
    from multi_agents.cli.commands.ingest import ingest as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(sources, agents_file or AGENTS_FILE))


@agents.callback()
def agents_list(context: typer.Context, url: Url = None, as_json: Json = False) -> None:
    """Show the agents: health, latency, version and skills; add foreign ones."""
    from multi_agents.cli.commands.agents import agents as command

    if context.invoked_subcommand is None:
        raise typer.Exit(command(url, as_json=as_json))


@agents.command("add", epilog=EXIT_CODE_HELP)
def agents_add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the supervisor calls it.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Where its card is read.")],
    agents_file: AgentsFile = None,
    force: Annotated[bool, typer.Option("--force", help="Add it although its card cannot be read.")] = False,
) -> None:
    """Add an A2A agent that runs elsewhere, by the address of its card."""
    from multi_agents.cli.commands.agents_file import add_agent as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(name, url, agents_file or AGENTS_FILE, force=force))


@agents.command("remove", epilog=EXIT_CODE_HELP)
def agents_remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the supervisor calls it.")],
    agents_file: AgentsFile = None,
) -> None:
    """Take an agent from the list; files of a local one stay."""
    from multi_agents.cli.commands.agents_file import remove_agent as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(name, agents_file or AGENTS_FILE))


@app.command("new-agent", epilog=EXIT_CODE_HELP)
def new_agent(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, such as jira.")],
) -> None:
    """Make a new sub-agent that works at once: code, prompt, settings, test, and its place in every list."""
    from multi_agents.cli.commands.new_agent import new_agent as command

    raise typer.Exit(command(name))


@app.command(epilog=EXIT_CODE_HELP)
def doctor(agents_file: AgentsFile = None, as_json: Json = False) -> None:
    """Check Python, settings, model, data folder, ports and agents; exit 0 when all is well, else 2."""
    from multi_agents.cli.commands.doctor import doctor as command

    raise typer.Exit(command(agents_file, as_json=as_json))


@app.command("conformance", epilog=EXIT_CODE_HELP)
def conformance(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of any A2A agent.")],
    ask: Annotated[str | None, typer.Option("--ask", help="What is said to it; default: Hello.")] = None,
    seconds: Annotated[
        float, typer.Option("--timeout", min=1, help="Longest wait for one answer, in seconds.")
    ] = 60,
    as_json: Json = False,
) -> None:
    """Hold an A2A agent to the specification, from outside; exit 0 when it breaks no rule, else 1."""
    from multi_agents.cli.commands.conformance import conformance as command

    raise typer.Exit(command(url, ask, seconds, as_json=as_json))


@tasks.command("list", epilog=EXIT_CODE_HELP)
def tasks_list(
    url: Url = None,
    context: Annotated[str, typer.Option("--context", help="Only tasks of this conversation.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 50,
    as_json: Json = False,
) -> None:
    """List tasks, newest first."""
    from multi_agents.cli.commands.tasks import list_tasks

    raise typer.Exit(list_tasks(url, context, limit, as_json=as_json))


@tasks.command("show", epilog=EXIT_CODE_HELP)
def tasks_show(task_id: TaskId, url: Url = None, as_json: Json = False) -> None:
    """Show a task as it stands, with its answer."""
    from multi_agents.cli.commands.tasks import show_task

    raise typer.Exit(show_task(url, task_id, as_json=as_json))


@tasks.command("tree", epilog=EXIT_CODE_HELP)
def tasks_tree(task_id: TaskId, url: Url = None, as_json: Json = False) -> None:
    """Draw a task and what it caused at other agents: states, durations, tokens."""
    from multi_agents.cli.commands.tasks import tree_of_task

    raise typer.Exit(tree_of_task(url, task_id, as_json=as_json))


@tasks.command("cancel", epilog=EXIT_CODE_HELP)
def tasks_cancel(task_id: TaskId, url: Url = None, as_json: Json = False) -> None:
    """Cancel a task."""
    from multi_agents.cli.commands.tasks import cancel_task

    raise typer.Exit(cancel_task(url, task_id, as_json=as_json))


@tasks.command("follow", epilog=EXIT_CODE_HELP)
def tasks_follow(task_id: TaskId, url: Url = None, as_json: Json = False) -> None:
    """Follow a task until it ends; the exit code tells how."""
    from multi_agents.cli.commands.tasks import follow_task

    raise typer.Exit(follow_task(url, task_id, as_json=as_json))


@app.command(epilog=EXIT_CODE_HELP)
def login(
    url: Url = None,
    issuer: Annotated[
        str, typer.Option("--issuer", help="The provider; default: what the agent names.")
    ] = "",
    client_id: Annotated[
        str,
        typer.Option("--client-id", help="What the provider knows this program as; default: AUTH_CLIENT_ID."),
    ] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="What is asked for; default: to use the agent and to approve."),
    ] = None,
    audience: Annotated[
        str, typer.Option("--audience", help="What the token is for, if the provider asks.")
    ] = "",
) -> None:
    """Log in at the OpenID provider of an agent, by a code that is entered in any browser."""
    from multi_agents.cli.commands.login import Wanted
    from multi_agents.cli.commands.login import login as command

    raise typer.Exit(command(Wanted(url or "", issuer, client_id, tuple(scope or ()), audience)))


@app.command(epilog=EXIT_CODE_HELP)
def logout(url: Url = None) -> None:
    """Forget the tokens of a login."""
    from multi_agents.cli.commands.login import logout as command

    raise typer.Exit(command(url or ""))


@keys.command("create", epilog=EXIT_CODE_HELP)
def keys_create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is.")],
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="What it allows, such as agent:rag:use; default: use and approve."),
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="Where its owner belongs.")] = "",
    days: Annotated[
        float, typer.Option("--days", min=0, max=36_500, help="How long it is taken; 0 for ever.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Make an API key and show it, once; only its digest is stored."""
    from multi_agents.cli.commands.keys import create_key

    raise typer.Exit(create_key(name, scope or [], tenant, days, as_json=as_json))


@keys.command("list", epilog=EXIT_CODE_HELP)
def keys_list(as_json: Json = False) -> None:
    """List the API keys: names, scopes, tenants and ends."""
    from multi_agents.cli.commands.keys import list_keys

    raise typer.Exit(list_keys(as_json=as_json))


@keys.command("service", epilog=EXIT_CODE_HELP)
def keys_service() -> None:
    """Make a key with which a supervisor signs for its agents, as two settings: for it, and for them."""
    from multi_agents.cli.commands.keys import make_service_key

    raise typer.Exit(make_service_key())


@keys.command("revoke", epilog=EXIT_CODE_HELP)
def keys_revoke(name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is.")]) -> None:
    """Delete an API key; it is refused from the next request on."""
    from multi_agents.cli.commands.keys import revoke_key

    raise typer.Exit(revoke_key(name))


def main() -> None:
    """Entry point of the console script."""
    sys.excepthook = tell_crash
    try:
        typer.main.get_command(app)()  # not app(): that puts a hook of its own in place
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
