"""A model provider that asks for context in the first round and counts what it is asked."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = json.dumps({"position": "Yes, with care.", "reasoning": "It pays.", "confidence": 0.8, "keyPoints": ["one"]})


class Provider(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = Counter()
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def environment(self):
        return {"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": self.url, "OPENAI_MODEL": "test"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked[self.headers.get("idempotency-key") or json.dumps(body, sort_keys=True)] += 1
        offered = any(tool["function"]["name"] == "request_context" for tool in body.get("tools", []))
        answered = any(message["role"] == "tool" for message in body["messages"])
        text = json.dumps(body["messages"])
        first = "The budget is a million." not in text
        if offered and first and not answered:
            arguments = json.dumps({"query": "What is the budget?", "reason": "I need it."})
            call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "request_context", "arguments": arguments}}
            self.stream([{"tool_calls": [call]}], "tool_calls")
        else:
            self.stream([{"content": ANSWER[:20]}, {"content": ANSWER[20:]}], "stop")

    def stream(self, deltas, reason):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for delta in deltas:
            self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        self.event({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def event(self, value):
        value = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "test", **value}
        self.chunk(f"data: {json.dumps(value)}\n\n".encode())

    def chunk(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()
