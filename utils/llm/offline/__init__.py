"""The parts of the embedded chat model: reading a request, routing it, filling arguments, quoting results.

Everything here is a function of its arguments: no state is kept between two calls, no clock is read
that was not handed in, and no text is invented: an answer is made of what tools returned.
"""

MODEL_NAME = "embedded-router"
"""LangChain's name of the offline model, `BaseChatModel._llm_type`."""
