"""Keys of all forms and tokens of common services are found with their line; what only looks alike is not."""

from __future__ import annotations

import random
import string
import time

import pytest

from recall.gitops.secrets import has_secret_name, secrets_in

_RANDOM = random.Random(8)


def _some(count: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(_RANDOM.choice(letters) for _ in range(count))


UPPER = string.ascii_uppercase + string.digits
#: Put together here, so that no line of this file looks like one itself.
GENUINE = {
    "an AWS access key": ["AK" + "IA" + _some(16, UPPER), "AS" + "IA" + _some(16, UPPER)],
    "a GitHub token": ["gh" + "p_" + _some(36), "gh" + "s_" + _some(40), "github_" + "pat_" + _some(60)],
    "a GitLab token": ["gl" + "pat-" + _some(20)],
    "a Slack token": ["xo" + "xb-" + _some(12, string.digits) + "-" + _some(24)],
    "a Slack webhook": ["https://hooks.slack" + ".com/services/T" + _some(9) + "/B" + _some(9) + "/" + _some(24)],
    "a Stripe key": ["sk_" + "live_" + _some(24), "rk_" + "live_" + _some(24)],
    "a Google API key": ["AI" + "za" + _some(35)],
    "an OpenAI key": ["sk-" + "proj-" + _some(48), "sk-" + _some(20) + "T3Blbk" + "FJ" + _some(20)],
    "an Anthropic key": ["sk-" + "ant-api03-" + _some(80)],
    "an npm token": ["np" + "m_" + _some(36)],
    "a PyPI token": ["py" + "pi-AgE" + _some(60)],
    "a Hugging Face token": ["h" + "f_" + _some(34)],
    "a SendGrid key": ["S" + "G." + _some(22) + "." + _some(43)],
    "a DigitalOcean token": ["do" + "p_v1_" + _some(64, "0123456789abcdef")],
    "a Telegram bot token": [_some(9, "123456789") + ":A" + "A" + _some(33)],
    "an Azure storage key": ["Account" + "Key=" + _some(86) + "=="],
    "a private key": [
        *(f"-----BEGIN {name}PRIVATE KEY-----" for name in ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ")),
        "-----BEGIN PGP PRIVATE KEY BLOCK-----",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
        "PuTTY-User-Key-File-3: ssh-ed25519",
        "AGE-SECRET-" + "KEY-1" + _some(58, UPPER),
    ],
}
CASES = [(kind, text) for kind, texts in GENUINE.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), CASES, ids=[kind for kind, _ in CASES])
@pytest.mark.parametrize("around", ["{}", 'KEY="{}"', "x: {}\r", "url(https://a:{}@b/)"])
def test_each_is_found_with_its_line(kind: str, text: str, around: str) -> None:
    (found,) = secrets_in("src/a.py", f"first\n\xff\n{around.format(text)}\nlast\n".encode("latin-1")).values()
    assert (found.kind, found.line) == (kind, 3)
    assert text not in repr(found)


def test_two_keys_are_two_and_one_twice_is_one() -> None:
    one, other = (f"-----BEGIN RSA PRIVATE KEY-----\n{_some(60)}\n-----END" for _ in range(2))
    assert len(secrets_in("a", f"{one}\n{other}\n".encode())) == 2
    assert secrets_in("a", f"{one}\n".encode()).keys() == secrets_in("b", f"\n\n{one}\n{one}\n".encode()).keys()


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI me@here",
        "AKIA" + "IOSFODNN7EXAMPLE", "gh" + "p_" + "x" * 36, "gh" + "p_" + "a" * 36,
        "sk-" + "ant-api03-your-key-goes-here", "sk-learn and task-proj-something-long-enough-to-match-it",
        "MAKIA" + _some(16, UPPER), "sk_test_" + _some(24), "sha256:" + _some(64, "0123456789abcdef"),
    ],
)  # fmt: skip
def test_what_is_public_a_sample_or_a_word_is_none(text: str) -> None:
    assert secrets_in("a.md", f"{text}\n".encode()) == {}


def test_a_token_in_a_file_that_is_called_an_example_is_one_and_a_key_is_not() -> None:
    assert secrets_in(".env.example", b"-----BEGIN PRIVATE KEY-----\nabc\n") == {}
    assert len(secrets_in(".env.example", f"KEY={GENUINE['a GitHub token'][0]}\n".encode())) == 1


@pytest.mark.parametrize("name", [".env", "web/.env.local", ".ENV", "a/id_ed25519", "x.p12", ".netrc", ".pypirc"])
def test_names_of_secrets(name: str) -> None:
    assert has_secret_name(name)


@pytest.mark.parametrize("name", [".env.example", "a/.env.sample", "environment", "id_rsa.pub", "my.env", ".envrc"])
def test_names_that_are_none(name: str) -> None:
    assert not has_secret_name(name)


@pytest.mark.parametrize(
    "unit", [b"-----BEGIN ", b"A1 PRIVATE KEY", b"ghp_", b"sk-", b"T3BlbkFJsk-", b":AA1", b"xox"]
)
def test_hostile_files_take_no_time(unit: bytes) -> None:
    content = unit * (1_000_000 // len(unit))
    started = time.process_time()
    secrets_in("a", content)
    assert time.process_time() - started < 2.0
