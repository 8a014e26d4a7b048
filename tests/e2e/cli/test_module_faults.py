"""A module of the agents file that cannot be imported: a code and a sentence with the place; its traceback stays in the log."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.e2e.cli.command import ROOT, Finished, run
from tests.e2e.cli.fake_package import write_list
from tests.e2e.cli.test_up import Scene, both_methods

pytestmark = pytest.mark.processes

NOT_LOADED = 70

FAULTS = {
    "a syntax error": ("x = 1\ndef broken(:\n", 2, "SyntaxError", "Mend it and start again."),
    "a missing package": (
        "import json\n\nimport no_such_package\n",
        3,
        "No module named 'no_such_package'",
        "Install",
    ),
    "an exception": ("import json\njson.loads('{')\n", 2, "JSONDecodeError", "Mend it and start again."),
}

faults = pytest.mark.parametrize("fault", FAULTS)


@both_methods
@faults
async def test_up_says_where_the_fault_of_a_module_is_and_its_log_has_the_traceback(tmp_path, method, fault):
    code, line, words, way_out = FAULTS[fault]
    scene = Scene(tmp_path, method=method)
    (tmp_path / "two.py").write_text(code)
    done = await scene.run()
    assert_told(done, tmp_path / "two.py", line, words, way_out)
    assert "Traceback" in (tmp_path / "logs" / "two.log").read_text()


@faults
async def test_serve_says_where_the_fault_of_a_module_is_and_a_file_has_the_traceback(tmp_path, fault):
    code, line, words, way_out = FAULTS[fault]
    (tmp_path / "two.py").write_text(code)
    agents = str(write_list(tmp_path, two=8009))
    done = await run("serve", "two", "--agents-file", agents, home=tmp_path, **environ(tmp_path))
    assert_told(done, tmp_path / "two.py", line, words, way_out)
    (details,) = tmp_path.glob("platform-engineer-*.log")
    assert "Traceback" in details.read_text()


async def test_a_fault_in_what_a_module_imports_is_told_at_its_own_place(tmp_path):
    (tmp_path / "mine.py").write_text("import missing_below\n")
    (tmp_path / "two.py").write_text("import mine\n")
    agents = str(write_list(tmp_path, two=8009))
    done = await run("serve", "two", "--agents-file", agents, home=tmp_path, **environ(tmp_path))
    assert_told(done, tmp_path / "mine.py", 1, "missing_below", "Install")


async def test_a_module_that_there_is_not_is_told_with_what_names_it(tmp_path):
    agents = str(write_list(tmp_path, two=8009))
    done = await run("serve", "two", "--agents-file", agents, home=tmp_path, **environ(tmp_path))
    assert done.code == NOT_LOADED
    assert "Error [agent_not_loaded]: " in done.err
    assert "No module named two" in done.err
    assert "agents.yaml" in done.err
    assert "Traceback" not in done.err


async def test_serve_of_a_class_says_where_the_fault_of_its_module_is(tmp_path):
    (tmp_path / "two.py").write_text("import json\nimport no_such_package\n")
    done = await run("serve", "two:Agent", home=tmp_path, **environ(tmp_path))
    assert_told(done, tmp_path / "two.py", 2, "no_such_package", "Install")


async def test_doctor_calls_a_module_that_cannot_be_imported_wrong(tmp_path):
    (tmp_path / "two.py").write_text("import no_such_package\n")
    agents = str(write_list(tmp_path, two=8009))
    done = await run("doctor", "--json", "--agents-file", agents, home=tmp_path, **environ(tmp_path))
    wrong = done.findings("wrong")
    assert done.code == 2
    assert any(f"{tmp_path / 'two.py'}, line 1" in detail for detail in wrong)


def environ(folder: Path) -> dict[str, str]:
    return {"PYTHONPATH": f"{ROOT}:{folder}", "TMPDIR": str(folder)}


def assert_told(done: Finished, file: Path, line: int, words: str, way_out: str) -> None:
    assert done.code == NOT_LOADED, done.err
    assert "Error [agent_not_loaded]: " in done.err
    assert f"{file}, line {line}" in done.err
    assert words in done.err
    assert way_out in done.err
    assert "Traceback" not in done.err + done.out
    assert sys.prefix not in done.err
