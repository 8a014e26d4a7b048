"""What all tests share."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterator

import hypothesis
import pytest
import structlog

from tests.embedded import share_model
from tests.fast import forbid_processes_and_servers
from tests.postgres import PostgresServer, running_server
from tests.temporary import put_in_memory
from tests.tls import share_contexts
from utils.process_wide import install

pytest_plugins = ["tests.preloaded.workers", "tests.reports", "tests.spread", "tests.waiting"]

pytest.register_assert_rewrite("utils.testing.agent_contract")  # so that a broken promise shows its values

install()  # as an entry point does
share_contexts()
share_model()
put_in_memory()

# How long an example takes tells of the machine, not of the code.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# The default draws every exception with all local values, which takes seconds in a test of failures.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(),
    ]
)


# `make test &` in a script starts with Ctrl-C ignored, and so would every process that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fail-on-skip", action="store_true", help="a test that would be skipped fails: the full run"
    )

    parser.addoption("--postgres", action="store_true", help="agents keep their data in PostgreSQL")
    parser.addoption(
        "--no-processes", action="store_true", help="a test that starts a process or listens on a port fails"
    )


def pytest_configure(config: pytest.Config) -> None:
    # Collecting makes a million objects that stay: looking through them again and again is a fifth of its time.
    gc.disable()
    if config.getoption("--postgres"):
        config.pluginmanager.import_plugin("tests.in_postgres")


@pytest.hookimpl(tryfirst=True)  # before some are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that hold a long test: one that is left to the end keeps a single worker busy."""
    for item in items:
        if "listens" in getattr(item, "fixturenames", ()):
            item.add_marker("listens")
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what all tests share: a full collection takes half a second otherwise.

    It looks seldom, since the objects of a test live for as long as that.
    """
    if "boto3" in sys.modules:
        from tests.boto import share_descriptions

        share_descriptions()
    if "langgraph.pregel" in sys.modules:
        from tests.graphs import share_instructions

        share_instructions()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_runtestloop(session: pytest.Session) -> None:
    is_controller = session.config.getoption("numprocesses", None) and not hasattr(
        session.config, "workerinput"
    )
    if session.config.getoption("--no-processes") and not is_controller:
        forbid_processes_and_servers()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    report = yield
    if report.skipped and item.config.getoption("--fail-on-skip") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which the full run does not allow: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    if report.skipped and collector.config.getoption("--fail-on-skip"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which the full run does not allow: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def listens() -> None:
    """Marks each test that depends on it `listens`: for fixtures that serve on a port."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server."""
    with running_server() as server:
        yield server
