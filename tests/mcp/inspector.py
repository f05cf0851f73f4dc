"""Holds a whole debate with the Inspector's command line, which starts a server of its own for every call.

    python inspector.py PATH/TO/roundtable NODE PATH/TO/inspector
"""

import json
import os
import subprocess
import sys
import tempfile

from provider import Provider

BINARY, NODE, INSPECTOR = (os.path.abspath(path) for path in sys.argv[1:4])


class Inspector:
    def __init__(self, home, provider):
        self.env = {"PATH": os.environ["PATH"], "HOME": home}
        self.given = [word for name, value in provider.environment().items() for word in ("-e", f"{name}={value}")]
        self.server = [BINARY, "mcp", "--data-dir", os.path.join(home, "data")]

    def ask(self, method, *words):
        command = [NODE, INSPECTOR, "--cli", *self.given, *self.server, "--method", method, *words]
        ran = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120)
        start = ran.stdout.find("{")
        assert start >= 0, ran.stdout + ran.stderr
        return json.JSONDecoder().raw_decode(ran.stdout[start:])[0]

    def call(self, tool, **arguments):
        words = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
        return self.ask("tools/call", "--tool-name", tool, *words)


def main():
    provider = Provider()
    with tempfile.TemporaryDirectory() as home:
        inspector = Inspector(home, provider)
        assert len(inspector.ask("tools/list")["tools"]) == 12
        first = inspector.call("start_roundtable", topic="Shall we?", agentCount=2, rounds=2)["structuredContent"]
        assert first["status"] == "needs_context", first
        session = first["sessionId"]
        refused = inspector.call("continue_roundtable", sessionId=session)
        assert refused["isError"] and refused["content"][0]["text"].startswith("Cannot continue: 2 required")
        results = [{"requestId": it["id"], "success": True, "result": "The budget is a million."} for it in first["contextRequests"]]
        second = inspector.call("continue_roundtable", sessionId=session, contextResults=json.dumps(results), afterRound=1)
        assert second["structuredContent"]["status"] == "completed", second
        resources = inspector.ask("resources/list")["resources"]
        read = inspector.ask("resources/read", "--uri", resources[0]["uri"])
        assert "Shall we?" in read["contents"][0]["text"]
        assert not [key for key, count in provider.asked.items() if count > 1]
    print(f"inspector: a whole debate, a server of its own for each call, {sum(provider.asked.values())} model calls, none twice")


main()
