"""Asks a provider through its vendor's own SDK and prints, as JSON, what the SDK understood.

Run by the tests in crates/roundtable-models/tests/it/sdk.rs; `cargo xtask interop` installs the SDKs.
"""

import json
import sys

STOPS = {
    "stop": "End", "end_turn": "End", "completed": "End",
    "tool_calls": "ToolCalls", "tool_use": "ToolCalls",
    "length": "MaxTokens", "max_tokens": "MaxTokens", "max_output_tokens": "MaxTokens",
    "refusal": "Refused", "content_filter": "Refused",
    "STOP": "End", "MAX_TOKENS": "MaxTokens", "SAFETY": "Refused",
}
MESSAGES = [{"role": "user", "content": "Hello."}]


def openai_client(address):
    import openai

    return openai.OpenAI(api_key="none", base_url=address, max_retries=0)


def openai_chat(address):
    text, refusal, calls, stop, usage = "", "", {}, None, None
    stream = openai_client(address).chat.completions.create(
        model="model-1", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    for event in stream:
        usage = event.usage or usage
        for choice in event.choices:
            text += choice.delta.content or ""
            refusal += choice.delta.refusal or ""
            stop = choice.finish_reason or stop
            for piece in choice.delta.tool_calls or []:
                call = calls.setdefault(piece.index, ["", "", ""])
                call[0] += piece.id or ""
                call[1] += piece.function.name or ""
                call[2] += piece.function.arguments or ""
    return {
        "text": text + refusal,
        "calls": [[id, name, json.loads(arguments)] for id, name, arguments in calls.values()],
        "stop": "Refused" if refusal else STOPS[stop],
        "input": usage.prompt_tokens if usage else None,
        "output": usage.completion_tokens if usage else None,
    }


def openai_responses(address):
    text, calls, last = "", [], None
    stream = openai_client(address).responses.create(model="gpt-5-mini", input="Hello.", stream=True)
    for event in stream:
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type == "response.output_item.done" and event.item.type == "function_call":
            item = event.item
            calls.append([item.call_id, item.name, json.loads(item.arguments)])
        elif event.type in ("response.completed", "response.incomplete"):
            last = event.response
    cut = last.incomplete_details.reason if last.incomplete_details else None
    return {
        "text": text,
        "calls": calls,
        "stop": STOPS[cut or ("tool_calls" if calls else "completed")],
        "input": last.usage.input_tokens,
        "output": last.usage.output_tokens,
    }


def anthropic(address):
    import anthropic as sdk

    client = sdk.Anthropic(api_key="none", base_url=address, max_retries=0)
    with client.messages.stream(
        model="claude-sonnet-4-5", max_tokens=100, messages=MESSAGES
    ) as stream:
        message = stream.get_final_message()
    usage = message.usage
    parts = [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens]
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [[b.id, b.name, b.input] for b in message.content if b.type == "tool_use"],
        "stop": STOPS[message.stop_reason],
        "input": sum(part or 0 for part in parts),
        "output": usage.output_tokens,
    }


def gemini(address):
    from google import genai

    # The version of the protocol that we speak; left to itself the SDK asks for v1.
    options = {"base_url": address, "api_version": "v1beta"}
    client = genai.Client(api_key="none", http_options=options)
    text, calls, stop, usage = "", [], None, None
    for event in client.models.generate_content_stream(model="gemini-3-flash", contents="Hello."):
        usage = event.usage_metadata or usage
        for candidate in event.candidates or []:
            stop = candidate.finish_reason.name if candidate.finish_reason else stop
            for part in (candidate.content and candidate.content.parts) or []:
                if part.function_call:
                    calls.append([part.function_call.id, part.function_call.name, part.function_call.args])
                elif not part.thought:
                    text += part.text or ""
    thoughts = usage.thoughts_token_count or 0 if usage else 0
    return {
        "text": text,
        "calls": calls,
        "stop": "ToolCalls" if calls and stop == "STOP" else STOPS[stop],
        "input": usage.prompt_token_count if usage else None,
        "output": (usage.candidates_token_count or 0) + thoughts if usage else None,
    }


WIRES = [openai_chat, openai_responses, anthropic, gemini]

if __name__ == "__main__":
    wire, address = sys.argv[1:]
    print(json.dumps({ask.__name__: ask for ask in WIRES}[wire](address)))
