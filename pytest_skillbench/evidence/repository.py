"""The address of a source repository, in the one form under which receipts are keyed.

Core. `envelope` calls it. The form is the one that a URL parser of the web gives (lower-case host, no default port,
non-ASCII percent-encoded, no slash at the end), so that the same repository has the same key wherever it is computed.
"""

from __future__ import annotations

import re

LIMIT = 2048

_ADDRESS = re.compile(r"[Hh][Tt][Tt][Pp][Ss]://(?P<host>[A-Za-z0-9.-]+)(?::443)?(?P<path>/.*)?", re.DOTALL)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_TOP = re.compile(r"[a-z][a-z0-9-]*")
# What a URL path keeps as it is; everything else that is ASCII is refused, so that nothing has to be guessed.
_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")

#: Names that are never public: RFC 6761, 6762, 7686 and 8375, ICANN's ``internal``, and the usual private ones.
NOT_PUBLIC = frozenset(
    {
        "corp",
        "home",
        "home.arpa",
        "internal",
        "intranet",
        "invalid",
        "lan",
        "local",
        "localdomain",
        "localhost",
        "onion",
        "private",
        "test",
    }
)


def public_repository(address: str) -> str | None:
    """Return the normal form of a public https address; None for anything that is not one.

    Not public: another scheme or port, credentials, a query, a fragment, an IP address however it is spelled, a name
    without a dot, a reserved or private top. An address is not looked up, and may lead nowhere.
    """
    if len(address) > LIMIT or (match := _ADDRESS.fullmatch(address)) is None:
        return None
    host = match["host"].lower().removesuffix(".")
    path = _normal_path(match["path"] or "/")
    if path is None or not _is_public(host):
        return None
    normal = f"https://{host}{path.removesuffix('/')}"
    return normal if len(normal) <= LIMIT else None


def _is_public(host: str) -> bool:
    labels = host.split(".")
    if len(host) > 253 or len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    # A last label that starts with a digit makes the whole an IPv4 address, in decimal, octal or hexadecimal.
    if not _TOP.fullmatch(labels[-1]):
        return False
    return not any(".".join(labels[at:]) in NOT_PUBLIC for at in range(len(labels)))


def _normal_path(path: str) -> str | None:
    """Percent-encode what is not ASCII; None where a parser would read something else than what is written."""
    try:
        encoded = "".join(c if c < "\x80" else "".join(f"%{byte:02X}" for byte in c.encode()) for c in path)
    except UnicodeEncodeError:  # an unpaired surrogate
        return None
    if not _PATH.fullmatch(encoded) or _ESCAPE.search(encoded) or "//" in encoded:
        return None
    dots = {".", ".."}
    if any(part.lower().replace("%2e", ".") in dots for part in encoded.split("/")):
        return None
    # White space and controls beyond ASCII: a parser would keep them, but they have no place in an address.
    return None if any(c >= "\x80" and not c.isprintable() for c in path) else encoded
