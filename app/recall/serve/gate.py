"""Who may come in: only a browser of this machine that was given the address which `recall serve` printed.

Other pages in that browser are what is kept out. They can send requests to 127.0.0.1, open sockets to it, and point
a name of their own at it; what they cannot do is to read or guess a secret, or to lie about where they come from.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from hmac import compare_digest

_BYTES = 32
#: What a browser says of a request that the person made, or a page of ours.
_OWN_SITES = frozenset({"", "none", "same-origin"})


@dataclass(frozen=True, slots=True)
class Knock:
    """A request, as far as it matters here. A header that was not sent is ""; `site` is `Sec-Fetch-Site`."""

    host: str
    origin: str = ""
    site: str = ""
    secret: str = ""


def _secret() -> str:
    return secrets.token_urlsafe(_BYTES)


@dataclass(frozen=True, slots=True)
class Gate:
    """One life of the server. `key` stands in the printed address and is good for `pass_` only, which a cookie
    holds. `room` is the folder that everything lies in: a cookie is sent to every port of its host, but only below
    its path, so that another server on this machine never gets to see ours."""

    port: int
    room: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    key: str = field(default_factory=_secret)
    pass_: str = field(default_factory=_secret)

    @property
    def address(self) -> str:
        """Where a person comes in."""
        return f"http://127.0.0.1:{self.port}/{self.room}/enter?key={self.key}"

    def keeps_out_of_entrance(self, knock: Knock) -> str:
        """Say why this does not come in with the key, or "". A link to the entrance may stand anywhere."""
        return self._misled(knock) or self._unknown(knock, self.key)

    def keeps_out_of_page(self, knock: Knock) -> str:
        """Say why this does not get a page or a part of one, or ""."""
        wrong = self._misled(knock)
        if not wrong and (knock.origin not in ("", _origin(knock)) or knock.site not in _OWN_SITES):
            wrong = "another page asked for this"
        return wrong or self._unknown(knock, self.pass_)

    def keeps_out_of_socket(self, knock: Knock) -> str:
        """Say why this does not get a viewer, or "". A browser names the origin of every socket."""
        wrong = self._misled(knock)
        if not wrong and knock.origin != _origin(knock):
            wrong = "another page asked for this"
        return wrong or self._unknown(knock, self.pass_)

    def _misled(self, knock: Knock) -> str:
        """A name of somebody else's that leads here."""
        known = (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        return "" if knock.host.lower() in known else f"this is 127.0.0.1:{self.port} and has no other name"

    @staticmethod
    def _unknown(knock: Knock, secret: str) -> str:
        is_known = compare_digest(knock.secret.encode("utf-8", "surrogateescape"), secret.encode())
        return "" if is_known else "open the address that `recall serve` printed when it was started"


def _origin(knock: Knock) -> str:
    return f"http://{knock.host.lower()}"
