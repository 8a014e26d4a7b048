"""The pages that are made from the code do not drift from it."""

from __future__ import annotations

import io
from enum import StrEnum

import pytest
from dotenv import dotenv_values
from pydantic import Field

from docs.make_configuration import files, groups
from tests.docs.blocks import ROOT, Block, all_blocks
from utils.settings import EnvSettings
from utils.settings_docs import COMPOSE, settings_of

KNOWN = {one.variable for group in groups() for one in settings_of(group)}


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_a_generated_file_says_what_the_code_says(path):
    assert path.read_text("utf-8") == files()[path], "run: python -m docs.make_configuration"


def test_every_setting_has_a_variable_and_a_meaning():
    for group in groups():
        for name, field in group.model_fields.items():
            told = field.alias or field.description or field.is_required()
            assert not told or (field.alias or "").isupper(), f"{group.__name__}.{name} has no variable"
            assert not told or field.description, f"{field.alias} has no description"


def test_the_meaning_of_a_choice_names_every_value():
    class Colour(StrEnum):
        RED = "red"
        BLUE = "blue"

    class Paint(EnvSettings):
        """Paint."""

        told: Colour = Field(Colour.RED, alias="TOLD", description="red or blue.")
        silent: Colour | None = Field(None, alias="SILENT", description="The other colour.")

    meanings = [one.meaning for one in settings_of(Paint)]
    assert meanings == ["red or blue.", "The other colour. One of: red, blue."]
    assert [one.kind for one in settings_of(Paint)] == ["choice", "choice"]


def test_a_copy_of_the_example_changes_nothing():
    assert dotenv_values(stream=io.StringIO((ROOT / ".env.example").read_text("utf-8"))) == {}


@pytest.mark.parametrize("block", all_blocks("env"), ids=str)
def test_an_env_block_sets_variables_that_exist(block: Block):
    given = dotenv_values(stream=io.StringIO(block.text))
    assert given
    assert set(given) <= KNOWN | set(COMPOSE)
    for group in groups():
        group.load({name: value or "" for name, value in given.items()})
