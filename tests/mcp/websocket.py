"""Runs the clients of docs/guides/websocket.md against a server.

    python websocket.py PATH/TO/roundtable PATH/TO/node
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile

BINARY, NODE = os.path.abspath(sys.argv[1]), sys.argv[2]
GUIDE = os.path.join(os.path.dirname(__file__), "../../docs/guides/websocket.md")
TIMEOUT = 60

# What a page would do with the client of the guide.
PAGE = """
const talk = chat({
  url: process.argv[2], conversation: 'from-node', onChunk() {},
  onMessage(message) {
    console.log(`${message.role}: ${message.content}`);
    if (message.role === 'assistant') process.exit(0);
  },
});
await talk.ready;
await talk.send('Hello from Node.');
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def blocks(language):
    with open(GUIDE, encoding="utf-8") as guide:
        return re.findall(rf"^```{language}\n(.*?)^```", guide.read(), re.MULTILINE | re.DOTALL)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def main():
    python, browser = blocks("python")[0], blocks("js")[0]
    assert len(python.splitlines()) <= 30 and len(browser.splitlines()) <= 42, "keep them short"
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        data = os.path.join(folder, "data")
        command = [BINARY, "serve", "--json", "--data-dir", data, "--listen", f"127.0.0.1:{port}"]
        env = {"PATH": os.environ["PATH"], "HOME": folder}
        server = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        try:
            json.loads(server.stdout.readline())
            url = f"ws://127.0.0.1:{port}/ws"
            client = write(folder, "client.py", python)
            said = run([sys.executable, client, url, "Hello from Python.", "from-python"])
            assert said.startswith("supervisor: "), said
            page = write(folder, "page.mjs", browser + PAGE)
            said = run([NODE, page, url])
            assert "user: Hello from Node." in said and "assistant: " in said, said
        finally:
            server.terminate()
            server.wait(timeout=TIMEOUT)
    print("both clients of the guide hold a conversation")


if __name__ == "__main__":
    main()
