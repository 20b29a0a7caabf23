"""
fault_proxy.py - a bad network in front of a database server, for tests.

    proxy = FaultProxy(server.port, PostgresWire)
    proxy.arm(CUT_AFTER, b"FROM exchange_v")    # clients connect to proxy.port
    ...
    proxy.wait_hit()

It reads enough of the protocol to know where a request ends and which answer belongs to it, so a fault
hits exactly the n-th request that has the pattern in it, once:

    CUT_BEFORE   the connection is cut, and the server has never seen the request
    CUT_AFTER    the server has answered, and the connection is cut in place of the answer
    HOLD         the server has answered; from then on nobody hears anything, on any connection, until
                 release()

    proxy.forget(b"SUBSCRIBE")      # as a NAT does: these connections stay, and nothing comes through
"""
import socket
import threading

from daemon import wait_for

CUT_BEFORE, CUT_AFTER, HOLD = "cut before", "cut after", "hold"
CHUNK = 1 << 20
FORGETTABLE = (b"SUBSCRIBE", b"LISTEN ")


class PostgresWire:
    """One connection; without TLS, so the URL has to say sslmode=disable&gssencmode=disable."""

    def __init__(self):
        self.has_started = False
        self.statements = {}

    def request_length(self, data):
        """Of the first whole message; 0: it is not all here yet. Only the very first has no type."""
        if self.has_started:
            return self.answer_length(data)
        length = int.from_bytes(data[:4], "big") if len(data) >= 4 else 0
        self.has_started = 0 < length <= len(data)
        return length if self.has_started else 0

    @staticmethod
    def answer_length(data):
        length = 1 + int.from_bytes(data[1:5], "big") if len(data) >= 5 else 0
        return length if length <= len(data) else 0

    def text_of(self, message):
        """What a request runs: of a prepared statement, its text."""
        kind, words = message[:1], message[5:].split(b"\0", 2)
        if kind == b"P":
            self.statements[words[0]] = words[1]
        if kind == b"B":
            return self.statements.get(words[1], b"")
        return message if kind == b"Q" else b""

    @staticmethod
    def asks(message):
        """Whether the server answers up to here: Sync, Query, and the untyped first message."""
        return message[:1] in (b"S", b"Q", b"\0")

    @staticmethod
    def ends_answer(message):
        return message[:1] == b"Z"  # ReadyForQuery


class RedisWire:
    """One connection; requests and answers are values of the same form."""

    def value_end(self, data, start=0):
        """Where the value that starts here ends; 0: it is not all here yet."""
        line = data.find(b"\r\n", start)
        if line < 0:
            return 0
        kind, end = data[start:start + 1], line + 2
        if kind not in (b"$", b"*"):
            return end
        count = int(data[start + 1:line])
        if kind == b"$":
            end += count + 2 if count >= 0 else 0
            return end if end <= len(data) else 0
        for _ in range(count):
            end = self.value_end(data, end)
            if end == 0:
                return 0
        return end

    request_length = answer_length = value_end

    @staticmethod
    def text_of(message):
        return message

    @staticmethod
    def asks(_):
        return True

    ends_answer = asks


class SealedWire:
    """One connection by TLS, of which nothing can be read: every piece is a request, for CUT_BEFORE."""

    PIECE = 1000  # records are larger

    def request_length(self, data):
        return min(len(data), self.PIECE)

    answer_length = request_length

    @staticmethod
    def text_of(message):
        return message

    @staticmethod
    def asks(_):
        return True

    ends_answer = asks


class Conversation:
    """One client, and the connection to the server that was made for it."""

    def __init__(self, proxy, client):
        self.proxy, self.client = proxy, client
        self.wire = proxy.wire()
        self.server = socket.create_connection(("127.0.0.1", proxy.server_port))
        self.asked = self.answered = self.ended = 0
        self.lost = self.fault = None  # the number of the answer that must not arrive, and why
        self.asked_for = set()  # which of the proxy's words have been in a request
        self.is_forgotten = False
        for task in (self.carry_requests, self.carry_answers):
            threading.Thread(target=self.attend, args=(task,), daemon=True).start()

    def attend(self, task):
        try:
            task()
        except OSError:  # the other side, or the test, has ended it
            pass
        self.cut()
        with self.proxy.lock:
            self.ended += 1
        if self.ended == 2:
            self.client.close()
            self.server.close()

    def cut(self):
        for end in (self.client, self.server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:  # it was cut already
                pass

    @staticmethod
    def messages(source, length_of):
        data = b""
        while chunk := source.recv(CHUNK):
            data += chunk
            while length := length_of(data):
                yield data[:length]
                data = data[length:]

    def pass_on(self, target, message):
        """While all is held nothing gets through, and what was held is lost with its connection."""
        if not self.proxy.talks.is_set():
            self.proxy.talks.wait()
            raise ConnectionError("held")
        if not self.is_forgotten:
            target.sendall(message)

    def carry_requests(self):
        for message in self.messages(self.client, self.wire.request_length):
            text = self.wire.text_of(message)
            self.asked_for.update(word for word in FORGETTABLE if word in text)
            fault = self.proxy.fault_for(text)
            if fault == CUT_BEFORE:
                self.proxy.note_hit()
                return
            if fault:
                self.lost, self.fault = self.asked + 1, fault
            self.asked += self.wire.asks(message)
            self.pass_on(self.server, message)

    def carry_answers(self):
        for message in self.messages(self.server, self.wire.answer_length):
            is_last = self.wire.ends_answer(message)
            if self.lost != self.answered + 1:
                self.pass_on(self.client, message)
            elif is_last:
                self.lose_answer()
                return
            self.answered += is_last

    def lose_answer(self):
        if self.fault == HOLD:
            self.proxy.talks.clear()
        self.proxy.note_hit()
        self.proxy.talks.wait()


class FaultProxy:
    """Listens on a free port, and forwards to the server's until a fault is hit."""

    def __init__(self, server_port, wire):
        self.server_port, self.wire = server_port, wire
        self.talks = threading.Event()
        self.talks.set()
        self.lock = threading.Lock()
        self.fault = None  # kind, pattern, how many more matches
        self.hits = self.connections = 0
        self.conversations = []
        self.goes_down = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:  # closed
                return
            self.connections += 1
            try:
                self.conversations.append(Conversation(self, client))
            except OSError:  # the server is away
                client.close()

    def arm(self, kind, pattern=b"", nth=1, goes_down=False):
        """The n-th request from now on that has the pattern; then nobody listens, if asked for."""
        with self.lock:
            self.fault, self.goes_down = (kind, pattern, nth), goes_down

    def fault_for(self, text):
        with self.lock:
            if self.fault is None or not text or self.fault[1] not in text:
                return None
            kind, pattern, nth = self.fault
            self.fault = None if nth == 1 else (kind, pattern, nth - 1)
            return kind if nth == 1 else None

    def note_hit(self):
        if self.goes_down:
            self.close()
        self.hits += 1

    def wait_hit(self, count=1):
        wait_for(lambda: self.hits >= count, lambda: f"fault {count}, not {self.hits}")

    def forget(self, word):
        """Nothing comes through any more for whoever has asked for this, and nobody is told."""
        found = [talk for talk in self.conversations if word in talk.asked_for and not talk.ended]
        for talk in found:
            talk.is_forgotten = True
        return len(found)

    def release(self):
        self.talks.set()

    def close(self):
        """Nobody listens any more; whoever is connected stays so."""
        try:
            self.listener.shutdown(socket.SHUT_RDWR)  # close() alone would not wake accept()
        except OSError:  # it was closed already
            pass
        self.listener.close()
        self.release()
