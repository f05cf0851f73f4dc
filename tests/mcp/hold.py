"""Holds a whole debate with the official Python client: over stdio and HTTP, in both eras of the
protocol, with context requests, and with the server killed between two calls.

    python hold.py PATH/TO/roundtable
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

from mcp import Client, StdioServerParameters

from provider import Provider

BINARY = os.path.abspath(sys.argv[1])
ERAS = {"2026-07-28": "auto", "2025-11-25": "legacy"}
BUDGET = "The budget is a million."


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Stdio:
    """A server per client: it ends when the client hangs up."""

    ended = "a server of its own for each part"

    def __init__(self, data, env):
        self.server = StdioServerParameters(command=BINARY, args=["mcp", "--data-dir", data], env=env)

    def start(self):
        pass

    def kill(self):
        pass


class Http:
    """One server for all clients, which can be killed."""

    ended = "the server killed after each part"

    def __init__(self, data, env):
        port = free_port()
        self.command = [BINARY, "serve", "--json", "--data-dir", data, "--listen", f"127.0.0.1:{port}"]
        self.env, self.server, self.process = env, f"http://127.0.0.1:{port}/mcp", None

    def start(self):
        self.process = subprocess.Popen(self.command, env=self.env, stdout=subprocess.PIPE, text=True)
        assert json.loads(self.process.stdout.readline())["mcp"] == self.server

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def data_of(result):
    """What a tool answered; the text has to be the same."""
    assert not result.is_error, result.content[0].text
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def begin(client, told):
    tools = (await client.list_tools()).tools
    assert len(tools) == 12 and all(tool.output_schema for tool in tools)

    async def note(_progress, _total, message):
        told.append(message)

    arguments = {"topic": "Shall we rewrite it?", "agentCount": 2, "rounds": 3, "idempotencyKey": "once"}
    first = data_of(await client.call_tool("start_roundtable", arguments, progress_callback=note))
    assert first["status"] == "needs_context", first
    assert len(first["contextRequests"]) == 2
    assert {request["agentId"] for request in first["contextRequests"]} == {"agt_synthesizer", "agt_analyst"}
    again = data_of(await client.call_tool("start_roundtable", arguments))
    assert again["sessionId"] == first["sessionId"]
    return first


async def is_refused(client, first):
    refused = await client.call_tool("continue_roundtable", {"sessionId": first["sessionId"]})
    assert refused.is_error
    text = refused.content[0].text
    assert text.startswith("Cannot continue: 2 required context request(s) pending.\n\n"), text
    assert refused.structured_content == {"error": text}


async def go_on(client, first):
    session = first["sessionId"]
    results = [{"requestId": request["id"], "success": True, "result": BUDGET} for request in first["contextRequests"]]
    second = data_of(await client.call_tool(
        "continue_roundtable", {"sessionId": session, "contextResults": results, "afterRound": 1}))
    assert (second["roundNumber"], second["status"]) == (2, "in_progress"), second
    return second


async def finish(client, session):
    third = data_of(await client.call_tool("continue_roundtable", {"sessionId": session, "afterRound": 2}))
    assert (third["roundNumber"], third["status"]) == (3, "completed"), third
    consensus = data_of(await client.call_tool("get_consensus", {"sessionId": session}))
    assert consensus["roundNumber"] == 3 and 0 <= consensus["agreement"] <= 1
    listed = data_of(await client.call_tool("list_sessions", {"topic": "rewrite"}))
    assert [entry["sessionId"] for entry in listed["sessions"]] == [session]
    minutes = data_of(await client.call_tool("export_session", {"sessionId": session, "format": "markdown"}))
    assert "Shall we rewrite it?" in minutes["content"]
    resources = (await client.list_resources()).resources
    read = await client.read_resource(resources[0].uri)
    assert "Shall we rewrite it?" in read.contents[0].text
    prompts = (await client.list_prompts()).prompts
    shown = await client.get_prompt(prompts[0].name, {"question": "Tabs?"})
    assert "Tabs?" in shown.messages[0].content.text


async def hold(transport, era, mode):
    provider, told = Provider(), []
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, **provider.environment()}
        server = transport(os.path.join(home, "data"), env)

        async def connected(act):
            server.start()
            try:
                async with Client(server.server, mode=mode) as client:
                    return await act(client)
            finally:
                # Nobody says goodbye: what was acknowledged has to be there all the same.
                server.kill()

        first = await connected(lambda client: begin(client, told))
        await connected(lambda client: is_refused(client, first))
        await connected(lambda client: go_on(client, first))
        await connected(lambda client: finish(client, first["sessionId"]))
        twice = [key for key, count in provider.asked.items() if count > 1]
        assert not twice, f"asked twice: {twice}"
        assert told and all(message.startswith("Round 1/3: ") for message in told), told
        verified = subprocess.run([BINARY, "verify", "--data-dir", os.path.join(home, "data")], env=env, capture_output=True, text=True)
        assert verified.returncode == 0, verified.stdout + verified.stderr
    provider.shutdown()
    print(f"{transport.__name__.lower()} {era}: a whole debate, {transport.ended}, {sum(provider.asked.values())} model calls, none twice")


async def main():
    for transport in (Stdio, Http):
        for era, mode in ERAS.items():
            await hold(transport, era, mode)


asyncio.run(main())
