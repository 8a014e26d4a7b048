"""The text forms of one tool call, `write(line="x y")`, by the model family or the server that writes them."""

from __future__ import annotations

BARE = '{"name": "write", "arguments": {"line": "x y"}}'
ARGUMENTS = '{"line": "x y"}'

FORMS = {
    "qwen2.5-coder, a fence": f"```json\n{BARE}\n```",
    "qwen2.5-coder, a fence without a language": f"```\n{BARE}\n```",
    "qwen2.5-coder, <tools>": f"<tools>\n{BARE}\n</tools>",
    "qwen2.5-coder, <tools> with attributes": f"<tools><function name=\"write\" arguments='{ARGUMENTS}'/></tools>",
    "qwen2.5-coder, doubled braces": "{" + BARE + "}",
    "hermes, <tool_call>": f"<tool_call>\n{BARE}\n</tool_call>",
    "hermes, not closed": f"<tool_call>\n{BARE}",
    "gemma3n, args": f"<tool_call>\n{BARE.replace('arguments', 'args')}\n</tool_call>",
    "qwen3-coder, <function=>": "<tool_call>\n<function=write>\n<parameter=line>\nx y\n</parameter>\n</function>\n</tool_call>",
    "qwen3-coder, not closed": "<tool_call>\n<function=write>\n<parameter=line>\nx y\n\n\n</tool_call>",
    "qwen3-coder, without <tool_call>": "<function=write>\n<parameter=line>\nx y\n</parameter>\n</function>",
    "llama 3.1, <function=> with JSON": f"<function=write>{ARGUMENTS}</function>",
    "llama 3.2, parameters": BARE.replace("arguments", "parameters"),
    "llama 3, <|python_tag|>": f"<|python_tag|>{BARE.replace('arguments', 'parameters')}<|eom_id|>",
    "llama 3, <|python_tag|> and .call": '<|python_tag|>write.call(line="x y")',
    "llama 4, Python": '[write(line="x y")]',
    "lfm2, Python in a tag": '<|tool_call_start|>[write(line="x y")]<|tool_call_end|>',
    "olmo 3, Python in a tag": '<function_calls>\nwrite(line="x y")\n</function_calls>',
    "gemma 3, tool_code": '```tool_code\nprint(write(line="x y"))\n```',
    "mistral, a list": f"[TOOL_CALLS][{BARE}]",
    "mistral, [ARGS]": f"[TOOL_CALLS]write[ARGS]{ARGUMENTS}",
    "mistral, [CALL_ID]": f"[TOOL_CALLS]write[CALL_ID]abc123[ARGS]{ARGUMENTS}",
    "glm, <arg_key>": "<tool_call>write\n<arg_key>line</arg_key>\n<arg_value>x y</arg_value>\n</tool_call>",
    "deepseek v3": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>write\n```json\n{ARGUMENTS}\n```"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek v3.1": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜>"
    "<｜tool▁calls▁end｜>",
    "kimi k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.write:0<|tool_call_argument_begin|>"
    f"{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "gpt-oss, commentary": f"<|channel|>commentary to=functions.write <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
    "gpt-oss, analysis": f"<|start|>assistant<|channel|>analysis to=functions.write code<|message|>{ARGUMENTS}<|call|>",
    "minimax m2": '<minimax:tool_call>\n<invoke name="write">\n<parameter name="line">x y</parameter>\n</invoke>\n'
    "</minimax:tool_call>",
    "claude, <invoke>": '<function_calls>\n<invoke name="write">\n<parameter name="line">x y</parameter>\n</invoke>\n'
    "</function_calls>",
    "granite, <|tool_call|>": f"<|tool_call|>[{BARE}]",
    "command r7b": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "write", "parameters": {"line": "x y"}}]'
    "<|END_ACTION|>",
    "nemotron, <TOOLCALL>": f"<TOOLCALL>[{BARE}]</TOOLCALL>",
    "internlm, plugin": f"<|action_start|><|plugin|>{BARE.replace('arguments', 'parameters')}<|action_end|>",
    "OpenAI's own JSON": '{"tool_calls": [{"type": "function", "function": {"name": "write", "arguments": '
    '"{\\"line\\": \\"x y\\"}"}}]}',
    "a dotted name": BARE.replace('"write"', '"functions.write"'),
    "functions.name": f"functions.write({ARGUMENTS})",
    "a name and JSON": f"write {ARGUMENTS}",
    "a name and Python": 'write(line="x y")',
    "bare": BARE,
    "after thoughts": f"<think>\nI shall write.\n</think>\n\n<tool_call>\n{BARE}\n</tool_call>",
}

MENTIONS = {
    "a call behind a sentence": f"A call looks like this:\n```json\n{BARE}\n```",
    "a call before a sentence": f"```xml\n<tool_call>{BARE}</tool_call>\n```\nThat is the form.",
    "JSON data": '```json\n{"replicas": 3}\n```',
    "JSON with a name": '{"name": "write", "stars": 5}',
    "a call of another tool": '{"name": "elsewhere", "arguments": {}}',
    "the schema of a tool": '{"name": "write", "description": "Writes.", "parameters": {"type": "object"}}',
    "Python code": '```python\nwrite(line="x y")\n```',
    "shell code": "```\nkubectl get pods\n```",
    "a sentence that begins with the tool's name": "write is a tool that writes lines.",
    "a link": "[The docs](https://example.org) say so.",
    "HTML": "<details><summary>No.</summary></details>",
    "a thought that is mentioned": "The tag <think> opens a thought, </think>\ncloses it.",
}
