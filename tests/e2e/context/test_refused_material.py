"""What a model provider refuses once does not hold up the conversation: the real clients of every provider."""

import base64
import json
from dataclasses import dataclass, field

import pytest
from a2a.client import Client
from a2a.types.a2a_pb2 import Part
from langchain_core.tools import tool

from tests.e2e.agents.peers import Answer, Keys, ask, connected, message
from tests.e2e.agents.test_own_agents import Triage
from tests.e2e.delegation.foreign import foreign
from tests.e2e.delegation.teams import supervising
from tests.property.context.media import pdf, png
from tests.rows import mostly_long
from utils.testing.live_agent import running_agent
from utils.testing.strict_provider import Call, Fault, Reply, StrictProvider, Wire, run_strict_provider

PROVIDERS = ["openai", "azure-openai", "anthropic", "aws-bedrock", "google-gemini"]
WITH_PICTURES = ["openai", "anthropic", "aws-bedrock"]
CANNOT = {
    "openai": Fault.refusing("You uploaded an unsupported image. Please make sure your image is valid."),
    "azure-openai": Fault.refusing("Invalid image data."),
    "anthropic": Fault.refusing("messages.0.content.1.image.source.base64.data: Could not process image"),
    "aws-bedrock": Fault.refusing("The model returned the following errors: Could not process image"),
    "google-gemini": Fault.refusing("Unable to process input image. Please retry or report."),
}
FILTERS = {
    "openai": Fault.refusing("Invalid prompt: your prompt was flagged.", code="invalid_prompt"),
    "azure-openai": Fault.refusing("The response was filtered due to the prompt.", code="content_filter"),
    "anthropic": Fault.refusing("Output blocked by content filtering policy"),
    "aws-bedrock": Fault.refusing("The provided request was blocked by content policy"),
    "google-gemini": Fault.refusing("The prompt could not be submitted."),
}
BROKEN = png(600, 400, b"broken")
GOOD = png(300, 200, b"good")
LOCKED = pdf(2, 3_000)


@tool
async def shot() -> list[dict[str, str]]:
    """Takes a screenshot."""
    return [{"type": "image", "base64": base64.b64encode(BROKEN).decode(), "mime_type": "image/png"}]


@tool
async def note() -> str:
    """Reads a note."""
    return "The note says badword."


class Camera(Keys):
    name = "camera"

    async def tools(self):
        return [*await super().tools(), shot, note]


class Brain:
    """Calls the tool that the user names, once, and answers."""

    def __call__(self, request):
        said = request.messages[-1]
        named = [
            each.name for each in request.tools if said.role == "user" and f"use {each.name}" in said.text
        ]
        if named:
            arguments = {"request": "Take a picture"} if named[0] == "peer" else {}
            return Reply("", [Call("c1", named[0], arguments)])
        return Reply("I answer.")


@dataclass
class Talk:
    """One conversation, with the provider that it is held at."""

    client: Client
    double: StrictProvider
    context_id: str = ""
    sent: list[int] = field(default_factory=list)

    async def say(self, text, *files, kind="image/png"):
        request, answer, before = message(text, context_id=self.context_id), Answer(), self.double.received
        for name, content in files:
            request.message.parts.append(Part(raw=content, filename=name, media_type=kind))
        async for event in self.client.send_message(request):
            answer.events.append(event)
        self.context_id = answer.context_id
        self.sent.append(self.double.received - before)
        return answer

    def last_body(self):
        """The body as text, with quotes in its strings as they are."""
        return json.dumps(self.double.requests[-1].body, ensure_ascii=False).replace('\\"', '"')


def holds(talk, content):
    body = talk.last_body()
    data = base64.b64encode(content).decode()
    return data in body or data.replace("+", "-").replace("/", "_").rstrip("=") in body


def words_of(answer):
    """Every sentence of the statuses of an answer."""
    return " ".join(
        part.text
        for event in answer.events
        if event.HasField("status_update")
        for part in event.status_update.status.message.parts
    )


@pytest.mark.parametrize("provider", mostly_long(WITH_PICTURES, 3))
async def test_a_picture_that_cannot_be_processed_is_left_out_and_the_turn_is_answered(provider, tmp_path):
    with run_strict_provider(Brain()) as double:
        double.refusing = {BROKEN: CANNOT[provider]}
        async with (
            running_agent(Camera, environ=double.environment(provider), home=tmp_path) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            first = await talk.say("What is on it?", ("bad.png", BROKEN))
            assert (first.state, first.text) == ("completed", "I answer.")
            assert 'The file "bad.png" is left out: the model provider refused it.' in talk.last_body()
            assert 'refused the file "bad.png"' in words_of(first)
            second = await talk.say("And this one?", ("good.png", GOOD))
            assert second.state == "completed"
            assert holds(talk, GOOD)
            assert not holds(talk, BROKEN)
            again = await talk.say("Look once more.", ("bad.png", BROKEN))
            assert again.state == "completed"
        async with (
            running_agent(Camera, environ=double.environment(provider), home=tmp_path) as url,
            connected(url) as client,
        ):
            later = Talk(client, double, talk.context_id)
            assert (await later.say("Go on.")).state == "completed"
            assert holds(later, GOOD)
            assert not holds(later, BROKEN)
        assert [talk.sent, later.sent] == [[2, 1, 1], [1]]
        assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long([*WITH_PICTURES, "google-gemini"], 2))
async def test_a_document_that_cannot_be_processed_is_left_out_and_the_turn_is_answered(provider):
    with run_strict_provider(Brain()) as double:
        double.refusing = {LOCKED: CANNOT[provider]}
        async with (
            running_agent(Camera, environ=double.environment(provider)) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            first = await talk.say("What does it say?", ("locked.pdf", LOCKED), kind="application/pdf")
            assert first.state == "completed"
            assert 'the file "locked.pdf"' in words_of(first)
            assert (await talk.say("What is the value of 1?")).state == "completed"
            assert not holds(talk, LOCKED)
        assert talk.sent == [2, 1]
        assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long(WITH_PICTURES, 3))
async def test_a_picture_that_a_tool_returns_is_left_out_and_the_turn_is_answered(provider):
    with run_strict_provider(Brain()) as double:
        double.refusing = {BROKEN: CANNOT[provider]}
        async with (
            running_agent(Camera, environ=double.environment(provider)) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            first = await talk.say("use shot")
            assert (first.state, first.text) == ("completed", "I answer.")
            assert "A picture is left out" in talk.last_body()
            assert (await talk.say("What is the value of 1?")).state == "completed"
        assert talk.sent == [3, 1]
        assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long(WITH_PICTURES, 3))
async def test_a_foreign_agents_picture_ends_no_conversation(provider):
    async def script(turn):
        await turn.task()
        await turn.files(Part(raw=BROKEN, filename="p.png", media_type="image/png"))
        await turn.chunk("Here is the picture.", append=False, last=True)
        await turn.status("completed")

    with run_strict_provider(Brain()) as double:
        double.refusing = {BROKEN: CANNOT[provider]}
        async with (
            foreign(script) as peer,
            supervising({"peer": peer.url}, None, double.environment(provider)) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            first = await talk.say("use peer")
            assert first.state == "completed"
            assert first.text.startswith("I answer.")
            assert 'refused the file "p.png"' in words_of(first)
            assert (await talk.say("What is the value of 1?")).state == "completed"
        assert talk.sent == [3, 1]
        assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long(PROVIDERS, 3))
async def test_a_message_that_the_filter_refuses_fails_alone(provider, tmp_path):
    with run_strict_provider(Brain()) as double:
        double.refusing = {"badword": FILTERS[provider]}
        async with (
            running_agent(Camera, environ=double.environment(provider), home=tmp_path) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            assert (await talk.say("Hello.")).state == "completed"
            refused = await talk.say("Never say anything but badword.")
            assert refused.state == "failed"
            assert "It may be due to your message." in refused.last_words
            assert (await talk.say("What is the value of 1?")).state == "completed"
            assert "The model provider refused this message of the user" in talk.last_body()
            assert "Hello." in talk.last_body()
        async with (
            running_agent(Camera, environ=double.environment(provider), home=tmp_path) as url,
            connected(url) as client,
        ):
            later = Talk(client, double, talk.context_id)
            assert (await later.say("Go on.")).state == "completed"
        assert [talk.sent, later.sent] == [[1, 1, 1], [1]]
        assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long(PROVIDERS, 3))
async def test_a_result_that_the_filter_refuses_leaves_with_its_turn(provider):
    with run_strict_provider(Brain()) as double:
        double.refusing = {"badword": FILTERS[provider]}
        async with (
            running_agent(Camera, environ=double.environment(provider)) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            first = await talk.say("use note")
            assert "what note returned" in first.text  # the answer without a model quotes the failure
            assert (await talk.say("What is the value of 1?")).text == "I answer."
            assert (await talk.say("use lookup")).text == "I answer."
        assert talk.sent == [2, 1, 2]
        assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long(WITH_PICTURES, 3))
async def test_what_is_refused_without_its_picture_too_is_tried_once_more_only(provider):
    with run_strict_provider(Brain()) as double:
        double.refusing = {"badword": FILTERS[provider]}
        async with (
            running_agent(Camera, environ=double.environment(provider)) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            refused = await talk.say("Is it badword?", ("fine.png", GOOD))
            assert refused.state == "failed"
            assert 'It may be due to the file "fine.png" or your message.' in refused.last_words
            assert (await talk.say("And now?", ("fine.png", GOOD))).state == "completed"
            assert holds(talk, GOOD)  # it was not why
        assert talk.sent == [2, 1]


@pytest.mark.parametrize("provider", ["openai"])
async def test_messages_that_are_refused_one_after_the_other_all_leave(provider):
    with run_strict_provider(Brain()) as double:
        double.refusing = {"badword": FILTERS[provider]}
        async with (
            running_agent(Camera, environ=double.environment(provider)) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            for number in range(3):
                assert (await talk.say(f"badword {number}")).state == "failed"
            assert (await talk.say("What is the value of 1?")).state == "completed"
            assert "badword" not in talk.last_body()
        assert talk.sent == [1, 1, 1, 1]


async def test_a_message_after_a_failure_of_another_kind_is_not_the_only_suspect():
    with run_strict_provider(Brain()) as double:
        async with (
            running_agent(Camera, environ={**double.environment("openai"), "LLM_MAX_RETRIES": "0"}) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            double.fail_next(Fault.refusing("Down.", 500))
            assert (await talk.say("This is a badword.")).state == "failed"
            double.refusing = {"badword": FILTERS["openai"]}
            assert (await talk.say("What is the value of 1?")).state == "failed"
            assert (await talk.say("What is the value of 2?")).state == "completed"


async def test_a_wrong_key_or_an_unknown_model_leaves_nothing_out():
    with run_strict_provider(Brain()) as double:
        async with (
            running_agent(Camera, environ=double.environment("openai")) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            for status, code in (
                (401, "invalid_api_key"),
                (404, "model_not_found"),
                (429, "insufficient_quota"),
            ):
                double.fail_next(Fault.refusing("Wrong.", status, code))
                assert (await talk.say(f"Question {code}", ("good.png", GOOD))).state == "failed"
            assert (await ask(client, "Go on.", context_id=talk.context_id)).state == "completed"
            assert "Question model_not_found" in talk.last_body()
            assert holds(talk, GOOD)
        assert talk.sent == [1, 1, 1]


BLOCKED = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 5}}


async def test_a_prompt_that_gemini_blocks_without_an_error_fails_alone():
    def brain(request):
        if "badword" in json.dumps(request.body):
            return Wire([b"data: " + json.dumps(BLOCKED).encode() + b"\n\n"])
        return Reply("I answer.")

    with run_strict_provider(brain) as double:
        async with (
            running_agent(Camera, environ=double.environment("google-gemini")) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            refused = await talk.say("badword")
            assert refused.state == "failed"
            assert "It may be due to your message." in refused.last_words
            assert (await talk.say("What is the value of 1?")).state == "completed"
        assert talk.sent == [1, 1]


STOPPED = {"anthropic": "refusal", "aws-bedrock": "guardrail_intervened"}


@pytest.mark.parametrize("said", ["", "Sorry, the model cannot answer this."])
@pytest.mark.parametrize("provider", mostly_long(STOPPED, 2))
async def test_a_turn_that_is_refused_with_status_200_is_left_out_of_later_requests(provider, said, tmp_path):
    def brain(request):
        if "badword" in json.dumps(request.body):
            return Reply(said, reason=STOPPED[provider])
        return Reply("I answer.")

    with run_strict_provider(brain) as double:
        async with (
            running_agent(Camera, environ=double.environment(provider), home=tmp_path) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            assert (await talk.say("Hello.")).text == "I answer."
            refused = await talk.say("Say badword.")
            assert "Your message and what was found for it are left out of later requests." in words_of(
                refused
            )
            if said:
                assert (refused.state, said in refused.text) == ("completed", True)
            else:
                assert refused.state == "failed"
                assert (
                    "content filter stopped the answer. It may be due to your message." in refused.last_words
                )
            assert (await talk.say("What is the value of 1?")).text == "I answer."
            assert "The model provider refused this message of the user" in talk.last_body()
            assert "Hello." in talk.last_body()
        async with (
            running_agent(Camera, environ=double.environment(provider), home=tmp_path) as url,
            connected(url) as client,
        ):
            later = Talk(client, double, talk.context_id)
            assert (await later.say("Go on.")).text == "I answer."
        assert [talk.sent, later.sent] == [[1, 1, 1], [1]]
        assert double.rejections == []


@pytest.mark.parametrize("provider", mostly_long(STOPPED, 2))
async def test_a_picture_that_is_refused_with_status_200_is_left_out_and_the_turn_is_answered(provider):
    def brain(request):
        if base64.b64encode(BROKEN).decode() in json.dumps(request.body):
            return Reply("", reason=STOPPED[provider])
        return Reply("I answer.")

    with run_strict_provider(brain) as double:
        async with (
            running_agent(Camera, environ=double.environment(provider)) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            first = await talk.say("What is on it?", ("bad.png", BROKEN))
            assert (first.state, first.text) == ("completed", "I answer.")
            assert 'refused the file "bad.png"' in words_of(first)
            assert (await talk.say("And what else?")).text == "I answer."
        assert talk.sent == [2, 1]


async def test_an_agent_with_a_graph_of_its_own_goes_on_as_well():
    with run_strict_provider(Brain()) as double:
        double.refusing = {"badword": FILTERS["openai"], BROKEN: CANNOT["openai"]}
        async with (
            running_agent(Triage, environ=double.environment("openai")) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            assert (await talk.say("Hello.")).text == "I answer. (can wait)"
            assert (await talk.say("What is on it?", ("bad.png", BROKEN))).state == "completed"
            assert (await talk.say("badword")).state == "failed"
            assert (await talk.say("Is it down?")).text == "I answer. (urgent)"
            assert "What is on it?" in talk.last_body()
        assert talk.sent == [1, 2, 1, 1]
        assert double.rejections == []


async def test_a_picture_that_another_model_accepted_is_left_out_at_the_second_refusal(tmp_path):
    with run_strict_provider(Brain()) as double:
        async with (
            running_agent(Camera, environ=double.environment("openai"), home=tmp_path) as url,
            connected(url) as client,
        ):
            talk = Talk(client, double)
            assert (await talk.say("What is on it?", ("a.png", GOOD))).state == "completed"
        double.refusing = {GOOD: CANNOT["anthropic"]}
        async with (
            running_agent(Camera, environ=double.environment("anthropic"), home=tmp_path) as url,
            connected(url) as client,
        ):
            later = Talk(client, double, talk.context_id)
            assert (await later.say("Hello?")).state == "failed"
            assert (await later.say("What is the value of 1?")).state == "completed"
            assert (await later.say("What is the value of 2?")).state == "completed"
        assert later.sent == [1, 2, 1]
