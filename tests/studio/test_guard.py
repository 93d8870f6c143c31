"""Who may ask the studio: the token, the sites, the writes, and what a page may do."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files

import pytest

from studio.in_process import PORT, TOKEN, Visit, copied, visiting

COOKIE = f"cuecard-studio-{PORT}"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with visiting(copied(tmp_path_factory.mktemp("guard")), let_in=False) as visit:
        yield visit


@pytest.fixture
def stranger(opened: Visit) -> Visit:
    opened.client.cookies.clear()
    return opened


@pytest.fixture
def visit(stranger: Visit) -> Visit:
    stranger.client.get("/", params={"token": TOKEN})
    return stranger


def test_the_token_leads_to_the_same_address_without_it(stranger: Visit) -> None:
    answer = stranger.client.get(f"/prompt?agent=cms&token={TOKEN}")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/prompt?agent=cms"
    assert answer.headers["referrer-policy"] == "no-referrer"
    told = answer.headers["set-cookie"]
    assert "HttpOnly" in told
    assert "SameSite=Strict" in told
    assert stranger.client.get("/prompt?agent=cms").status_code == 200


@pytest.mark.parametrize("address", ["/", "/prompt", "/timeline", "/inputs", "/events", "/search?query=x", "/nothing"])
@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x"])
def test_nobody_sees_anything_without_the_token(stranger: Visit, address: str, token: str) -> None:
    answer = stranger.client.get(address, params={"token": token} if token else None)

    assert answer.status_code == 401
    assert "cms" not in answer.text
    assert "set-cookie" not in answer.headers


def test_two_tokens_are_none(stranger: Visit) -> None:
    assert stranger.client.get(f"/?token={TOKEN}&token=x").status_code == 401


def test_the_token_is_on_no_page(visit: Visit) -> None:
    for address in ("/", "/prompt", "/timeline", "/inputs", "/nothing"):
        answer = visit.client.get(address)
        assert TOKEN not in answer.text + str(answer.headers)


def test_a_ticket_opens_one_browser(stranger: Visit) -> None:
    ticket = stranger.keys.ticket()

    assert stranger.client.get("/", params={"token": ticket}).status_code == 303
    stranger.client.cookies.clear()
    assert stranger.client.get("/", params={"token": ticket}).status_code == 401


def test_whoever_is_in_already_is_led_on_without_the_token(visit: Visit) -> None:
    answer = visit.client.get(f"/prompt?token={TOKEN}")

    assert (answer.status_code, answer.headers["location"]) == (303, "/prompt")


@pytest.mark.parametrize("place", ["//evil.example/x", "/\\evil.example", "/%0d%0aset-cookie:a=b"])
def test_no_address_leads_away(stranger: Visit, place: str) -> None:
    answer = stranger.client.get(f"http://127.0.0.1:{PORT}{place}?token={TOKEN}")

    if answer.status_code == 303:
        told = answer.headers["location"]
        assert told.startswith("/")
        assert not told.startswith(("//", "/\\"))


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8766", "127.0.0.1.evil.example", ""])
def test_only_names_of_this_machine_are_answered(visit: Visit, host: str) -> None:
    assert visit.client.get("/prompt", headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "header",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_pages_of_other_sites_are_refused(visit: Visit, method: str, header: dict[str, str]) -> None:
    header = {**header, "x-cuecard": visit.keys.write}

    assert visit.client.request(method, "/inputs", headers=header).status_code == 403


@pytest.mark.parametrize("told", [None, "", "wrong", TOKEN])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_a_write_needs_what_only_our_pages_know(visit: Visit, method: str, told: str | None) -> None:
    header = {} if told is None else {"x-cuecard": told}

    answer = visit.client.request(method, "/inputs", headers=header)

    assert answer.status_code == 403
    assert "was not sent by a page of the studio" in answer.text


def test_a_form_has_a_limit(visit: Visit) -> None:
    answer = visit.client.post("/inputs", content=b"x" * (1024 * 1024 + 1), headers={"x-cuecard": visit.keys.write})

    assert answer.status_code == 413


@pytest.mark.parametrize("address", ["/", "/prompt", "/timeline", "/inputs", "/nothing", "/prompt?nothing=1"])
def test_a_page_runs_nothing_of_its_own(visit: Visit, address: str) -> None:
    answer = visit.client.get(address)
    policy = answer.headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    page = visit.page(address, answer.status_code)
    assert page.xpath("//script[not(@src)] | //style | //*[@style] | //@*[starts-with(name(), 'on')]") == []
    assert page.xpath("//@hx-on | //@*[starts-with(name(), 'hx-on')]") == []
    away = page.xpath("//@src[contains(., '//')] | //link/@href[contains(., '//')] | //form/@action[contains(., '//')]")
    assert away == []


@pytest.mark.parametrize(
    "name", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "studio.css/../../app.py", "x", "htmx.LICENSE"]
)
def test_only_what_the_studio_ships_is_static(stranger: Visit, name: str) -> None:
    answer = stranger.client.get(f"/static/{name}")

    assert answer.status_code in {401, 404}
    assert "import" not in answer.text


def test_htmx_is_the_published_one() -> None:
    """npm's htmx.org 2.0.11, `dist/htmx.min.js`, with its licence beside it."""
    folder = files("cuecard.studio") / "static"
    published = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
    assert sha256((folder / "htmx.min.js").read_bytes()).hexdigest() == published
    assert "Zero-Clause BSD" in (folder / "htmx.LICENSE").read_text(encoding="utf-8")
