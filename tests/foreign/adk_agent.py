"""An agent on google-adk, without a model: python adk_agent.py PORT."""

import sys
from collections.abc import AsyncGenerator

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.tools import FunctionTool, LongRunningFunctionTool
from google.genai import types

PORT = int(sys.argv[1])


def said(*parts: types.Part) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=list(parts)))


def calling(name: str, **arguments: str) -> LlmResponse:
    return said(types.Part(function_call=types.FunctionCall(name=name, args=arguments)))


class Scripted(BaseLlm):
    """Does what the last message says."""

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = request.contents[-1].parts or []
        results = [part.function_response.response for part in parts if part.function_response]
        text = " ".join(part.text for part in parts if part.text)
        if results:
            yield said(types.Part(text=f"The tool said {results[0]}"))
        elif text.startswith("ask"):
            yield calling("which_colour", question="Which colour?")
        elif text.startswith("restart"):
            yield calling("restart", service="billing")
        elif text.startswith("file"):
            blob = types.Blob(
                data=bytes(range(256)), mime_type="application/octet-stream", display_name="all.bin"
            )
            yield said(types.Part(text="Here it is."), types.Part(inline_data=blob))
        elif text.startswith("fail"):
            raise RuntimeError("a secret of the agent")
        else:
            yield said(types.Part(text=f"You said {text}"))


def which_colour(question: str) -> dict[str, str]:
    """Asks the user for a colour."""
    return {"status": "pending", "question": question}


def restart(service: str) -> str:
    """Restarts a service."""
    return f"restarted {service}"


agent = LlmAgent(
    name="painter",
    model=Scripted(model="scripted"),
    description="Paints.",
    instruction="Paint.",
    tools=[LongRunningFunctionTool(which_colour), FunctionTool(restart, require_confirmation=True)],
)
uvicorn.run(to_a2a(agent, host="127.0.0.1", port=PORT), host="127.0.0.1", port=PORT, log_level="warning")
