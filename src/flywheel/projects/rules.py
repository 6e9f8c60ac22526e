"""Facts in, identity out: which project a repository or folder is. Pure.

A repository is known by its **first commit** (along first parents of its main branch) and its **remote**
(host/owner/name). Two places are one project when neither of the two contradicts the other and at least one agrees:

- worktrees, sub-folders, moved checkouts and clones agree in both;
- a clone without a remote, or made before the remote was, agrees in the first commit;
- a shallow clone, and one that has no commit yet, agree in the remote;
- repositories with **another remote are another project, even when they share the first commit**: forks, and what was
  made from a template by cloning it. Mixing two repositories up puts one's decisions before the other and cannot be
  undone; splitting one is put right by ``flywheel project merge``, and `explain` names the relatives;
- a repository with the same remote and another first commit (deleted and made anew) is another project;
- where nothing decides between several candidates, none is taken.

A repository without commits and remotes, and a folder outside of repositories, is known by its real path, and by it
alone: the home folder, ``/`` or ``/tmp`` never swallow what lies below. Its project lives on when it becomes a
repository, or gets its first remote: the key is then made fuller, never changed otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from flywheel.model import ProjectId

_ROOT: Final = "root:"
_REMOTE: Final = "remote:"
_PATH: Final = "path:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a project is known by. Either ``root`` or ``remote`` or both, or else ``path``."""

    root: str = ""
    remote: str = ""
    path: str = ""

    @property
    def key(self) -> str:
        """As the project's row holds it: ``root:<commit>``, ``root:<commit> remote:<address>``, ``path:<path>``."""
        parts = [f"{_ROOT}{self.root}"] * bool(self.root) + [f"{_REMOTE}{self.remote}"] * bool(self.remote)
        return " ".join(parts) or f"{_PATH}{self.path}"

    @property
    def is_repository(self) -> bool:
        return bool(self.root or self.remote)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A project that exists already."""

    id: ProjectId
    identity: Identity


class Means(StrEnum):
    """How an identity met a project."""

    SAME = "the same identity"
    COMMIT = "the same first commit, and no other remote speaks against it"
    ADDRESS = "the same remote, and no other first commit speaks against it"
    FOLDER = "the same folder, known before it was a repository"
    NEW = "nothing known is the same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What `choose` came to: a known project, or none."""

    id: ProjectId | None
    means: Means
    key: str  # the key that the project's row should have from now on
    relatives: Sequence[ProjectId] = ()  # others with the same first commit: forks, copies of a template


def parse(key: str) -> Identity:
    """The identity that a key holds. Keys of no known form are paths."""
    if key.startswith(_ROOT):
        root, _, rest = key.removeprefix(_ROOT).partition(" ")
        return Identity(root=root, remote=rest.removeprefix(_REMOTE))
    if key.startswith(_REMOTE):
        return Identity(remote=key.removeprefix(_REMOTE))
    return Identity(path=key.removeprefix(_PATH))


def choose(wanted: Identity, folder: str, known: Sequence[Known]) -> Choice:
    """The project of an identity. ``folder`` is the root of the main work tree, or the folder itself."""
    relatives = [one.id for one in known if wanted.root and one.identity.root == wanted.root]
    for means, found in (
        (Means.SAME, _same(wanted, known)),
        (Means.COMMIT, _by_commit(wanted, known)),
        (Means.ADDRESS, _by_address(wanted, known)),
        (Means.FOLDER, _by_folder(wanted, folder, known)),
    ):
        if found is not None:
            key = _fuller(wanted, found.identity).key
            taken = any(one.identity.key == key and one.id != found.id for one in known)
            others = [id for id in relatives if id != found.id]
            return Choice(id=found.id, means=means, key=found.identity.key if taken else key, relatives=others)
    return Choice(id=None, means=Means.NEW, key=wanted.key, relatives=relatives)


def name_of(identity: Identity, folder: str) -> str:
    """What people call it: the remote's last part, else the folder's name; ``/`` for the root of all."""
    if identity.remote:
        return identity.remote.rpartition("/")[2]
    return folder.rstrip("/").rpartition("/")[2].removesuffix(".git") or folder or "/"


def is_above(folder: str, path: str) -> bool:
    """Whether ``path`` is ``folder`` or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _same(wanted: Identity, known: Sequence[Known]) -> Known | None:
    return next((one for one in known if one.identity == wanted), None)


def _by_commit(wanted: Identity, known: Sequence[Known]) -> Known | None:
    """The only project with this first commit, if one of the two has no remote."""
    kin = [one for one in known if wanted.root and one.identity.root == wanted.root]
    if len(kin) != 1 or (wanted.remote and kin[0].identity.remote):
        return None
    return kin[0]


def _by_address(wanted: Identity, known: Sequence[Known]) -> Known | None:
    """The only project with this remote, if the first commit of one of the two is not known."""
    kin = [one for one in known if wanted.remote and one.identity.remote == wanted.remote]
    if wanted.root:
        kin = [one for one in kin if not one.identity.root]
    return kin[0] if len(kin) == 1 else None


def _by_folder(wanted: Identity, folder: str, known: Sequence[Known]) -> Known | None:
    """The project of the same folder from before it was a repository."""
    if not wanted.is_repository:
        return None
    return next((one for one in known if one.identity == Identity(path=folder)), None)


def _fuller(wanted: Identity, found: Identity) -> Identity:
    """What is known of both together."""
    if not wanted.is_repository:
        return found
    return replace(wanted, root=found.root or wanted.root, remote=found.remote or wanted.remote)
