#!/usr/bin/env python3
"""Checks a data directory from outside: python3 tests/oracle.py DIR

Knows the file's form and the promises, and shares no code with the program that writes it.

  I1  the positions of a session's events have no gap, from where it was forked to its head
  I2  every acknowledged command is in the log; every accepted message opens one round, or is
      dropped, or still waits
  I3  every model call and tool call is finished at most once, and not without a start
  I4  the epochs of a session never decrease
  chain   every header is sealed with the hash of the one before it, every body with its digest
  scopes  what was opened is closed at most once, children first; nothing is open at the end

Prints `ok: N sessions, M events`, or one line for each problem, and exits with 1.
"""

import hashlib
import json
import os
import sqlite3
import sys

GENESIS = hashlib.sha256(b"roundtable").hexdigest()
MASK = 0xFFFFFFFF


class Session:
    def __init__(self, row):
        self.number, self.id, self.parent, self.parent_seq, self.head, self.head_hash, self.status = row
        self.events = []
        self.erased = False


class Event:
    def __init__(self, row):
        (key, self.epoch, self.at, self.kind, self.version, self.round, self.turn, self.iteration,
         self.tool_call, self.digest, self.hash, self.salt, self.body) = row
        self.number, self.seq = key >> 32, key & MASK
        self.data = None

    def read(self):
        """The body as JSON; nothing when it was erased."""
        if self.body is not None:
            self.data = json.loads(self.body) or {}


class Oracle:
    def __init__(self, file):
        self.problems = []
        uri = "file:" + file.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=ro"
        database = sqlite3.connect(uri, uri=True)
        # Damaged text is still bytes.
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        database.execute("BEGIN")
        self.load(database)
        database.close()

    def load(self, database):
        columns = "number, id, parent, parent_seq, head, head_hash, status"
        rows = database.execute(f"SELECT {columns} FROM session ORDER BY number")
        self.sessions = {row[0]: Session(row) for row in rows}
        self.by_id = {session.id: session for session in self.sessions.values()}
        columns = ("id, epoch, at, kind, version, round, turn, iteration, tool_call, digest, hash, "
                   "salt, CAST(body AS BLOB)")
        self.count = 0
        for row in database.execute(f"SELECT {columns} FROM event ORDER BY id"):
            event = Event(row)
            self.count += 1
            session = self.sessions.get(event.number)
            if session is None:
                self.problem("I1", f"session number {event.number}", event, "belongs to no session")
            else:
                session.events.append(event)
        self.commands = list(database.execute("SELECT session, id, receipt FROM command"))
        self.leases = dict(database.execute("SELECT session, epoch FROM lease"))

    def problem(self, rule, session, event, what):
        name = session.id if isinstance(session, Session) else session
        place = f" at {event.seq if isinstance(event, Event) else event}" if event is not None else ""
        self.problems.append(f"{rule}: {name}{place}: {what}")

    def check(self):
        checks = [self.check_positions, self.check_chain, self.read_bodies, self.check_epochs,
                  self.check_messages, self.check_model_calls, self.check_tool_calls, self.check_scopes]
        for session in self.sessions.values():
            for check in checks:
                try:
                    check(session)
                except (AttributeError, KeyError, TypeError) as error:
                    self.problem("form", session, None, f"{check.__name__}: {type(error).__name__} {error}")
        self.check_commands()
        return self.problems

    # I1

    def check_positions(self, session):
        if session.parent is not None:
            parent = self.by_id.get(session.parent)
            if parent is None:
                self.problem("I1", session, None, f"comes from {session.parent}, which is not there")
            elif session.parent_seq > parent.head:
                self.problem("I1", session, None, f"comes from {session.parent} beyond its end")
        elif session.parent_seq != 0:
            self.problem("I1", session, None, "has no origin and does not begin at 1")
        expected = session.parent_seq + 1
        for event in session.events:
            if event.seq != expected:
                self.problem("I1", session, expected, f"is missing; {event.seq} follows")
            expected = event.seq + 1
        if expected != session.head + 1:
            self.problem("I1", session, expected, f"the log ends here; the head is {session.head}")
        if session.head == session.parent_seq:
            self.problem("I1", session, None, "has no events")

    # The chain

    def hash_at(self, session, seq):
        """The hash of an event, wherever in the line of forks it is."""
        seen = set()
        while session is not None and session.id not in seen:
            seen.add(session.id)
            if seq > session.parent_seq:
                return next((event.hash for event in session.events if event.seq == seq), None)
            if session.parent is None:
                return GENESIS
            session = self.by_id.get(session.parent)
        return None

    def check_chain(self, session):
        before = GENESIS
        if session.parent is not None:
            before = self.hash_at(self.by_id.get(session.parent), session.parent_seq)
        for event in session.events:
            if event.body is not None and event.salt is not None:
                if hashlib.sha256(bytes(event.salt) + event.body).hexdigest() != event.digest:
                    self.problem("chain", session, event, "the body is not the one of its digest")
            lines = [before, session.id, event.seq, event.epoch, event.at, event.kind, event.version,
                     event.round, event.turn, event.iteration, event.tool_call, event.digest]
            header = "\n".join(str(line) for line in lines)
            if hashlib.sha256(header.encode()).hexdigest() != event.hash:
                self.problem("chain", session, event, "the header does not follow on the one before it")
            before = event.hash
        if before != session.head_hash:
            self.problem("chain", session, None, "the session's row has another hash of its head")

    def read_bodies(self, session):
        for event in session.events:
            try:
                event.read()
            except (ValueError, RecursionError) as error:
                self.problem("chain", session, event, f"the body is no JSON: {error}")
            if event.data is None:
                session.erased = True

    # I4

    def check_epochs(self, session):
        last = 0
        for event in session.events:
            if event.epoch < last:
                self.problem("I4", session, event, f"epoch {event.epoch} after {last}")
            last = max(last, event.epoch)
        lease = self.leases.get(session.id)
        if lease is None or lease < last:
            self.problem("I4", session, None, f"written in epoch {last}, and the lease is at {lease}")

    # I2

    def check_commands(self):
        for number, command, receipt in self.commands:
            session = self.sessions.get(number)
            if session is None:
                self.problem("I2", f"session number {number}", None, f"{command} belongs to no session")
                continue
            receipt = json.loads(receipt)
            if not session.parent_seq <= receipt["after"] <= receipt["seq"] <= session.head:
                self.problem("I2", session, None, f"{command} was acknowledged with {receipt}")

    def check_messages(self, session):
        """Every accepted message has one fate. A further take of its round is none of its own, but a
        round that failed is run again for a message of its own."""
        fates, again = {}, False
        for event in session.events:
            data = event.data
            if event.kind == "session_round_superseded" and (data or {}).get("redo"):
                again = True
            if data is None:
                continue
            if event.kind == "session_input_accepted":
                message = data["context"]["message_id"]
                if message in fates:
                    self.problem("I2", session, event, f"message {message} is accepted again")
                fates.setdefault(message, [])
            elif event.kind == "session_input_dropped":
                self.add_fate(session, event, fates, data["message_id"], "dropped")
            elif event.kind == "round_opened":
                message = data["input"]["message_id"]
                if not again or fates.get(message) == []:
                    self.add_fate(session, event, fates, message, "opened a round")
                again = False
        for message, fate in fates.items():
            if len(fate) > 1:
                self.problem("I2", session, None, f"message {message}: {' and '.join(fate)}")
            if not fate and session.status == "completed" and not session.erased:
                self.problem("I2", session, None, f"message {message} waits, and the session is over")

    def add_fate(self, session, event, fates, message, fate):
        if message in fates:
            fates[message].append(fate)
        elif not session.erased:
            self.problem("I2", session, event, f"message {message} {fate} and was never accepted")

    # I3

    def check_model_calls(self, session):
        ends = {"model_call_finished": "finished", "model_call_failed": "failed",
                "model_call_cancelled": "cancelled", "model_call_interrupted": "interrupted"}
        calls = {}
        for event in session.events:
            if event.data is None or (event.kind != "model_call_started" and event.kind not in ends):
                continue
            attempts = calls.setdefault(event.iteration, [])
            attempt = event.data["attempt"]
            if event.kind == "model_call_started":
                if attempt != len(attempts) + 1:
                    self.problem("I3", session, event, f"attempt {attempt} starts after {len(attempts)}")
                elif attempts and attempts[-1] != "interrupted":
                    self.problem("I3", session, event, f"a call is made again that was {attempts[-1]}")
                attempts.append(None)
            elif attempt != len(attempts):
                self.problem("I3", session, event, f"attempt {attempt} ends and {len(attempts)} runs")
            elif attempts[-1] is not None:
                self.problem("I3", session, event, f"{ends[event.kind]}, after it was {attempts[-1]}")
            else:
                attempts[-1] = ends[event.kind]

    def check_tool_calls(self, session):
        calls = {}
        for event in session.events:
            asks = event.kind == "context_requested" and event.tool_call
            if event.data is None or not (event.kind.startswith("tool_call_") or asks):
                continue
            if event.kind == "tool_call_requested":
                if event.tool_call in calls:
                    self.problem("I3", session, event, "a tool call is requested again")
                calls[event.tool_call] = {"starts": 0, "runs": False, "asked": False, "done": False}
                continue
            call = calls.get(event.tool_call)
            if call is None:
                self.problem("I3", session, event, f"{event.kind} of a call that nobody asked for")
            elif call["done"]:
                self.problem("I3", session, event, f"{event.kind} after its finish")
            elif asks:
                call["asked"] = True
            else:
                self.check_tool_call(session, event, call)

    def check_tool_call(self, session, event, call):
        if event.kind == "tool_call_started":
            if call["runs"] or event.data["attempt"] != call["starts"] + 1:
                self.problem("I3", session, event, "started while it runs, or out of order")
            call["starts"], call["runs"] = call["starts"] + 1, True
        elif event.kind == "tool_call_interrupted":
            if not call["runs"] or event.data["attempt"] != call["starts"]:
                self.problem("I3", session, event, "interrupted and does not run")
            call["runs"] = False
        elif event.kind == "tool_call_published":
            if not call["runs"]:
                self.problem("I3", session, event, "published something and does not run")
        elif event.kind == "tool_call_finished":
            call["done"] = True
            outcome = event.data["outcome"]
            # What the session does itself needs no start: a question is asked at once.
            returned = outcome == "returned" and (not event.data["success"] or call["asked"])
            if call["starts"] == 0 and not (returned or outcome in ("not_run", "answered", "cancelled")):
                self.problem("I3", session, event, f"{outcome} and was never started")

    # Scopes

    def check_scopes(self, session):
        if session.erased:
            return
        opened, closed = {}, set()
        for event in session.events:
            change = self.scope_change(event)
            if change is None:
                continue
            scope, parent, opens = change
            if opens:
                if scope in opened or scope in closed:
                    self.problem("scopes", session, event, f"{scope} opens again")
                if parent is not None and parent not in opened:
                    self.problem("scopes", session, event, f"{scope} opens in {parent}, which is not open")
                if parent is None and opened:
                    self.problem("scopes", session, event, f"{scope} opens while a round is open")
                opened[scope] = parent
            else:
                if scope not in opened:
                    self.problem("scopes", session, event, f"{scope} closes and is not open")
                for child in [child for child, parent in opened.items() if parent == scope]:
                    self.problem("scopes", session, event, f"{scope} closes before {child} in it")
                opened.pop(scope, None)
                closed.add(scope)
        if session.status == "completed":
            for scope in opened:
                self.problem("scopes", session, None, f"{scope} is open, and the session is over")

    def scope_change(self, event):
        """The scope that an event opens or closes, and what it lies in."""
        kind, data = event.kind, event.data
        if kind in ("round_opened", "round_aside_opened"):
            return event.round, None, True
        if kind == "round_closed":
            return event.round, None, False
        if kind == "turn_started":
            return event.turn, data.get("tool_call") or event.round, True
        if kind == "turn_ended":
            return event.turn, None, False
        if kind == "iteration_opened":
            return event.iteration, event.turn, True
        if kind == "iteration_closed":
            return event.iteration, None, False
        if kind.startswith("model_call_") and kind != "model_call_retried":
            call = f"{event.iteration} attempt {data['attempt']}"
            return call, event.iteration, kind == "model_call_started"
        if kind == "tool_call_requested":
            return event.tool_call, event.iteration, True
        if kind == "tool_call_finished":
            return event.tool_call, None, False
        return None


def main(arguments):
    if len(arguments) != 1:
        print("usage: oracle.py DIR", file=sys.stderr)
        return 2
    file = os.path.join(arguments[0], "roundtable.db")
    if not os.path.exists(file):
        print(f"there is no {file}", file=sys.stderr)
        return 2
    try:
        oracle = Oracle(file)
    except sqlite3.DatabaseError as error:
        print(f"file: {file}: {error}")
        return 1
    problems = oracle.check()
    for problem in problems:
        print(problem)
    if not problems:
        print(f"ok: {len(oracle.sessions)} sessions, {oracle.count} events")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
