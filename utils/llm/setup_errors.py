"""Errors of a misconfigured server, model or account, with what to change. Pure.

Markers for `classify.py`. A retry helps against none of them.
"""

from __future__ import annotations

from utils.errors import InvalidRequest
from utils.llm.marker import Marker

NO_QUOTA = "The quota of this account at the model provider is used up."
NO_TOOLS = (
    "The model cannot call tools, or its server does not let it. Choose another LLM_MODEL, one that is made for "
    "tool calls."
)
VLLM_TOOLS = (
    "The vLLM server was started without tool calls. Start it with --enable-auto-tool-choice and the --tool-call-parser of the "
    "model."
)
LLAMA_CPP_TOOLS = "The llama.cpp server was started without tool calls. Start llama-server with --jinja."
NO_TEMPLATE = (
    "The model has no chat template, or one that cannot hold tool calls. Choose an instruction model, or start the "
    "server with a template for tools."
)
NOT_PULLED = (
    "Ollama does not have the model in LLM_MODEL. Run `ollama pull` with its name, or correct the name."
)
NOT_LOADED = "The server has no model loaded. Load one, and put its name into LLM_MODEL."
NO_MEMORY = (
    "The model needs more memory than the server has. Choose a smaller LLM_MODEL or a shorter context."
)
CRASHED = "The model's server crashed while it loaded or ran the model. Its own log has the reason, which often is memory."
WRONG_ADDRESS = (
    "There is no chat API at the configured address. Check OPENAI_BASE_URL, which usually ends in /v1."
)
OLD_LIMIT_NAME = (
    "The model does not take the output limit under this name. Set LLM_PROVIDER=openai, or unset "
    "LLM_MAX_OUTPUT_TOKENS."
)
LIMIT_TOO_LARGE = "The model does not write answers as long as LLM_MAX_OUTPUT_TOKENS asks for. Lower it."
NO_TEMPERATURE = "The model does not take this temperature. Unset LLM_TEMPERATURE."
NO_STREAM = "The model does not give its answers piece by piece, for this account or with tools. Choose another LLM_MODEL."
NO_ROUTE = "No provider behind the server may be used for this model. Check the privacy and provider settings of the account."
NAME_PREFIX = "LiteLLM does not know whose model this is. Put the provider before the name in LLM_MODEL, as in openai/gpt-4.1."
PROFILE = "This Bedrock model is called through an inference profile. Put the profile's id into LLM_MODEL."
NOT_GRANTED = "The account has no access to this model yet. Request it in the console of the provider, or choose another LLM_MODEL."
NOT_REGION = "The provider does not serve this region or country."
WRONG_VERSION = "Azure does not know AZURE_OPENAI_API_VERSION, or not for this deployment. Check both."
BAD_KEY = "The model provider does not accept the key. Check the key and its spelling."


def _marker(name: str, message: str, text: str, status: int | None = None) -> Marker:
    return Marker(name, InvalidRequest, message, text=text, status=status)


SETUP_MARKERS: tuple[Marker, ...] = (
    # The model or its server does not call tools.
    _marker("ollama no tools", NO_TOOLS, "does not support tools"),
    _marker("openai no tools", NO_TOOLS, "'tools' is not supported"),
    _marker("together no tools", NO_TOOLS, "does not support function calling"),
    _marker("groq no tools", NO_TOOLS, "`tool calling` is not supported"),
    _marker("bedrock no tools while streaming", NO_STREAM, "doesn't support tool use in streaming mode"),
    _marker("bedrock no tools", NO_TOOLS, "doesn't support tool use"),
    _marker("openrouter no tools", NO_TOOLS, "no endpoints found that support tool use"),
    _marker("vllm tool choice", VLLM_TOOLS, "requires --enable-auto-tool-choice"),
    _marker("vllm tool parser", VLLM_TOOLS, "--tool-call-parser to be set"),
    _marker("llama.cpp jinja", LLAMA_CPP_TOOLS, "requires --jinja"),
    # The chat template.
    _marker("template roles", NO_TEMPLATE, "conversation roles must alternate"),
    _marker("template system", NO_TEMPLATE, "system role not supported"),
    _marker("template user and assistant", NO_TEMPLATE, "only user and assistant roles are supported"),
    _marker("vllm no template", NO_TEMPLATE, "default chat template is no longer allowed"),
    # The model is not there.
    _marker("ollama not pulled", NOT_PULLED, "try pulling it first"),
    _marker("lm studio nothing loaded", NOT_LOADED, "no models loaded"),
    _marker("lm studio load failed", NO_MEMORY, "failed to load model"),
    _marker("ollama memory", NO_MEMORY, "requires more system memory"),
    _marker("ollama runner died", CRASHED, "llama runner process has terminated"),
    _marker("ollama server died", CRASHED, "llama-server process has terminated"),
    _marker("litellm no provider", NAME_PREFIX, "llm provider not provided"),
    _marker(
        "openrouter model id",
        "The configured model does not exist. Check LLM_MODEL.",
        "is not a valid model id",
    ),
    _marker("openrouter data policy", NO_ROUTE, "no endpoints found matching your data policy"),
    _marker("openrouter providers", NO_ROUTE, "all providers have been ignored"),
    _marker("bedrock inference profile", PROFILE, "with on-demand throughput isn"),
    _marker("bedrock use case", NOT_GRANTED, "use case details have not been submitted"),
    _marker("bedrock legacy", NOT_GRANTED, "marked by provider as legacy"),
    # The address.
    _marker("ollama address", WRONG_ADDRESS, "404 page not found"),
    _marker("openai address", WRONG_ADDRESS, "invalid url (post"),
    _marker("fastapi address", WRONG_ADDRESS, "{'detail': 'not found'}"),
    _marker("llama.cpp address", WRONG_ADDRESS, "file not found", 404),
    _marker("lm studio address", WRONG_ADDRESS, "unexpected endpoint or method"),
    Marker(
        "page instead of an answer",
        InvalidRequest,
        WRONG_ADDRESS,
        text="unexpected response type from openai-compatible endpoint",
        raised="builtins.ValueError",
    ),
    _marker("azure version", WRONG_VERSION, "api version not supported"),
    _marker("azure resource", WRONG_VERSION, "resource not found", 404),
    # Settings that the model does not take.
    _marker("openai max_tokens", OLD_LIMIT_NAME, "unsupported parameter: 'max_tokens'"),
    _marker("openai temperature", NO_TEMPERATURE, "'temperature' does not support"),
    _marker("openai no temperature", NO_TEMPERATURE, "unsupported parameter: 'temperature'"),
    _marker("bedrock temperature", NO_TEMPERATURE, "`temperature` is deprecated"),
    _marker("openai output too long", LIMIT_TOO_LARGE, "max_tokens is too large"),
    _marker(
        "bedrock output too long", LIMIT_TOO_LARGE, "maximum tokens you requested exceeds the model limit"
    ),
    _marker("openai verification", NO_STREAM, "must be verified to stream"),
    # The account.
    _marker("openrouter credits", NO_QUOTA, "insufficient credits"),
    Marker("payment required", InvalidRequest, NO_QUOTA, status=402),
    _marker("anthropic credits", NO_QUOTA, "credit balance is too low"),
    _marker("litellm budget", NO_QUOTA, "budget has been exceeded"),
    _marker("gemini prepayment", NO_QUOTA, "prepayment credits are depleted"),
    _marker("gemini key", BAD_KEY, "api key not valid"),
    Marker("openai region", InvalidRequest, NOT_REGION, code="unsupported_country_region_territory"),
)
