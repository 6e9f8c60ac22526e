"""The address of a remote in one spelling: host/owner/name, whatever the protocol and without credentials. Pure."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

_SCP: Final = re.compile(r"(?:[^@/\s]{1,128}@)?(?P<host>\[[0-9a-fA-F:]+\]|[\w.-]{2,255}):(?!//)(?P<path>[^\s]+)")
_LOCAL: Final = re.compile(r"(?:file:/|/|\.{1,2}(?:/|$)|~|[A-Za-z]:[\\/]|\\\\)")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "git": 9418}
_SAME_HOST: Final = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "ssh.dev.azure.com": "dev.azure.com",
}
_ANY_CASE: Final = frozenset(
    ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com", "gitee.com", "git.sr.ht")
)
"""Hosts that hold ``Owner/Name`` and ``owner/name`` for the same repository."""


def normalise(url: str) -> str:
    """``host/owner/name`` of a remote's URL; "" when it names a folder of this machine or nothing that is known.

    ssh, https, git and scp-like spellings of one repository are equal: no user, no password, no ``.git``, the host in
    lower case, no default port (no port at all for ssh, where it says nothing about the repository). On hosts that
    ignore it the case of the path goes too.
    """
    url = url.strip()
    if not url or _LOCAL.match(url):
        return ""
    if "://" in url:
        host, path = _of_url(url)
    elif (scp := _SCP.fullmatch(url)) is not None:
        host, path = scp["host"].strip("[]").lower(), scp["path"]
    else:
        return ""
    host = _SAME_HOST.get(host, host)
    path = _tidy(path, host.partition(":")[0])
    return f"{host}/{path}" if host and path else ""


def is_local(url: str) -> bool:
    """Whether a remote is a folder of this machine."""
    return bool(_LOCAL.match(url.strip()))


def local_path(url: str) -> str:
    """The folder that a local remote names."""
    url = url.strip()
    return unquote(urlsplit(url).path) if url.startswith("file:") else url


def _of_url(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return "", ""
    scheme = parts.scheme.lower().removeprefix("git+").removesuffix("+git")
    if port is not None and scheme != "ssh" and port != _DEFAULT_PORTS.get(scheme):
        host = f"{host}:{port}"
    return host, unquote(parts.path)


def _tidy(path: str, host: str) -> str:
    path = re.sub(r"/{2,}", "/", path.strip("/"))
    path = re.sub(r"(?:\.git)?/*$", "", path)
    if host == "dev.azure.com":
        path = re.sub(r"^v3/", "", path).replace("/_git/", "/")
    path = re.sub(r"^scm/(?=[^/]+/[^/]+$)", "", path)  # Bitbucket Server, over https
    return path.lower() if host in _ANY_CASE else path
