"""Talks to a server with the packages openai and anthropic.

clients.py URL KEY: the model of the server repeats the last message. Fails if an
answer is not the expected one, and prints how many were compared.
"""

import json
import sys

import anthropic
import openai

URL, KEY = sys.argv[1:]
CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>'
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
compared = 0


def equal(got, want):
    global compared
    compared += 1
    if got != want:
        raise SystemExit(f"check {compared}: got {got!r}, want {want!r}")


def raises(kind, f):
    global compared
    compared += 1
    try:
        f()
    except kind:
        return
    raise SystemExit(f"check {compared}: no {kind.__name__}")


def chats(client):
    tools = [{"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}}]

    def ask(text, **more):
        return client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}], **more)

    answer = ask("one two", temperature=0, max_tokens=50, seed=1, n=2)
    equal([c.message.content for c in answer.choices], ["one two", "one two"])
    equal((answer.choices[0].finish_reason, answer.object), ("stop", "chat.completion"))
    equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens)

    chunks = list(ask("one two", stream=True, stream_options={"include_usage": True}))
    equal("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), "one two")
    equal(chunks[0].choices[0].delta.role, "assistant")
    equal(chunks[-2].choices[0].finish_reason, "stop")
    equal(chunks[-1].usage.completion_tokens, 2)

    answer = ask("Look. " + CALL, tools=tools)
    call = answer.choices[0].message.tool_calls[0]
    equal((answer.choices[0].finish_reason, answer.choices[0].message.content), ("tool_calls", "Look."))
    equal((call.type, call.function.name, json.loads(call.function.arguments)), ("function", "weather", {"city": "Oslo"}))

    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": CALL}], tools=tools) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    equal("tool_calls.function.arguments.done" in kinds, True)
    equal(final.choices[0].message.tool_calls[0].function.arguments, '{"city": "Oslo"}')

    history = [{"role": "user", "content": "?"}, answer.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
    equal(client.chat.completions.create(model="m", messages=history, tools=tools).choices[0].message.content, "rain")


def texts(client):
    answer = client.completions.create(model="m", prompt="one two", echo=True)
    equal((answer.choices[0].text, answer.choices[0].finish_reason), ("one twoone two", "stop"))
    chunks = list(client.completions.create(model="m", prompt="one two", stream=True))
    equal("".join(c.choices[0].text for c in chunks), "one two")
    equal([m.id for m in client.models.list()], ["m"])
    equal(client.models.retrieve("m").id, "m")


def responses(client):
    tools = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}]
    answer = client.responses.create(model="m", input="one two", instructions="Be brief.")
    equal((answer.output_text, answer.status), ("one two", "completed"))

    with client.responses.stream(model="m", input="Look. " + CALL, tools=tools) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    equal((kinds[0], kinds[-1]), ("response.created", "response.completed"))
    equal([item.type for item in final.output], ["message", "function_call"])
    call = final.output[1]
    equal((final.output_text, call.name, json.loads(call.arguments)), ("Look.", "weather", {"city": "Oslo"}))

    history = [{"role": "user", "content": "?"}, call, {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}]
    equal(client.responses.create(model="m", input=history, tools=tools).output_text, "rain")


def errors():
    client = openai.OpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0)
    user = [{"role": "user", "content": "x"}]
    raises(openai.NotFoundError, lambda: client.chat.completions.create(model="none", messages=user))
    raises(openai.BadRequestError, lambda: client.chat.completions.create(model="m", messages=user, temperature=9))
    wrong = openai.OpenAI(base_url=URL + "/v1", api_key="wrong", max_retries=0)
    raises(openai.AuthenticationError, lambda: wrong.models.list())
    other = anthropic.Anthropic(base_url=URL, api_key="wrong", max_retries=0)
    raises(anthropic.AuthenticationError, lambda: other.messages.create(model="m", max_tokens=5, messages=user))
    other = anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0)
    raises(anthropic.NotFoundError, lambda: other.messages.create(model="none", max_tokens=5, messages=user))
    raises(anthropic.BadRequestError, lambda: other.messages.create(model="m", max_tokens=0, messages=user))


def messages(client):
    tools = [{"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA}]

    def ask(text, **more):
        return dict(model="m", max_tokens=50, messages=[{"role": "user", "content": text}], **more)

    answer = client.messages.create(**ask("one two", system="Be brief.", stop_sequences=["x"]))
    equal((answer.content[0].text, answer.stop_reason, answer.usage.output_tokens), ("one two", "end_turn", 2))

    with client.messages.stream(**ask("one two")) as stream:
        equal("".join(stream.text_stream), "one two")
        equal(stream.get_final_message().stop_reason, "end_turn")

    answer = client.messages.create(**ask("Look. " + CALL, tools=tools))
    equal((answer.stop_reason, [b.type for b in answer.content]), ("tool_use", ["text", "tool_use"]))
    equal((answer.content[1].name, answer.content[1].input), ("weather", {"city": "Oslo"}))

    with client.messages.stream(**ask("Look. " + CALL, tools=tools)) as stream:
        final = stream.get_final_message()
    equal((final.stop_reason, final.content[1].input), ("tool_use", {"city": "Oslo"}))

    result = {"type": "tool_result", "tool_use_id": answer.content[1].id, "content": "rain"}
    history = [{"role": "user", "content": "?"}, {"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
    equal(client.messages.create(model="m", max_tokens=5, messages=history, tools=tools).content[0].text, "rain")


client = openai.OpenAI(base_url=URL + "/v1", api_key=KEY, max_retries=0)
chats(client)
texts(client)
responses(client)
messages(anthropic.Anthropic(base_url=URL, api_key=KEY, max_retries=0))
errors()
print(compared, "answers compared")
