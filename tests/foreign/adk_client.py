"""Asks an agent as google-adk does, and prints what it answered: python adk_client.py URL WORDS."""

import asyncio
import sys
import warnings

from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai import types

warnings.simplefilter("ignore")
URL, WORDS = sys.argv[1:]


async def main() -> None:
    agent = RemoteA2aAgent(name="remote", agent_card=f"{URL}/.well-known/agent-card.json")
    runner = InMemoryRunner(agent=agent, app_name="asking")
    session = await runner.session_service.create_session(app_name="asking", user_id="somebody")
    message = types.Content(role="user", parts=[types.Part(text=WORDS)])
    final = ""
    async for event in runner.run_async(user_id="somebody", session_id=session.id, new_message=message):
        if event.is_final_response() and event.content:
            final = "".join(part.text or "" for part in event.content.parts or [] if not part.thought)
    print(final)


asyncio.run(main())
