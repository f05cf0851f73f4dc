"""Uses the OpenAI-compatible endpoint with OpenAI's own SDK and with LangChain.

    python client.py http://127.0.0.1:PORT TOKEN

Run by crates/roundtable-server/tests/it/openai/sdk.rs; `cargo xtask interop` installs the packages. The
supervisor asks for the weather first and answers "Sunny in Paris." then.
"""

import json
import sys

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

ADDRESS, TOKEN = sys.argv[1:]
ANSWER = "Sunny in Paris."
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "How is the weather?"}]},
]
TOOLS = [{
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}]

client = openai.OpenAI(api_key=TOKEN, base_url=f"{ADDRESS}/v1", max_retries=0)


def models():
    names = [model.id for model in client.models.list()]
    assert "chat" in names and "debate:council" in names, names
    assert client.models.retrieve("debate:council").object == "model"


def plain():
    answer = client.chat.completions.create(model="chat", messages=MESSAGES, temperature=0.2, seed=1)
    assert answer.choices[0].message.content == ANSWER, answer
    assert answer.choices[0].finish_reason == "stop"
    usage = answer.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 0, usage
    assert answer._request_id.startswith("ses_")


def streamed():
    stream = client.chat.completions.create(
        model="chat", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    parts = list(stream)
    assert "".join(p.choices[0].delta.content or "" for p in parts if p.choices) == ANSWER
    assert [p.choices[0].finish_reason for p in parts if p.choices][-1] == "stop"
    assert parts[-1].usage.total_tokens > 0 and parts[0].usage is None


def tools():
    asked = list(MESSAGES)
    answer = client.chat.completions.create(model="chat", messages=asked, tools=TOOLS)
    assert answer.choices[0].finish_reason == "tool_calls", answer
    message = answer.choices[0].message
    asked.append(message)
    for call in message.tool_calls:
        assert json.loads(call.function.arguments) == {"city": "Paris"}
        asked.append({"role": "tool", "tool_call_id": call.id, "content": "22 degrees"})
    answer = client.chat.completions.create(model="chat", messages=asked, tools=TOOLS)
    assert answer.choices[0].message.content == ANSWER, answer


def streamed_tools():
    with client.chat.completions.stream(model="chat", messages=MESSAGES, tools=TOOLS) as stream:
        final = stream.get_final_completion()
    call = final.choices[0].message.tool_calls[0]
    assert (call.function.name, final.choices[0].finish_reason) == ("weather", "tool_calls")


def errors():
    def raises(kind, code, call):
        try:
            call()
        except kind as error:
            assert error.code == code, error
            return
        raise AssertionError(f"no {kind.__name__}")

    create = client.chat.completions.create
    raises(openai.NotFoundError, "model_not_found", lambda: create(model="gpt-9", messages=MESSAGES))
    raises(openai.BadRequestError, "invalid_value", lambda: create(model="chat", messages=[]))
    raises(
        openai.BadRequestError, "unsupported_parameter",
        lambda: create(model="chat", messages=MESSAGES, n=2),
    )
    strange = openai.OpenAI(api_key="token-of-nobody-1", base_url=f"{ADDRESS}/v1", max_retries=0)
    raises(openai.AuthenticationError, "invalid_api_key", strange.models.list)


def langchain():
    @tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"22 degrees in {city}"

    model = ChatOpenAI(model="chat", api_key=TOKEN, base_url=f"{ADDRESS}/v1", max_retries=0)
    assert model.invoke("How is the weather?").content == ANSWER
    assert "".join(part.content for part in model.stream("How is the weather?")) == ANSWER
    able = model.bind_tools([weather])
    messages = [HumanMessage("How is the weather?")]
    answer = able.invoke(messages)
    messages.append(answer)
    for call in answer.tool_calls:
        messages.append(ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"]))
    answer = able.invoke(messages)
    assert answer.content == ANSWER, answer
    assert answer.usage_metadata["total_tokens"] > 0


for check in [models, plain, streamed, tools, streamed_tools, errors, langchain]:
    check()
    print(f"ok: {check.__name__}")
