"""Errors of a server, a model or an account that is set up in a way that cannot work, with what to change. Pure.

Rows for `classify.py`. A retry does not help against any of them.
"""

from __future__ import annotations

from utils.errors import InvalidRequest
from utils.llm.marker import Row

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


def _row(name: str, message: str, text: str, status: int | None = None) -> Row:
    return Row(name, InvalidRequest, message, text=text, status=status)


SETUP_ROWS: tuple[Row, ...] = (
    # The model or its server does not call tools.
    _row("ollama no tools", NO_TOOLS, "does not support tools"),
    _row("openai no tools", NO_TOOLS, "'tools' is not supported"),
    _row("together no tools", NO_TOOLS, "does not support function calling"),
    _row("groq no tools", NO_TOOLS, "`tool calling` is not supported"),
    _row("bedrock no tools while streaming", NO_STREAM, "doesn't support tool use in streaming mode"),
    _row("bedrock no tools", NO_TOOLS, "doesn't support tool use"),
    _row("openrouter no tools", NO_TOOLS, "no endpoints found that support tool use"),
    _row("vllm tool choice", VLLM_TOOLS, "requires --enable-auto-tool-choice"),
    _row("vllm tool parser", VLLM_TOOLS, "--tool-call-parser to be set"),
    _row("llama.cpp jinja", LLAMA_CPP_TOOLS, "requires --jinja"),
    # The chat template.
    _row("template roles", NO_TEMPLATE, "conversation roles must alternate"),
    _row("template system", NO_TEMPLATE, "system role not supported"),
    _row("template user and assistant", NO_TEMPLATE, "only user and assistant roles are supported"),
    _row("vllm no template", NO_TEMPLATE, "default chat template is no longer allowed"),
    # The model is not there.
    _row("ollama not pulled", NOT_PULLED, "try pulling it first"),
    _row("lm studio nothing loaded", NOT_LOADED, "no models loaded"),
    _row("lm studio load failed", NO_MEMORY, "failed to load model"),
    _row("ollama memory", NO_MEMORY, "requires more system memory"),
    _row("ollama runner died", CRASHED, "llama runner process has terminated"),
    _row("ollama server died", CRASHED, "llama-server process has terminated"),
    _row("litellm no provider", NAME_PREFIX, "llm provider not provided"),
    _row(
        "openrouter model id",
        "The configured model does not exist. Check LLM_MODEL.",
        "is not a valid model id",
    ),
    _row("openrouter data policy", NO_ROUTE, "no endpoints found matching your data policy"),
    _row("openrouter providers", NO_ROUTE, "all providers have been ignored"),
    _row("bedrock inference profile", PROFILE, "with on-demand throughput isn"),
    _row("bedrock use case", NOT_GRANTED, "use case details have not been submitted"),
    _row("bedrock legacy", NOT_GRANTED, "marked by provider as legacy"),
    # The address.
    _row("ollama address", WRONG_ADDRESS, "404 page not found"),
    _row("openai address", WRONG_ADDRESS, "invalid url (post"),
    _row("fastapi address", WRONG_ADDRESS, "{'detail': 'not found'}"),
    _row("llama.cpp address", WRONG_ADDRESS, "file not found", 404),
    _row("lm studio address", WRONG_ADDRESS, "unexpected endpoint or method"),
    Row(
        "page instead of an answer",
        InvalidRequest,
        WRONG_ADDRESS,
        text="unexpected response type from openai-compatible endpoint",
        raised="builtins.ValueError",
    ),
    _row("azure version", WRONG_VERSION, "api version not supported"),
    _row("azure resource", WRONG_VERSION, "resource not found", 404),
    # Settings that the model does not take.
    _row("openai max_tokens", OLD_LIMIT_NAME, "unsupported parameter: 'max_tokens'"),
    _row("openai temperature", NO_TEMPERATURE, "'temperature' does not support"),
    _row("openai no temperature", NO_TEMPERATURE, "unsupported parameter: 'temperature'"),
    _row("bedrock temperature", NO_TEMPERATURE, "`temperature` is deprecated"),
    _row("openai output too long", LIMIT_TOO_LARGE, "max_tokens is too large"),
    _row("bedrock output too long", LIMIT_TOO_LARGE, "maximum tokens you requested exceeds the model limit"),
    _row("openai verification", NO_STREAM, "must be verified to stream"),
    # The account.
    _row("openrouter credits", NO_QUOTA, "insufficient credits"),
    Row("payment required", InvalidRequest, NO_QUOTA, status=402),
    _row("anthropic credits", NO_QUOTA, "credit balance is too low"),
    _row("litellm budget", NO_QUOTA, "budget has been exceeded"),
    _row("gemini prepayment", NO_QUOTA, "prepayment credits are depleted"),
    _row("gemini key", BAD_KEY, "api key not valid"),
    Row("openai region", InvalidRequest, NOT_REGION, code="unsupported_country_region_territory"),
)
