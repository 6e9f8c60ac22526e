"""One spelling for every way to write the address of a remote."""

from __future__ import annotations

import pytest

from flywheel.projects.remotes import is_local, local_path, normalise


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Owner/Name.git",
        "https://github.com/owner/name",
        "https://github.com/owner/name/",
        "https://www.github.com/owner/name.git/",
        "https://me:s3cret@github.com/owner/name.git",
        "https://oauth2:ghp_secret@github.com:443/owner/name.git",
        "git@github.com:owner/name.git",
        "github.com:owner/name",
        "ssh://git@github.com/owner/name.git",
        "ssh://git@github.com:22/owner/name",
        "ssh://git@ssh.github.com:443/owner/name.git",
        "git+ssh://git@github.com/owner/name.git",
        "git://github.com/owner//name.git",
        "HTTPS://GITHUB.COM/owner/name",
        "  https://github.com/owner/name.git\n",
    ],
)
def test_every_spelling_of_one_repository_is_equal(url: str) -> None:
    """Protocol, user, password, port, case and suffix say nothing about which repository it is."""
    assert normalise(url) == "github.com/owner/name"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://git.example.org/Team/Tool.git", "git.example.org/Team/Tool"),
        ("https://git.example.org:8443/a/b", "git.example.org:8443/a/b"),
        ("http://localhost:3000/a/b.git", "localhost:3000/a/b"),
        ("ssh://git@git.example.org:7999/team/tool.git", "git.example.org/team/tool"),
        ("https://git.example.org/scm/team/tool.git", "git.example.org/team/tool"),
        ("git@gitlab.com:group/sub/tool.git", "gitlab.com/group/sub/tool"),
        ("git@ssh.dev.azure.com:v3/org/project/repo", "dev.azure.com/org/project/repo"),
        ("https://org@dev.azure.com/org/project/_git/repo", "dev.azure.com/org/project/repo"),
        ("https://git.example.org/a%20b/c.git", "git.example.org/a b/c"),
        ("git@[::1]:a/b.git", "::1/a/b"),
        ("work-alias:a/b.git", "work-alias/a/b"),
        ("/srv/git/tool.git", ""),
        ("../tool", ""),
        ("file:///srv/git/tool.git", ""),
        ("C:\\repos\\tool", ""),
        ("", ""),
        ("nonsense", ""),
        ("https://", ""),
        ("https://host:notaport/x", ""),
    ],
)
def test_other_addresses(url: str, address: str) -> None:
    """Hosts that know case keep it, ports that mean something stay, folders and nonsense are no address."""
    assert normalise(url) == address


def test_local_remotes_are_told_apart() -> None:
    """A folder of this machine is followed, not named."""
    assert is_local("/srv/x")
    assert is_local("file:///srv/x%20y")
    assert not is_local("git@host:x")
    assert local_path("file:///srv/x%20y") == "/srv/x y"
    assert local_path("../x") == "../x"
