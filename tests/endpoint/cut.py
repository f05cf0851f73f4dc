"""Follows a conversation with the `websockets` package, cut off after every single event: what it got
altogether has to be the log.

    python cut.py http://127.0.0.1:PORT TOKEN

Run by crates/roundtable-server/tests/it/openai/sdk.rs; `cargo xtask interop` installs the package.
"""

import itertools
import json
import sys

from websockets.sync.client import connect

ADDRESS, TOKEN = sys.argv[1:]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def opened():
    # With a limit, frames that nobody reads hold up the end of the connection.
    url = f"{ADDRESS.replace('http', 'ws', 1)}/ws"
    socket = connect(url, additional_headers=HEADERS, max_queue=None)
    assert json.loads(socket.recv(timeout=30))["type"] == "connected"
    return socket


def frames(socket):
    while True:
        yield json.loads(socket.recv(timeout=30))


def follow(socket, after):
    """The events after a position, each as it comes."""
    asked = {"type": "subscribe", "id": 1, "conversationId": "cut", "fromSeq": after, "events": True}
    socket.send(json.dumps(asked))
    return (frame for frame in frames(socket) if frame["type"] == "event")


# The client is gone before the answer begins.
with opened() as socket:
    message = {"type": "message", "id": 1, "conversationId": "cut", "messageId": "m1", "content": "Hello"}
    socket.send(json.dumps(message))
    assert next(frame for frame in frames(socket) if frame.get("id") == 1)["type"] == "ack"

seen = []
while not any(event["kind"] == "round_closed" for event in seen):
    with opened() as socket:
        seen.append(next(follow(socket, seen[-1]["seq"] if seen else 0)))

with opened() as socket:
    log = list(itertools.islice(follow(socket, 0), len(seen)))
assert seen == log, (seen, log)
assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
assert len(seen) > 10, seen
print(f"ok: {len(seen)} events over {len(seen)} connections")
