"""What servers say when they, the model or the account are set up wrongly: row of `classify.py`, server, status, body."""

from __future__ import annotations

from typing import Any, NamedTuple

from utils.testing.strict.servers import Server


class SetupError(NamedTuple):
    """One refusal.

    Attributes:
        row: Name of the row that recognises it.
        server: Who says it.
        status: HTTP status.
        message: Its message.
        body: The whole body where it has another shape.
    """

    row: str
    server: Server
    status: int
    message: str
    body: Any = None

    @property
    def json(self) -> Any:
        return self.body or {
            "error": {"message": self.message, "type": "api_error", "param": None, "code": None}
        }


SETUP_ERRORS = [
    SetupError("ollama no tools", Server.OLLAMA, 400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
    SetupError("openai no tools", Server.AZURE, 400, "'tools' is not supported with this model."),
    SetupError("together no tools", Server.LITELLM, 400, "The model x does not support function calling"),
    SetupError("groq no tools", Server.LITELLM, 400, "`tool calling` is not supported with this model"),
    SetupError("bedrock no tools while streaming", Server.BEDROCK, 400, "This model doesn't support tool use in streaming mode."),
    SetupError("bedrock no tools", Server.BEDROCK, 400, "This model doesn't support tool use."),
    SetupError("openrouter no tools", Server.OPENROUTER, 404, "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing"),
    SetupError("vllm tool choice", Server.VLLM, 400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    SetupError("vllm tool parser", Server.VLLM, 400, "tool choice needs --tool-call-parser to be set"),
    SetupError("llama.cpp jinja", Server.LLAMA_CPP, 500, "tools param requires --jinja flag"),
    SetupError("template roles", Server.VLLM, 400, "Conversation roles must alternate user/assistant/user/assistant/..."),
    SetupError("template system", Server.LLAMA_CPP, 500, "System role not supported at row 1"),
    SetupError("template user and assistant", Server.LM_STUDIO, 400, "Only user and assistant roles are supported!"),
    SetupError("vllm no template", Server.VLLM, 400, "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template."),
    SetupError("ollama not pulled", Server.OLLAMA, 404, 'model "qwen9" not found, try pulling it first'),
    SetupError("lm studio nothing loaded", Server.LM_STUDIO, 404, "No models loaded. Please load a model in the developer page or use the 'lms load' command."),
    SetupError("lm studio load failed", Server.LM_STUDIO, 404, 'Failed to load model "qwen". Error: insufficient system resources.'),
    SetupError("ollama memory", Server.OLLAMA, 500, "model requires more system memory (5.3 GiB) than is available (3.3 GiB)"),
    SetupError("ollama runner died", Server.OLLAMA, 500, "llama runner process has terminated: exit status 2"),
    SetupError("ollama server died", Server.OLLAMA, 500, "llama-server process has terminated: 0xc0000005"),
    SetupError("litellm no provider", Server.LITELLM, 400, "litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider you are trying to call. You passed model=qwen"),
    SetupError("openrouter model id", Server.OPENROUTER, 400, "qwen/nothing is not a valid model ID"),
    SetupError("openrouter data policy", Server.OPENROUTER, 404, "No endpoints found matching your data policy (Free model publication)."),
    SetupError("openrouter providers", Server.OPENROUTER, 404, "All providers have been ignored."),
    SetupError("bedrock inference profile", Server.BEDROCK, 400, "Invocation of model ID anthropic.claude-3-7-sonnet-20250219-v1:0 with on-demand throughput isn\u2019t supported. Retry your request with the ID or ARN of an inference profile that contains this model."),
    SetupError("bedrock use case", Server.BEDROCK, 404, "Model use case details have not been submitted for this account."),
    SetupError("bedrock legacy", Server.BEDROCK, 404, "Access denied. This Model is marked by provider as Legacy."),
    SetupError("ollama address", Server.OLLAMA, 404, "", "404 page not found"),
    SetupError("openai address", Server.OPENAI, 404, "Invalid URL (POST /chat/completions)"),
    SetupError("fastapi address", Server.VLLM, 404, "", {"detail": "Not Found"}),
    SetupError("llama.cpp address", Server.LLAMA_CPP, 404, "", {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}),
    SetupError("lm studio address", Server.LM_STUDIO, 404, "Unexpected endpoint or method. (POST /chat/completions)"),
    SetupError("azure version", Server.AZURE, 400, "API version not supported"),
    SetupError("azure resource", Server.AZURE, 404, "Resource not found"),
    SetupError("openai max_tokens", Server.LITELLM, 400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
    SetupError("openai temperature", Server.OPENAI, 400, "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported."),
    SetupError("openai no temperature", Server.OPENAI, 400, "Unsupported parameter: 'temperature' is not supported with this model."),
    SetupError("bedrock temperature", Server.BEDROCK, 400, "`temperature` is deprecated for this model."),
    SetupError("openai output too long", Server.OPENAI, 400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"),
    SetupError("bedrock output too long", Server.BEDROCK, 400, "The maximum tokens you requested exceeds the model limit of 8192. Try again with a maximum tokens value that is lower than 8192."),
    SetupError("openai verification", Server.OPENAI, 400, "Your organization must be verified to stream this model."),
    SetupError("openrouter credits", Server.OPENROUTER, 402, "Insufficient credits. Add more using https://openrouter.ai/settings/credits"),
    SetupError("payment required", Server.LITELLM, 402, "Payment Required"),
    SetupError("anthropic credits", Server.ANTHROPIC, 400, "Your credit balance is too low to access the Anthropic API."),
    SetupError("litellm budget", Server.LITELLM, 400, "Budget has been exceeded! Current cost: 10.1, Max budget: 10.0"),
    SetupError("gemini prepayment", Server.GEMINI, 429, "Your prepayment credits are depleted. Please go to AI Studio."),
    SetupError("gemini key", Server.GEMINI, 400, "", [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}}]),
    SetupError("openai region", Server.OPENAI, 403, "", {"error": {"message": "Country, region, or territory not supported", "type": "request_forbidden", "code": "unsupported_country_region_territory"}}),
]  # fmt: skip
