"""Who may come in: only a browser of this machine that was given the address which `recall serve` printed.

Other pages in that browser are what is kept out. They can send requests to 127.0.0.1, open sockets to it, and point
a name of their own at it; what they cannot do is to read or guess a secret, or to lie about where they come from.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hmac import compare_digest

_BYTES = 32
#: What a browser says of a request that the person made, or a page of ours.
_OWN_SITES = frozenset({"", "none", "same-origin"})
_UNKNOWN = "open the address that `recall serve` printed last; each is good for one browser"


@dataclass(frozen=True, slots=True)
class Knock:
    """A request, as far as it matters here. What was not sent is "". `site` and `purpose` are the headers
    `Sec-Fetch-Site` and `Sec-Purpose`, `key` is from the address and `pass_` from the cookie."""

    host: str
    origin: str = ""
    site: str = ""
    purpose: str = ""
    key: str = ""
    pass_: str = ""


class Gate:
    """One life of the server. A `key` stands in an address and is changed for `pass_`, which a cookie holds, once:
    histories and screens remember addresses. `room` is the folder that everything lies in: a cookie is sent to every
    port of its host, but only below its path, so that another server on this machine never gets to see ours."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.room = secrets.token_urlsafe(9)
        self.key = secrets.token_urlsafe(_BYTES)
        self.pass_ = secrets.token_urlsafe(_BYTES)

    @property
    def address(self) -> str:
        """Where a person comes in next."""
        return f"http://127.0.0.1:{self.port}/{self.room}/enter?key={self.key}"

    def renew(self) -> None:
        """The key was used."""
        self.key = secrets.token_urlsafe(_BYTES)

    def knows(self, knock: Knock) -> bool:
        """Tell whether this is of a browser that has come in before."""
        return _same(knock.pass_, self.pass_)

    def keeps_out_of_entrance(self, knock: Knock) -> str:
        """Say why this does not come in, or "". A link to the entrance may stand anywhere; who is inside already may
        come again with a key that was used."""
        if knock.purpose:
            return "this address is not for looking in advance"
        return self._misled(knock) or ("" if _same(knock.key, self.key) or self.knows(knock) else _UNKNOWN)

    def keeps_out_of_page(self, knock: Knock) -> str:
        """Say why this does not get a page or a part of one, or ""."""
        wrong = self._misled(knock)
        if not wrong and (knock.origin not in ("", _origin(knock)) or knock.site not in _OWN_SITES):
            wrong = "another page asked for this"
        return wrong or self._unknown(knock)

    def keeps_out_of_socket(self, knock: Knock) -> str:
        """Say why this does not get a viewer, or "". A browser names the origin of every socket."""
        wrong = self._misled(knock)
        if not wrong and knock.origin != _origin(knock):
            wrong = "another page asked for this"
        return wrong or self._unknown(knock)

    def _misled(self, knock: Knock) -> str:
        """A name of somebody else's that leads here."""
        known = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        return "" if knock.host.lower() in known else f"this is 127.0.0.1:{self.port} and has no other name"

    def _unknown(self, knock: Knock) -> str:
        return "" if self.knows(knock) else _UNKNOWN


def _same(said: str, secret: str) -> bool:
    """Compare in a time that tells nothing."""
    return compare_digest(said.encode("utf-8", "surrogateescape"), secret.encode())


def _origin(knock: Knock) -> str:
    return f"http://{knock.host.lower()}"
