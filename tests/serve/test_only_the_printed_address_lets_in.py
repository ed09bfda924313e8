"""Whoever was not given the address, and whatever another page has a browser send, gets nothing."""

from __future__ import annotations

import re
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recall.serve.gate import Gate, Knock
from tests.serve.served import Served, serving
from tests.support.driver import Shop
from tests.support.hermetic_git import Repo
from tests.support.workshop import eventually

FORBIDDEN = 403
SWITCHED = 101


# -- what is decided -----------------------------------------------------------------------------------------------
@pytest.fixture
def gate() -> Gate:
    return Gate(8765)


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765"])
def test_this_machine_has_two_names(gate: Gate, host: str) -> None:
    assert gate.keeps_out_of_page(Knock(host, pass_=gate.pass_)) == ""
    assert gate.keeps_out_of_socket(Knock(host, f"http://{host.lower()}", pass_=gate.pass_)) == ""


@pytest.mark.parametrize(
    "host",
    ["", "127.0.0.1", "127.0.0.1:80", "localhost", "[::1]:8765", "0.0.0.0:8765", "evil.example:8765",
     "127.0.0.1:8765.evil.example", "127.0.0.1:87650", "evil.example@127.0.0.1:8765", "127.0.0.1:8765 "],
)  # fmt: skip
def test_any_other_name_is_refused_even_with_every_secret(gate: Gate, host: str) -> None:
    own = f"http://{host}"
    assert "has no other name" in gate.keeps_out_of_entrance(Knock(host, key=gate.key))
    assert "has no other name" in gate.keeps_out_of_page(Knock(host, pass_=gate.pass_))
    assert "has no other name" in gate.keeps_out_of_socket(Knock(host, own, pass_=gate.pass_))


@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:3000", "https://127.0.0.1:8765",
     "http://localhost:8765", "http://127.0.0.1:8765.evil.example"],
)  # fmt: skip
def test_another_origin_is_refused_even_with_every_secret(gate: Gate, origin: str) -> None:
    knock = Knock("127.0.0.1:8765", origin, pass_=gate.pass_)
    assert gate.keeps_out_of_page(knock) == gate.keeps_out_of_socket(knock) == "another page asked for this"


def test_a_socket_without_an_origin_is_refused(gate: Gate) -> None:
    assert gate.keeps_out_of_socket(Knock("127.0.0.1:8765", pass_=gate.pass_)) == "another page asked for this"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_that_another_page_leads_to_is_refused_but_for_the_entrance(gate: Gate, site: str) -> None:
    host = "127.0.0.1:8765"
    assert gate.keeps_out_of_page(Knock(host, site=site, pass_=gate.pass_)) == "another page asked for this"
    assert gate.keeps_out_of_entrance(Knock(host, site=site, key=gate.key)) == ""


@pytest.mark.parametrize("secret", ["", "x", "é", "\udcff"])
def test_neither_secret_can_be_left_out_or_stand_for_the_other(gate: Gate, secret: str) -> None:
    host, own = "127.0.0.1:8765", "http://127.0.0.1:8765"
    for wrong in (secret, gate.key, gate.pass_[:-1], gate.pass_ + "x"):
        assert "open the address" in gate.keeps_out_of_page(Knock(host, key=gate.key, pass_=wrong))
        assert "open the address" in gate.keeps_out_of_socket(Knock(host, own, key=gate.key, pass_=wrong))
    for wrong in (secret, gate.pass_, gate.key[:-1], gate.key + "x"):
        assert "open the address" in gate.keeps_out_of_entrance(Knock(host, key=wrong))


def test_a_key_is_good_for_one_browser(gate: Gate) -> None:
    used, host = gate.key, "127.0.0.1:8765"
    assert gate.keeps_out_of_entrance(Knock(host, key=used)) == ""
    gate.renew()
    assert "each is good for one browser" in gate.keeps_out_of_entrance(Knock(host, key=used))
    assert gate.keeps_out_of_entrance(Knock(host, key=used, pass_=gate.pass_)) == "", "it is inside already"
    assert gate.key in gate.address


def test_a_look_in_advance_does_not_use_the_key(gate: Gate) -> None:
    knock = Knock("127.0.0.1:8765", purpose="prefetch;prerender", key=gate.key)
    assert "in advance" in gate.keeps_out_of_entrance(knock)


def test_each_life_has_secrets_of_its_own(gate: Gate) -> None:
    other = Gate(8765)
    assert len({gate.key, gate.pass_, gate.room, other.key, other.pass_, other.room}) == 6
    assert len(gate.key) >= 43, "256 bits"


# -- what is answered ----------------------------------------------------------------------------------------------
def test_the_key_is_changed_for_a_cookie_that_no_other_page_or_port_gets(served: Served) -> None:
    inside = served.ask(served.entrance)
    name, *attributes = inside.headers["Set-Cookie"].split("; ")
    assert inside.status == 200
    assert sorted(attributes) == ["HttpOnly", f"Path={served.room}", "SameSite=Strict"]
    assert name.removeprefix("recall=") not in served.url
    assert served.ask(served.room, cookie=inside.cookie).status == 200


def test_an_address_that_was_used_is_of_no_use_and_another_one_is_printed(served: Served) -> None:
    cookie = served.come_in()
    assert served.ask(served.entrance).status == FORBIDDEN
    assert served.ask(served.entrance, cookie=cookie).status == 200
    other = replace(served, url=served.next_url())
    assert other.url != served.url
    assert other.ask(other.entrance, method="HEAD").status != 200, "that would use it"
    assert other.ask(other.room, cookie=other.come_in()).status == 200


def test_without_key_or_cookie_nothing_is_told_of_what_there_is(served: Served) -> None:
    room = served.room
    paths = ("/", room, f"{room}textual.js", f"{room}enter", f"{room}enter?key=x", "/x", "/ws", "/static/")
    answers = [*(served.ask(path) for path in paths), served.ask_for_socket()]
    assert {answer.status for answer in answers} == {FORBIDDEN}
    assert {answer.text for answer in answers} == {
        "refused: open the address that `recall serve` printed last; each is good for one browser\n"
    }


def test_a_request_under_another_name_is_refused(served: Served) -> None:
    cookie = served.come_in()
    for host in (f"evil.example:{served.port}", "127.0.0.1", f"[::1]:{served.port}"):
        answers = (
            served.ask(served.entrance, host=host, cookie=cookie),
            served.ask(served.room, host=host, cookie=cookie),
            served.ask_for_socket(host=host, origin=f"http://{host}", cookie=cookie),
        )
        assert {answer.status for answer in answers} == {FORBIDDEN}
        assert all("has no other name" in answer.text for answer in answers)
    assert served.ask(served.room, host=f"localhost:{served.port}", cookie=cookie).status == 200


def test_no_other_page_opens_a_socket(served: Served) -> None:
    cookie = served.come_in()
    for origin in ("http://evil.example", "null", "http://127.0.0.1:3000", f"https://{served.host}", ""):
        assert served.ask_for_socket(origin=origin, cookie=cookie).status == FORBIDDEN
    assert served.ask_for_socket().status == FORBIDDEN, "the cookie is asked for too"
    assert served.viewers() == []
    assert served.ask_for_socket(cookie=cookie).status == SWITCHED


def test_only_what_pages_are_made_of_can_be_had(served: Served) -> None:
    cookie, room = served.come_in(), served.room
    page = served.ask(room, cookie=cookie).text
    parts = set(re.findall(r'(?:href|src)="([\w.-]+)"', page))
    assert parts == {"roboto-mono.ttf", "xterm.css", "page.css", "textual.js", "page.js"}
    assert {served.ask(room + part, cookie=cookie).status for part in parts} == {200}
    for path in ("recall.toml", "..%2fsite.py", "%2e%2e/site.py", "static/", "index.html", "page/", "download/x"):
        assert served.ask(room + path, cookie=cookie).status == 404, path
    assert served.ask(room, cookie=cookie, method="POST").status in (404, 405)


def test_every_answer_forbids_what_comes_from_elsewhere(served: Served) -> None:
    inside = served.ask(served.entrance)
    cookie = inside.cookie
    for answer in (inside, served.ask(served.room, cookie=cookie), served.ask("/")):
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; ")
        assert "frame-ancestors 'none'" in policy
        assert set(re.findall(r"\w+://[\w.:]+", policy)) == {f"ws://{served.host}"}
        assert answer.headers["Referrer-Policy"] == "no-referrer", "the key stands in an address"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Frame-Options"] == "DENY"


# -- where it listens ----------------------------------------------------------------------------------------------
def _listened_on(port: int) -> set[str]:
    """The addresses, as the kernel writes them, on which anybody listens on this port."""
    lines = [line for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    fields = [line.split() for line in lines]
    return {each[1].split(":")[0] for each in fields if each[3] == "0A" and each[1].endswith(f":{port:04X}")}


def _recall(repo: Repo, *args: str) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "recall", *args],
        cwd=repo.path,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_only_the_machine_itself_can_reach_it(served: Served) -> None:
    assert _listened_on(served.port) == {"0100007F"}


@pytest.mark.parametrize("option", ["--host", "--bind", "--address"])
def test_no_other_address_can_be_asked_for(shop: Shop, option: str) -> None:
    ended = _recall(shop.repo, "serve", option, "0.0.0.0")
    assert ended[0] == 2
    assert "No such option" in ended[1]


def test_a_port_that_is_taken_is_said(shop: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = _recall(shop.repo, "serve", "--no-open", "--port", str(port))
    assert code == 4
    assert f"port {port} of 127.0.0.1 cannot be had: Address already in use; choose another with --port" in said


def test_a_port_can_be_chosen(shop: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(shop.repo.path, "--port", str(port)) as served:
        assert served.port == port
        assert served.ask(served.entrance).status == 200


def test_without_its_packages_it_says_what_to_install(shop: Shop) -> None:
    script = "import sys; sys.modules['textual_serve'] = None; from recall.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", script, "serve"],
        cwd=shop.repo.path,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert (ended.returncode, ended.stderr) == (
        4,
        "`recall serve` needs two more packages: pip install 'recall-tui[serve]'\n",
    )


def test_where_nothing_is_set_up_it_says_what_to_do(repo: Repo) -> None:
    code, said = _recall(repo, "serve", "--no-open")
    assert code == 2
    assert "recall init" in said


# -- how the browser is given the address --------------------------------------------------------------------------
def test_the_key_stands_in_no_command_line(shop: Shop, tmp_path: Path) -> None:
    """Whoever may list processes could read it there. The browser gets a page that its owner alone can read."""
    noted = tmp_path / "noted"
    opener = tmp_path / "opener"
    opener.write_text(f'#!/bin/sh\necho "$@" > {noted}.new; mv {noted}.new {noted}\n')
    opener.chmod(0o755)
    with serving(shop.repo.path, "--open", env={"BROWSER": str(opener)}) as served:
        eventually(noted.exists)
        door = shop.session.state / "serve.html"
        assert noted.read_text().strip() == door.as_uri()
        assert served.url in door.read_text()
        assert stat.S_IMODE(door.stat().st_mode) == 0o600
        served.come_in()
        assert not door.exists()
