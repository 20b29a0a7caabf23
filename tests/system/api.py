"""
api.py - a client of thd's HTTP API, for all tests of it.

Every answer is held to the OpenAPI document of the server that gave it: its status, its type, its body. What was
seen of the document is written down below $TH_API_SEEN, where test_api_seen.py looks for what nobody has seen.
"""
import http.client
import json
import os
import re
import socket
import sys
import threading
import urllib.parse

import jsonschema

from daemon import DaemonCase, wait_for
from harness import BACKEND, DEADLINE

SEEN = os.environ.get("TH_API_SEEN")
DOCUMENT = "/api/openapi.json"
AN_ID = "0193f0a2-7c1d-7abc-8def-0123456789ab"
OUR_TYPES = ("application/json", "application/problem+json")

seen = set()


class Answer:
    """What came back; .json is the body, and None without one."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def type(self):
        return (self.headers.get("Content-Type") or "").split(";")[0]

    @property
    def json(self):
        return json.loads(self.body) if self.body else None

    def __repr__(self):
        return f"{self.status} {self.headers.items()}\n{self.body!r}"


class UnixConnection(http.client.HTTPConnection):
    """To a socket that has a path instead of an address."""

    def __init__(self, path):
        super().__init__("localhost", timeout=DEADLINE)
        self.socket_path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.socket_path)


class Document:
    """What a server says that it does."""

    def __init__(self, content):
        self.content = content
        self.resolver = jsonschema.RefResolver("", content)

    def find(self, method, path):
        """The template of the path and its operation; None for what is not in there."""
        segments = path.split("?")[0].split("/")
        fitting = [template for template in self.content["paths"] if fits(template.split("/"), segments)]
        for template in sorted(fitting, key=lambda template: template.count("{")):
            operation = self.content["paths"][template].get(method.lower())
            if operation:
                return template, operation
        return None, None

    def resolve(self, part):
        """What a part of it says, be it here or at the end of a reference."""
        while "$ref" in part:
            part = self.resolver.resolve(part["$ref"])[1]
        return part

    def operations(self):
        """All of them: method, path with a sample for what varies, operation."""
        for template, operations in self.content["paths"].items():
            for method, operation in operations.items():
                path = template.replace("{id}", AN_ID)
                yield method.upper(), re.sub("{[a-z]+}", "x", path), operation

    def body(self, operation):
        """A body that is right, or None where there is none."""
        if "requestBody" not in operation:
            return None
        return sample(operation["requestBody"]["content"]["application/json"]["schema"], self.resolve)

    def defect(self, operation, answer):
        """What the answer has that the document does not allow, or None."""
        allowed = operation["responses"].get(str(answer.status))
        if allowed is None:
            return f"the status {answer.status} is not in the document"
        content = self.resolve(allowed).get("content", {})
        if not answer.body:
            return None
        if answer.type not in content:
            return f"the type {answer.type} is not in the document"
        if answer.type in OUR_TYPES:
            return self.body_defect(content[answer.type].get("schema", {}), answer.json)
        return None

    def body_defect(self, schema, body):
        validator = jsonschema.Draft202012Validator(schema, resolver=self.resolver)
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(body)]
        return "\n".join(errors) or None


def fits(template, segments):
    return len(template) == len(segments) and all(
        wanted == segment or wanted.startswith("{") for wanted, segment in zip(template, segments))


def note(method, template, status):
    """Writes down what was seen, for test_api_seen.py. Each program that runs tests has a file, and begins it anew."""
    line = f"{method} {template} {status}\n"
    if not SEEN or line in seen:
        return
    seen.add(line)
    os.makedirs(SEEN, exist_ok=True)
    with open(os.path.join(SEEN, f"{sys.argv[-1]}.{BACKEND}"), "w" if len(seen) == 1 else "a",
              encoding="utf-8") as file:
        file.write(line)


def sample(schema, resolve):
    """The least that fits a schema; for requests that only have to be right."""
    schema = resolve(schema)
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return sample(schema[choice][0], resolve)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: sample(schema["properties"][name], resolve) for name in schema.get("required", [])}
    if kind == "array":
        return [sample(schema["items"], resolve) for _ in range(schema.get("minItems", 0))]
    if kind == "string":
        return AN_ID if schema.get("format") == "uuid" else schema.get("examples", ["x"])[0]
    return {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1), "boolean": True}.get(kind)


class Api:
    """A client of one server; a connection for each request, so that it works from any thread."""

    def __init__(self, address, token=None):
        self.address, self.token = address, token
        self.known = None

    # ---- requests ----

    def connect(self):
        if self.address.startswith("unix:"):
            return UnixConnection(self.address[len("unix:"):])
        host, port = self.address.rsplit(":", 1)
        return http.client.HTTPConnection(host.strip("[]"), int(port), timeout=DEADLINE)

    def send(self, connection, method, path, body=None, headers=None):
        """The request as it is meant: no header but these, Host, Content-Length, and the token's. A body that is no
        bytes goes as JSON; a header that is None is left out."""
        fields = {"Host": self.address if not self.address.startswith("unix:") else "localhost"}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            fields["Content-Type"] = "application/json"
        if body is not None or method not in ("GET", "HEAD"):
            fields["Content-Length"] = str(len(body or b""))
        fields.update(headers or {})
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in fields.items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    connection.putheader(name, one)
        connection.endheaders(body)

    def request(self, method, path, body=None, headers=None, query=None):
        """Asks once; the answer is not looked at."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        connection = self.connect()
        try:
            self.send(connection, method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def call(self, method, path, body=None, headers=None, query=None):
        """Asks, and holds the answer to the document."""
        answer = self.request(method, path, body, headers, query)
        self.check(method, path, answer)
        return answer

    def get(self, path, **options):
        return self.call("GET", path, **options)

    def post(self, path, body=None, **options):
        return self.call("POST", path, body, **options)

    def delete(self, path, **options):
        return self.call("DELETE", path, **options)

    def stream(self, path, headers=None):
        """The answer as it comes, such as a stream of events: with .status, .headers, .readline(). Whoever asks
        closes it, and its .connection."""
        connection = self.connect()
        self.send(connection, "GET", path, None, headers)
        response = connection.getresponse()
        response.connection = connection
        self.check("GET", path, Answer(response.status, response.headers, b""))
        return response

    # ---- the document ----

    @property
    def document(self):
        if self.known is None:
            answer = self.request("GET", DOCUMENT)
            if answer.status != 200:
                return Document({"paths": {}})  # it will be asked for again
            self.known = Document(answer.json)
        return self.known

    def check(self, method, path, answer):
        template, operation = self.document.find("GET" if method == "HEAD" else method, path)
        if not operation:
            return
        defect = self.document.defect(operation, answer)
        if defect:
            raise AssertionError(f"{method} {path} was answered against the document: {defect}\n{answer}")
        note("GET" if method == "HEAD" else method, template, answer.status)


class Events:
    """A stream of server-sent events, read from another thread as they come; all that came is in .seen."""

    def __init__(self, api, path):
        self.response = api.stream(path)
        self.seen, self.pings, self.is_over = [], 0, False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        fields = {}
        try:
            for line in self.response:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif line.startswith(b":"):
                    self.pings += 1
                elif fields:
                    self.seen.append((fields["event"], json.loads(fields["data"]), int(fields["id"])))
                    fields = {}
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # it was closed, here or there
        self.is_over = True

    def of(self, name, /, **wanted):
        """The data of all events of this kind with these members."""
        return [data for kind, data, _ in list(self.seen)
                if kind == name and all(data.get(key) == value for key, value in wanted.items())]

    def wait(self, name, /, count=1, **wanted):
        """Waits until so many have come, and returns the data of the last one."""
        wait_for(lambda: len(self.of(name, **wanted)) >= count, lambda: f"{name} {wanted} in {self.seen}")
        return self.of(name, **wanted)[-1]

    def wait_end(self):
        """Waits until the stream is over, and returns all that came: names and data."""
        wait_for(lambda: self.is_over, lambda: f"the end of {self.seen}")
        return [(kind, data) for kind, data, _ in self.seen]

    def close(self):
        """As a client that leaves. The socket is shut first: closing it would wait for the thread."""
        if not self.is_over:
            self.response.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.response.close()
        self.response.connection.close()


class ApiCase(DaemonCase):
    """A test with a pool that serves HTTP."""

    def serve(self, handlers=None, pool=None, http=None, arguments=(), token=None, **sections):
        """Starts a pool with `http:`; self.pool is the pool, self.api its client, which is returned."""
        sections["http"] = {"listen": "127.0.0.1:0", **(http or {})}
        self.pool = self.start_pool(handlers or {"noop": {"command": "true"}}, pool, arguments, **sections)
        self.api = Api(self.address_of(self.pool), token)
        return self.api

    def listen(self, path="/api/events"):
        """A stream of events, closed with the test."""
        events = Events(self.api, path)
        self.addCleanup(events.close)
        return events

    def address_of(self, pool):
        return pool.wait_event("listening", door="http")["address"]

    def assert_problem(self, answer, status, word=None, field=None):
        """That this is a refusal, in our words."""
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.type, "application/problem+json", answer)
        problem = answer.json
        self.assertEqual(problem["status"], status)
        self.assertTrue(problem["message"])
        if word:
            self.assertEqual(problem["error"], word, answer)
            self.assertEqual(problem["type"], "urn:taskharbor:" + word)
        if field:
            self.assertEqual(problem.get("field"), field, answer)
        return problem
