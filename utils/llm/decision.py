"""Requests one decision from a model in a fixed form.

The form is offered as the only tool, and a call is required. If the model or server does not support that, the request is
repeated without the requirement. JSON in plain text is accepted too, since small models write their calls as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import structlog
from pydantic import BaseModel, ValidationError

from utils.errors import InvalidRequest, ModelFailure

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

log = structlog.get_logger(__name__)

Form = TypeVar("Form", bound=BaseModel)


class Decision(NamedTuple, Generic[Form]):
    """A model's decision.

    Attributes:
        value: The decision; `None` if the answer has another form.
        answer: The model's message, with its usage.
    """

    value: Form | None
    answer: AIMessage


async def decide(model: BaseChatModel, messages: Sequence[BaseMessage], form: type[Form]) -> Decision[Form]:
    """Ask a model to fill in a form.

    Args:
        model: The model.
        messages: The question. It should describe the form in words too, for models that answer in text.
        form: The form; its title becomes the name of the tool, its docstring the description.

    Raises:
        ModelFailure: The provider refused the request or cannot be reached.
    """
    from utils.llm.classify import classify

    refused: ModelFailure | None = None
    for bound in _bindings(model, form):
        try:
            answer: Any = await bound.ainvoke(list(messages))
        except Exception as error:
            failure = classify(error)
            if failure is None:
                raise
            if not isinstance(failure, InvalidRequest) or refused is not None:
                raise failure from error
            refused = failure
            log.info("model.decision_refused", code=failure.code)
            continue
        return Decision(_read(answer, form), answer)
    raise refused or InvalidRequest("The model takes no tools.")


def _bindings(model: BaseChatModel, form: type[BaseModel]) -> Iterator[Any]:
    """The model with the form as its tool: first with a required call, if the client supports that, then with an optional one."""
    try:
        yield model.bind_tools([form], tool_choice="any")
    except ValueError:  # the client knows that its model does not support it
        log.debug("model.choice_unsupported")
    yield model.bind_tools([form])


def _read(answer: AIMessage, form: type[Form]) -> Form | None:
    from utils.llm.reply.answer import read_answer
    from utils.llm.reply.thoughts import split_thoughts
    from utils.messages.text import message_text

    name = str(form.model_json_schema()["title"])
    try:
        calls = read_answer(answer, {name}).tool_calls
    except ModelFailure:
        calls = []
    try:
        if calls:
            return form.model_validate(calls[0]["args"])
        return form.model_validate_json(_object_in(split_thoughts(message_text(answer)).answer))
    except ValidationError:
        return None


def _object_in(text: str) -> str:
    """The JSON object in a text, without the text around it."""
    return text[text.find("{") : text.rfind("}") + 1]
