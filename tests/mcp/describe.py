"""Checks the description of the HTTP API, and the API against its description.

    python describe.py PATH/TO/roundtable
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request

from openapi_spec_validator import OpenAPIV31SpecValidator

BINARY = os.path.abspath(sys.argv[1])
# Streams have tests of their own, and MCP has a suite of its own.
ELSEWHERE = ["/mcp", "/api/sessions/{sessionId}/events"]


def main():
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home}
        command = [BINARY, "serve", "--json", "--listen", "127.0.0.1:0", "--data-dir", os.path.join(home, "data")]
        server = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        try:
            url = json.loads(server.stdout.readline())["url"]
            with urllib.request.urlopen(f"{url}/openapi.json") as answer:
                document = json.load(answer)
            OpenAPIV31SpecValidator(document).validate()
            print(f"openapi: {len(document['paths'])} paths, valid OpenAPI 3.1")
            name_something(url, home)
            examine(url, home)
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()


def name_something(url, home):
    """Holds a debate, so that there is something to be asked about, and says what it is called."""
    body = json.dumps({"topic": "Shall we?", "agentCount": 2, "rounds": 100}).encode()
    request = urllib.request.Request(f"{url}/api/debates", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        debate = json.load(answer)
    session = debate["sessionId"]
    events = subprocess.run(
        [BINARY, "show", session, "--json", "--data-dir", os.path.join(home, "data")],
        capture_output=True, text=True, check=True).stdout.splitlines()
    turn = next(event["turn"] for event in map(json.loads, events) if "turn" in event)
    agent = debate["agentResponses"][0]["agentId"]
    names = {"sessionId": session, "agentId": agent, "turnId": turn, "roundNumber": 1, "number": 1}
    lines = [f'"path.{name}" = {json.dumps(value)}' for name, value in names.items()]
    with open(os.path.join(home, "schemathesis.toml"), "w") as file:
        file.write("\n".join(["[parameters]", *lines, ""]))


def examine(url, home):
    excluded = [word for path in ELSEWHERE for word in ("--exclude-path", path)]
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    command = [
        os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", f"{url}/openapi.json",
        "--checks", checks, "--max-examples", "15", "--phases", "examples,coverage,fuzzing",
        "--request-timeout", "30", "--seed", "1", "--no-color", *excluded,
        # Nothing would be left to ask the others about; tests of the server delete sessions.
        "--exclude-operation-id", "deleteSession",
    ]
    subprocess.run(command, check=True, cwd=home)


main()
