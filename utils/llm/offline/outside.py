"""Requests that belong to no tool, as examples of their own: what is nearest to one of these is declined."""

from __future__ import annotations

OUTSIDE = (
    "Write a poem about the sea",
    "Write a short story for my daughter",
    "Sing a song",
    "Tell me something funny",
    "What is the weather like in London?",
    "Will it rain this weekend?",
    "What time is it in Tokyo?",
    "What is the capital of Spain?",
    "Who was the president of the United States in 1990?",
    "Who won the football match last night?",
    "Translate this sentence into French",
    "Give me a recipe for pancakes",
    "Order some food for me",
    "Book a flight to New York",
    "Reserve a hotel room",
    "Recommend a good movie",
    "What is the stock price of Apple?",
    "Solve this equation",
    "Do you love me?",
    "What is the meaning of life?",
    "Play some music",
    "Set an alarm for tomorrow morning",
    "Send an e-mail to my boss",
    "How tall is Mount Everest?",
    "How do I lose weight?",
    "What should I wear today?",
)
