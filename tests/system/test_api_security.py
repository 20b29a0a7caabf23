"""
test_api_security.py - who may come in to the HTTP API, and what strangers, their pages and their guesses get.
"""
import hashlib
import os
import re
import resource
import signal
import socket
import time
import unittest

from api import ApiCase
from daemon import wait_for

TOKEN, READ_TOKEN = "a-token-that-may-all", "a-token-that-may-look"
DOCUMENT = "/api/openapi.json"
LOGIN, LOGOUT = "/api/login", "/api/logout"

HEADERS = {
    "Content-Security-Policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class TokenCase(ApiCase):
    """Both tokens are in files that nobody else may read."""

    def token_file(self, name, text, mode=0o600):
        path = self.write(name, text)
        os.chmod(path, mode)
        return path

    def tokens(self, **http):
        return {"token_file": self.token_file("token", TOKEN + "\n"),
                "read_token_file": self.token_file("read-token", READ_TOKEN), **http}

    def serve_with_tokens(self, **http):
        return self.serve(http=self.tokens(**http), token=TOKEN)


class TokenTest(TokenCase):
    def test_a_token_has_its_right_and_no_other_opens_anything(self):
        api = self.serve_with_tokens()
        self.assertEqual(api.get(DOCUMENT).status, 200)
        api.token = READ_TOKEN
        self.assertEqual(api.get(DOCUMENT).status, 200)
        for authorization in (None, "Bearer", "Bearer ", "Basic YTpi", f"Bearer {TOKEN}x", f"Bearer  {TOKEN[:-1]}",
                              TOKEN, f"Bearer {TOKEN}, Bearer {TOKEN}", "x" * 7000):
            answer = api.get(DOCUMENT, headers={"Authorization": authorization})
            self.assert_problem(answer, 401, "unauthorized")
            self.assertEqual(answer.headers["WWW-Authenticate"], "Bearer")
        two = api.request("GET", DOCUMENT, headers={"Authorization": [f"Bearer {TOKEN}", f"Bearer {TOKEN}"]})
        self.assert_problem(two, 400)
        self.assert_problem(api.get(f"{DOCUMENT}?token={TOKEN}", headers={"Authorization": None}), 401)

    def test_a_token_that_may_look_changes_nothing(self):
        api = self.serve_with_tokens()
        reader = {"Authorization": f"Bearer {READ_TOKEN}"}
        for path, operations in api.document.content["paths"].items():
            for method, operation in operations.items():
                if operation["security"] and method != "get":
                    answer = api.call(method.upper(), re.sub("{.*}", "x", path), headers=reader)
                    self.assert_problem(answer, 403, "forbidden")

    def test_probes_and_the_login_need_no_token(self):
        api = self.serve_with_tokens()
        api.token = None
        self.assertEqual(api.get("/health").status, 200)
        self.assertEqual(api.get("/ready").status, 200)
        self.assertEqual(api.post(LOGOUT).status, 204)

    def test_who_guesses_gets_429_and_who_is_right_never(self):
        api = self.serve_with_tokens()
        wrong = {"Authorization": "Bearer a-guess"}

        def guess_fast():
            begin = time.monotonic()
            answers = [api.get(DOCUMENT, headers=wrong) for _ in range(12)]
            right = [api.get(DOCUMENT).status, api.post(LOGIN, {"token": TOKEN}).status]
            return time.monotonic() - begin < 1 and (answers, right)
        answers, right = wait_for(guess_fast, "fourteen requests within a second")
        self.assertEqual(right, [200, 204])
        self.assertEqual({answer.status for answer in answers[:10]} - {401, 429}, set())
        self.assert_problem(answers[-1], 429, "too_many_requests")
        self.assertEqual(answers[-1].headers["Retry-After"], "1")
        wait_for(lambda: api.get(DOCUMENT, headers=wrong).status == 401 and
                 [api.post(LOGIN, {"token": "a-guess"}).status for _ in range(11)][-1] == 429, "429 for wrong logins")
        missing = {api.get(DOCUMENT, headers={"Authorization": None}).status for _ in range(12)}
        self.assertEqual(missing, {401})

    def test_a_new_token_counts_after_a_reload_and_a_bad_file_changes_nothing(self):
        api = self.serve_with_tokens(listen=self.free_address())
        self.token_file("token", "another-token\n")
        self.pool.signal(signal.SIGHUP)
        self.pool.wait_event("config_reloaded")
        self.assertEqual(api.get(DOCUMENT).status, 401)
        api.token = "another-token"
        self.assertEqual(api.get(DOCUMENT).status, 200)
        os.chmod(self.path("token"), 0o644)
        self.pool.signal(signal.SIGHUP)
        self.pool.wait_event("config_rejected", hint="the old config stays")
        self.assertIn(f"http.token_file: others may use '{self.path('token')}': take that right (chmod 600)",
                      [event["error"] for event in self.pool.events("config_rejected")])
        self.assertEqual(api.get(DOCUMENT).status, 200)

    def test_a_token_that_others_may_read_or_that_is_none_is_told_at_the_start_and_by_a_check(self):
        for mode, text, complaint in ((0o640, TOKEN, "others may use"), (0o600, "\n", "there is no token in"),
                                      (0o600, "two words", "cannot be sent"), (None, "", "cannot be opened: No such")):
            path = self.token_file("token", text, mode or 0o600)
            if mode is None:
                os.remove(path)
            self.configure({"noop": {"command": "true"}}, http={"listen": "127.0.0.1:0", "token_file": "token"})
            for arguments in ((), ("--check",)):
                pool = self.start(None, *arguments)
                self.assertEqual(pool.wait(), 78)
                self.assertEqual(pool.log_text().count("http.token_file: "), 1, pool.log_text())
                self.assertIn(complaint, pool.log_text())
                self.assertNotIn("two words", pool.log_text())

    @unittest.skipUnless(os.geteuid() == 0, "only root looks into the memory of others")
    def test_no_process_but_the_door_has_even_the_digests(self):
        self.serve_with_tokens()
        wanted = hashlib.sha256(TOKEN.encode()).digest()
        found = {name for name, pid in self.pool.processes().items() if self.memory_has(pid, wanted)}
        self.assertEqual(found, {"http"})
        plain = {name for name, pid in self.pool.processes().items() if self.memory_has(pid, TOKEN.encode())}
        self.assertEqual(plain, set())

    def memory_has(self, pid, wanted):
        """Whether a process has these bytes in what it may write."""
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                span, rights = line.split()[:2]
                start, end = (int(part, 16) for part in span.split("-"))
                if not rights.startswith("rw") or end - start > 64 << 20:
                    continue
                try:
                    memory.seek(start)
                    if wanted in memory.read(end - start):
                        return True
                except (OSError, ValueError):
                    continue
        return False

    def free_address(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return "127.0.0.1:%d" % probe.getsockname()[1]


class CookieTest(TokenCase):
    def log_in(self, api, token, **headers):
        answer = api.post(LOGIN, {"token": token}, headers={"Authorization": None, **headers})
        self.assertEqual(answer.status, 204, answer)
        value, *attributes = answer.headers["Set-Cookie"].split("; ")
        return value, set(attributes)

    def test_a_login_gives_a_cookie_with_the_right_of_its_token(self):
        api = self.serve_with_tokens()
        cookie, attributes = self.log_in(api, TOKEN)
        self.assertEqual(attributes, {"Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=604800"})
        reader, _ = self.log_in(api, READ_TOKEN)
        self.assertNotEqual(cookie.split("=")[0], reader.split("=")[0])
        api.token = None
        for shown in (cookie, reader, f"other=1; {cookie}; last=2"):
            self.assertEqual(api.get(DOCUMENT, headers={"Cookie": shown}).status, 200)
        for shown in (cookie[:-1], cookie.replace("=1", "=9"), cookie.split("=")[0] + "=" + reader.split("=")[1], "x=y"):
            self.assert_problem(api.get(DOCUMENT, headers={"Cookie": shown}), 401)
        self.assert_problem(api.get(DOCUMENT, headers={"Cookie": cookie, "Authorization": "Bearer x"}), 401)

    def test_a_cookie_outlives_the_process_that_gave_it(self):
        api = self.serve_with_tokens()
        cookie, _ = self.log_in(api, TOKEN)
        api.token = None
        pid = self.pool.pid_of("http")
        os.kill(pid, signal.SIGKILL)
        self.pool.wait_replaced("http", pid)
        self.assertEqual(api.get(DOCUMENT, headers={"Cookie": cookie}).status, 200)

    def test_a_cookie_is_secure_if_the_login_is(self):
        api = self.serve_with_tokens(hosts=["jobs.example.org"])
        page = {"Host": "jobs.example.org", "Origin": "https://jobs.example.org", "Sec-Fetch-Site": "same-origin"}
        _, attributes = self.log_in(api, TOKEN, **page)
        self.assertIn("Secure", attributes)
        page["Origin"] = "http://jobs.example.org"
        _, attributes = self.log_in(api, TOKEN, **page)
        self.assertNotIn("Secure", attributes)
        page["X-Forwarded-Proto"] = "https"
        _, attributes = self.log_in(api, TOKEN, **page)
        self.assertNotIn("Secure", attributes)

    def test_a_logout_makes_the_browser_forget(self):
        api = self.serve_with_tokens()
        cookie, _ = self.log_in(api, TOKEN)
        answer = api.post(LOGOUT, headers={"Cookie": cookie})
        self.assertEqual(answer.status, 204)
        gone = answer.headers.get_all("Set-Cookie")
        self.assertIn(f"{cookie.split('=')[0]}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", gone)

    def test_a_login_wants_a_token(self):
        api = self.serve_with_tokens()
        answer = api.post(LOGIN, {"token": "wrong"})
        self.assert_problem(answer, 401, "unauthorized")
        self.assertIsNone(answer.headers["Set-Cookie"])
        self.assert_problem(api.post(LOGIN, {}), 400, field="/token")
        self.assert_problem(api.post(LOGIN), 400, field="/token")
        self.assert_problem(api.post(LOGIN, {"token": 7}), 400, field="/token")
        self.assert_problem(api.post(LOGIN, {"token": "x" * 5000}), 400, field="/token")
        self.assert_problem(api.post(LOGIN, {"tokn": TOKEN}), 400, field="/tokn")
        self.assert_problem(api.post(LOGIN, b'{"token":'), 400)
        self.assert_problem(api.post(LOGIN, {"token": "x" * 70000}), 413, "too_large")

    def test_without_a_token_nobody_logs_in(self):
        api = self.serve()
        self.assert_problem(api.post(LOGIN, {"token": "x"}), 400, field="/token")
        self.assertEqual(api.post(LOGOUT).status, 204)


class OriginTest(TokenCase):
    def test_only_its_own_names_are_answered(self):
        api = self.serve(http={"hosts": ["jobs.example.org"]})
        port = api.address.rsplit(":", 1)[1]
        for host in ("127.0.0.1", "localhost", "LocalHost", f"localhost:{port}", f"[::1]:{port}", "[::1]",
                     "jobs.example.org", f"jobs.example.org:{port}", "jobs.example.org:443"):
            self.assertEqual(api.get(DOCUMENT, headers={"Host": host}).status, 200, host)
        for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example",
                     "example.org", "10.0.0.1", ""):
            for path in (DOCUMENT, "/api/nothing", "/"):
                self.assert_problem(api.get(path, headers={"Host": host}), 421, "misdirected")
            self.assert_problem(api.post(LOGIN, b"no json", headers={"Host": host, "Content-Type": "text/plain"}), 421)
            self.assertEqual(api.get("/health", headers={"Host": host}).status, 200)
            self.assertEqual(api.get("/ready", headers={"Host": host}).status, 200)
        forwarded = {"Host": "evil.example", "X-Forwarded-Host": "localhost", "X-Forwarded-For": "127.0.0.1",
                     "Forwarded": "host=localhost"}
        self.assert_problem(api.get(DOCUMENT, headers=forwarded), 421)
        self.assert_problem(api.request("GET", DOCUMENT, headers={"Host": ["localhost", "localhost"]}), 400)

    def test_a_socket_with_a_path_has_the_same_names_and_is_for_its_group(self):
        path = self.path("door")
        api = self.serve(http={"listen": f"unix:{path}"})
        self.assertEqual(api.get(DOCUMENT).status, 200)
        self.assert_problem(api.get(DOCUMENT, headers={"Host": "evil.example"}), 421)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o660)

    def test_a_page_of_another_site_changes_nothing(self):
        api = self.serve_with_tokens()
        body = {"token": TOKEN}
        for headers in ({}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"},
                        {"Origin": f"http://{api.address}"}, {"Origin": f"https://{api.address}"}):
            self.assertEqual(api.post(LOGIN, body, headers=headers).status, 204, headers)
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": ""},
                        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
                        {"Sec-Fetch-Site": "cross-site", "Origin": f"http://{api.address}"}):
            self.assert_problem(api.post(LOGIN, body, headers=headers), 403, "forbidden")
            self.assert_problem(api.post(LOGOUT, headers=headers), 403)
            self.assertEqual(api.get(DOCUMENT, headers=headers).status, 200)

    def test_a_form_of_another_site_changes_nothing(self):
        api = self.serve_with_tokens()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", None,
                     "application/jsonx", "application/json, text/plain", "text/json"):
            answer = api.post(LOGIN, {"token": TOKEN}, headers={"Content-Type": kind})
            self.assert_problem(answer, 415, "unsupported_media_type")
        for kind in ("application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;x=y"):
            self.assertEqual(api.post(LOGIN, {"token": TOKEN}, headers={"Content-Type": kind}).status, 204)
        self.assertEqual(api.post(LOGOUT, headers={"Content-Type": None}).status, 204)


class StrangerTest(TokenCase):
    def test_who_mistypes_is_told_what_is_there(self):
        api = self.serve()
        for path in ("/api", "/api/", "/api/job", "/api/openapi.json/", "/nothing", "//", "/api/%2e%2e/health",
                     "/api/" + "x" * 3000, "/health/x/y/z/1/2/3/4/5/6"):
            self.assert_problem(api.get(path), 404, "not_found")
        for method, path, allow in (("DELETE", "/health", "GET, HEAD"), ("OPTIONS", DOCUMENT, "GET, HEAD"),
                                    ("GET", LOGIN, "POST"), ("PUT", LOGIN, "POST"), ("TRACE", "/ready", "GET, HEAD"),
                                    ("get", "/health", "GET, HEAD")):
            answer = api.request(method, path)
            self.assert_problem(answer, 405, "method_not_allowed")
            self.assertEqual(answer.headers["Allow"], allow)
            self.assertFalse([name for name in answer.headers if name.startswith("Access-Control")])
        for path in (DOCUMENT, "/health", "/ready"):
            self.assert_problem(api.get(f"{path}?verbose=1"), 400, "invalid", field="verbose")
            head = api.request("HEAD", path)
            self.assertEqual((head.status, head.body), (200, b""))
        self.assert_problem(api.get(f"{DOCUMENT}?a=%zz"), 400)
        self.assert_problem(api.request("GET", "/health", {"a": 1}), 400)
        self.assert_problem(api.post(LOGOUT, {"a": 1}), 400)

    def test_every_answer_has_the_headers_of_all(self):
        api = self.serve_with_tokens()
        deep = b"[" * 10000
        answers = [
            api.get("/health"), api.get(DOCUMENT), api.request("HEAD", "/health"), api.post(LOGIN, {"token": TOKEN}),
            api.get("/nothing"), api.get(DOCUMENT, headers={"Authorization": None}),
            api.get(DOCUMENT, headers={"Host": "evil"}), api.request("DELETE", "/health"),
            api.post(LOGIN, deep), api.post(LOGIN, {"token": "x" * 70000}),
            api.request("GET", "/a%00"), api.request("GET", "/", headers={"X": "y" * 9000}),
            api.request("GET", "/", headers={"Transfer-Encoding": "chunked", "Content-Length": "0"})]
        for answer in answers:
            for name, value in HEADERS.items():
                self.assertEqual(answer.headers.get_all(name), [value], answer)
        self.assertEqual({answer.status for answer in answers}, {200, 204, 400, 401, 404, 405, 413, 421, 431})

    def test_bodies_and_answers_under_way_have_a_limit_and_others_are_told_so(self):
        """A thousand bodies that lack their last byte take nearly all the memory that there is for them."""
        count, size = 1024, 64 << 10
        files = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, files)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(files[0], min(files[1], count + 256)), files[1]))
        api = self.serve_with_tokens(connections=count + 64)
        self.assertEqual(api.get(DOCUMENT).status, 200)
        head = (f"POST {LOGIN} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {size}\r\n\r\n").encode()
        host, port = api.address.split(":")
        for _ in range(count):
            client = socket.create_connection((host, int(port)))
            self.addCleanup(client.close)
            client.sendall(head + b" " * (size - 1))
        answer = wait_for(lambda: (lambda found: found.status == 503 and found)(api.get(DOCUMENT)), "a full server")
        self.assert_problem(answer, 503, "unavailable")
        self.assertTrue(answer.headers["Retry-After"])
        self.assert_problem(api.get("/metrics"), 503, "unavailable")
        self.assert_problem(api.post(LOGIN, {"token": "x" * 3000}), 503, "unavailable")
        self.assertEqual(api.get("/health").status, 200)

    def test_others_reach_a_pool_only_with_a_token(self):
        self.configure({"noop": {"command": "true"}}, http={"listen": "0.0.0.0:0"})
        pool = self.start()
        self.assertEqual(pool.wait(), 78)
        self.assertIn("http.listen: other machines can reach '0.0.0.0:0': set token_file, or listen on 127.0.0.1",
                      pool.log_text())


if __name__ == "__main__":
    unittest.main()
