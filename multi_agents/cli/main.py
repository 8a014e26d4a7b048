"""`platform-engineer`: the options of each command. Its code is in `commands/`, imported when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from multi_agents.cli.agent_commands import agents
from multi_agents.cli.conversation_commands import conversations
from multi_agents.cli.crash import tell_crash
from multi_agents.cli.db_commands import db
from multi_agents.cli.erase_command import ERASE_ENDING, erase
from multi_agents.cli.exit_codes import EXIT_CODE_HELP, ExitCode
from multi_agents.cli.help_screens import Commands, Panel, ending
from multi_agents.cli.memory_commands import memory
from multi_agents.cli.options import AgentsFile, Json, Token, Url
from multi_agents.cli.streams import use_what_there_is

app = Commands(
    name="platform-engineer",
    help="Chat with the platform engineer, run its service, and look after its agents.",
    epilog=EXIT_CODE_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

tasks = Commands(help="The tasks of an agent.", no_args_is_help=True)
app.add_typer(tasks, name="tasks", rich_help_panel=Panel.DATA)
app.add_typer(conversations, name="conversations", rich_help_panel=Panel.DATA)
app.add_typer(memory, name="memory", rich_help_panel=Panel.DATA)
keys = Commands(help="API keys of people and programs that call the agents.", no_args_is_help=True)
app.add_typer(keys, name="keys", rich_help_panel=Panel.ADMIN)
app.add_typer(agents, name="agents", rich_help_panel=Panel.AGENTS)

app.add_typer(db, name="db", rich_help_panel=Panel.ADMIN)

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


@app.command(rich_help_panel=Panel.USE, epilog=ending(example='chat --ask "Which documents do you know?"'))
def chat(
    conversation: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="--resume ID", help="Only with --resume: id of a conversation, or its first characters."
        ),
    ] = None,
    *,
    url: Url = None,
    ask: Annotated[str | None, typer.Option("--ask", help="Ask this, print the answer, exit.")] = None,
    context: Annotated[str, typer.Option("--context", help="Id of the conversation to continue.")] = "",
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue an earlier conversation: --resume ID; without an ID, list them."
        ),
    ] = False,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only answers and failures.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            min=1,
            help="Longest silence of the agent, in seconds; default: 600 with --ask or lines from a pipe, else none.",
        ),
    ] = None,
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

    launch = LaunchOptions(port, agents_file)
    words = conversation or ()
    asked = Asked(url, ask, context, resume, words, as_json, quiet, downloads, launch, token, seconds)
    raise typer.Exit(command(asked))


@app.command(rich_help_panel=Panel.USE)
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

    raise typer.Exit(command(LaunchOptions(port, agents_file, supervisor)))


@app.command(rich_help_panel=Panel.USE)
def web(
    port: Port = None,
    agents_file: AgentsFile = None,
    *,
    unopened: Annotated[
        bool, typer.Option("--no-open", help="Print the address only; do not open a browser.")
    ] = False,
) -> None:
    """Open the page in a browser; start the local service when none runs."""
    from multi_agents.cli.commands.web import web as command
    from multi_agents.cli.service.local import LaunchOptions

    raise typer.Exit(command(LaunchOptions(port, agents_file), opened=not unopened))


@app.command(rich_help_panel=Panel.USE)
def serve(
    target: Annotated[
        str, typer.Argument(metavar="NAME|module:Class", help="supervisor, an agent, or a class.")
    ],
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = None,
    agents_file: AgentsFile = None,
) -> None:
    """Run one agent in the foreground until Ctrl-C."""
    from multi_agents.cli.commands.serve import serve as command

    raise typer.Exit(command(target, host, port, agents_file))


@app.command(
    rich_help_panel=Panel.DATA,
    epilog=ending(
        codes="1 if a document was skipped or is not there.",
        example="ingest ./handbook https://example.com/runbook.html",
    ),
)
def ingest(
    sources: Annotated[list[str], typer.Argument(metavar="PATH|URL…", help="Files, folders and addresses.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take them out of the index instead.")] = False,
    agents_file: AgentsFile = None,
) -> None:
    """Read documents into the index of the RAG agent, or take them out."""
    from multi_agents.cli.commands.ingest import ingest as command
    from multi_agents.cli.service.plan import AGENTS_FILE

    raise typer.Exit(command(sources, agents_file or AGENTS_FILE, remove=remove))


@app.command("new-agent", rich_help_panel=Panel.AGENTS)
def new_agent(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, such as jira.")],
) -> None:
    """Make a new sub-agent that works at once: code, prompt, settings, test, and its place in every list."""
    from multi_agents.cli.commands.new_agent import new_agent as command

    raise typer.Exit(command(name))


@app.command(rich_help_panel=Panel.USE, epilog=ending(codes="0 if all is well · 2 if something is wrong."))
def doctor(agents_file: AgentsFile = None, as_json: Json = False) -> None:
    """Check Python, settings, model, embeddings, MCP servers, data folder, start, retention, ports and agents."""
    from multi_agents.cli.commands.doctor import doctor as command

    raise typer.Exit(command(agents_file, as_json=as_json))


@app.command(
    "conformance",
    rich_help_panel=Panel.AGENTS,
    epilog=ending(codes="0 if no rule is broken · 1 if a rule is broken."),
)
def conformance(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of any A2A agent.")],
    ask: Annotated[
        str | None, typer.Option("--ask", help="Text that is sent to the agent; default: Hello.")
    ] = None,
    seconds: Annotated[
        float, typer.Option("--timeout", min=1, help="Longest wait for one answer, in seconds.")
    ] = 60,
    as_json: Json = False,
) -> None:
    """Test an A2A agent against the specification."""
    from multi_agents.cli.commands.conformance import conformance as command

    raise typer.Exit(command(url, ask, seconds, as_json=as_json))


app.command("erase", rich_help_panel=Panel.ADMIN, epilog=ERASE_ENDING)(erase)


@tasks.command("list")
def tasks_list(
    url: Url = None,
    token: Token = "",
    context: Annotated[str, typer.Option("--context", help="Only tasks of this conversation.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 50,
    as_json: Json = False,
) -> None:
    """List tasks, newest first."""
    from multi_agents.cli.commands.tasks import list_tasks

    raise typer.Exit(list_tasks(url, token, context, limit, as_json=as_json))


@tasks.command("show")
def tasks_show(task_id: TaskId, url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """Show a task: its state and its answer."""
    from multi_agents.cli.commands.tasks import show_task

    raise typer.Exit(show_task(url, token, task_id, as_json=as_json))


@tasks.command("tree")
def tasks_tree(task_id: TaskId, url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """Draw a task and what it caused at other agents: states, durations, tokens."""
    from multi_agents.cli.commands.tasks import tree_of_task

    raise typer.Exit(tree_of_task(url, token, task_id, as_json=as_json))


@tasks.command("cancel")
def tasks_cancel(task_id: TaskId, url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """Cancel a task."""
    from multi_agents.cli.commands.tasks import cancel_task

    raise typer.Exit(cancel_task(url, token, task_id, as_json=as_json))


@tasks.command("follow")
def tasks_follow(task_id: TaskId, url: Url = None, token: Token = "", as_json: Json = False) -> None:
    """Follow a task until it ends; the exit code is that of its end."""
    from multi_agents.cli.commands.tasks import follow_task

    raise typer.Exit(follow_task(url, token, task_id, as_json=as_json))


@app.command(
    rich_help_panel=Panel.ADMIN,
    epilog=ending(example="login --url https://engineer.example.com --client-id platform-engineer"),
)
def login(
    url: Url = None,
    issuer: Annotated[
        str, typer.Option("--issuer", help="Address of the provider; default: the one that the agent names.")
    ] = "",
    client_id: Annotated[
        str,
        typer.Option(
            "--client-id", help="Client ID of this program at the provider; default: AUTH_CLIENT_ID."
        ),
    ] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="Scopes to request; default: to use the agent and to approve."),
    ] = None,
    audience: Annotated[
        str, typer.Option("--audience", help="Audience of the token, if the provider requires one.")
    ] = "",
) -> None:
    """Log in at the OpenID provider of an agent: you enter a code in any browser."""
    from multi_agents.cli.commands.login import Wanted
    from multi_agents.cli.commands.login import login as command

    raise typer.Exit(command(Wanted(url or "", issuer, client_id, tuple(scope or ()), audience)))


@app.command(rich_help_panel=Panel.ADMIN)
def logout(url: Url = None) -> None:
    """Log out: delete the stored tokens of --url."""
    from multi_agents.cli.commands.login import logout as command

    raise typer.Exit(command(url or ""))


@keys.command("create", epilog=ending(example="keys create ann --scope agent:supervisor:use --days 90"))
def keys_create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the person or program.")],
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="What it allows, such as agent:rag:use; default: use and approve."),
    ] = None,
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant of the person.")] = "",
    days: Annotated[
        float, typer.Option("--days", min=0, max=36_500, help="Days until the key expires; 0: never.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Make an API key and show it, once; only its digest is stored."""
    from multi_agents.cli.commands.keys import create_key

    raise typer.Exit(create_key(name, scope or [], tenant, days, as_json=as_json))


@keys.command("list")
def keys_list(as_json: Json = False) -> None:
    """List the API keys: names, scopes, tenants and ends."""
    from multi_agents.cli.commands.keys import list_keys

    raise typer.Exit(list_keys(as_json=as_json))


@keys.command("service")
def keys_service() -> None:
    """Print a new key pair: AUTH_SERVICE_KEY for the supervisor and AUTH_SERVICE_PUBLIC_KEY for its agents."""
    from multi_agents.cli.commands.keys import make_service_key

    raise typer.Exit(make_service_key())


@keys.command("revoke")
def keys_revoke(name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the key.")]) -> None:
    """Delete an API key; it is refused from the next request on."""
    from multi_agents.cli.commands.keys import revoke_key

    raise typer.Exit(revoke_key(name))


def main() -> None:
    """Run the command of the arguments, and end the process with its exit code."""
    use_what_there_is()
    sys.excepthook = tell_crash
    try:
        # Not app(): that puts a hook of its own in place.
        typer.main.get_command(app.reduced_to(sys.argv[1:]))()
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except OSError as error:
        from multi_agents.cli.running import tell_full
        from utils.atomic_file import is_full

        if not is_full(error):
            raise
        sys.exit(tell_full(error))
