"""Every code block of the documentation runs, or parses."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Iterator

import pytest
import yaml
from dotenv import dotenv_values

from tests.docs.blocks import Block, all_blocks, blocks_of, documents
from tests.docs.checkout import Checkout
from tests.lent import LentFolder

LANGUAGES = {"python", "bash", "yaml", "json", "env", "text", "mermaid"}
OPTIONS = {"file", "append", "no-run", "service", "expect"}


def _runs(document: str) -> bool:
    return any(block.language in {"python", "bash"} for block in blocks_of(document))


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, LentFolder]:
    made = Checkout.make(tmp_path_factory.mktemp("docs") / "checkout")
    return made, LentFolder(made.folder)


@pytest.fixture
def checkout(copied: tuple[Checkout, LentFolder]) -> Iterator[Checkout]:
    made, lent = copied
    yield made
    lent.restore()


@pytest.mark.processes
@pytest.mark.timeout(1200)  # a document is several programs, each with its own imports
@pytest.mark.parametrize("document", [name for name in documents() if _runs(name)])
def test_the_blocks_of_a_document_run_one_after_the_other(document, checkout):
    for block in blocks_of(document):
        if "service" not in block.options:
            checkout.play(block)


@pytest.mark.parametrize("block", all_blocks(), ids=str)
def test_a_block_names_its_language_and_known_options(block: Block):
    assert block.language in LANGUAGES
    assert set(block.options) <= OPTIONS
    assert block.options.get("no-run", "a reason"), "no-run needs a reason"


@pytest.mark.processes
@pytest.mark.parametrize("block", all_blocks("bash"), ids=str)
def test_a_block_for_a_shell_is_valid(block: Block):
    done = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", [one for one in all_blocks() if one.language != "bash"], ids=str)
def test_a_block_is_valid_in_its_language(block: Block):
    match block.language:
        case "json":
            json.loads(block.text)
        case "yaml":
            assert yaml.safe_load(block.text) is not None
        case "python":
            compile(block.text, str(block), "exec")
        case "env":
            assert None not in dotenv_values(stream=io.StringIO(block.text)).values(), (
                "a line is no NAME=value"
            )
        case _:
            assert block.text.strip()
