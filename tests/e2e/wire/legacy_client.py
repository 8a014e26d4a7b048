"""Run with a2a-sdk 0.3 in its own environment: reads a card, streams one message, prints what came.

This file imports an SDK that cannot be installed beside ours, so it is a program and not a module.
"""

import asyncio
import importlib
import json
import sys
from typing import Any

TEXT = "hello from 0.3"


async def main(url: str) -> None:
    import httpx
    from a2a.client import A2ACardResolver, ClientConfig, ClientFactory

    helpers: Any = importlib.import_module("a2a.client.helpers")
    async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
        card: Any = await A2ACardResolver(http, url).get_agent_card()
        client: Any = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        states = []
        task: Any = None
        async for item in client.send_message(helpers.create_text_message_object(content=TEXT)):
            task = item[0]
            states.append(str(task.status.state.value))
        print(
            json.dumps(
                {
                    "name": card.name,
                    "states": states,
                    "text": task.artifacts[0].parts[0].root.text,
                }
            )
        )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
