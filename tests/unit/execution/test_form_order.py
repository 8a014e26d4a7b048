"""The order of the fields of a form, which protocol buffers do not keep."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict

from utils.a2a_common.execution.agent_messages import question_message
from utils.events import InputRequired

FIELDS = ("zone", "name", "when", "area")


def sent(form: Mapping[str, Any]) -> dict[str, Any]:
    message = question_message(InputRequired("Where?", "porter", form), "porter", form=True)
    return dict(MessageToDict(message.parts[1].data)["form"])


def test_a_form_names_its_fields_in_the_order_of_the_agent():
    form = {"type": "object", "properties": {name: {"type": "string"} for name in FIELDS}}
    assert sent(form)["propertyOrdering"] == list(FIELDS)


def test_a_form_that_is_passed_on_keeps_the_order_of_the_agent_that_asks():
    passed_on = sent(sent({"properties": {name: {} for name in FIELDS}}))
    assert passed_on["propertyOrdering"] == list(FIELDS)


def test_a_form_of_one_field_and_what_is_no_schema_are_sent_as_they_are():
    forms: list[dict[str, Any]] = [{"properties": {"name": {}}}, {"url": "https://example.com"}]
    assert [sent(form) for form in forms] == forms
