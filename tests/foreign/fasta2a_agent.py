"""An agent of pydantic-ai that fasta2a serves, without a model: python fasta2a_agent.py PORT."""

import sys

import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

PORT = int(sys.argv[1])


async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    content = messages[-1].parts[-1].content
    words = (
        content if isinstance(content, str) else " ".join(each for each in content if isinstance(each, str))
    )
    return ModelResponse(parts=[TextPart(f"You said {words}")])


async def pieces(messages: list[ModelMessage], info: AgentInfo):
    whole = await answer(messages, info)
    for part in whole.parts:
        yield part.content


app = agent_to_a2a(
    Agent(FunctionModel(answer, stream_function=pieces), name="parrot"),
    name="parrot",
    description="Repeats.",
    url=f"http://127.0.0.1:{PORT}",
)
uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
