"""Asks a model for one decision in a fixed form.

The form is offered as the only tool and the model is made to call it. A model or server that cannot be made to is asked
once more without that; an answer that is JSON in plain text is read too, since small models write their calls as text.
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
    """What a model decided.

    Attributes:
        value: The decision; `None` where the answer has another form.
        answer: The model's message, which holds its usage.
    """

    value: Form | None
    answer: AIMessage


async def decide(model: BaseChatModel, messages: Sequence[BaseMessage], form: type[Form]) -> Decision[Form]:
    """Ask a model to fill in a form.

    Args:
        model: Who is asked.
        messages: The question. It should describe the form in words too, for models that answer in text.
        form: The form; its title is the name of the tool, its docstring what the tool is for.

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
    """The model with the form as its tool: it must call it, or, where the client knows no such thing, it may."""
    try:
        yield model.bind_tools([form], tool_choice="any")
    except ValueError:  # a client that knows that its model cannot be made to
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
    """The JSON object in a text, with whatever stands around it left out."""
    return text[text.find("{") : text.rfind("}") + 1]
