"""Which files of a checkout are looked at: from git, by walking, one by one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from flywheel.codemap import listing
from flywheel.codemap.listing import list_checkout, look_at
from flywheel.codemap.skipping import Ignoring, why_not


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make files below ``root``."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def git(root: Path, *arguments: str) -> None:
    """Run git without anybody's configuration."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, env=env)


def paths(root: Path) -> dict[str, str]:
    """Path → state of everything that is listed."""
    return {path: item.state for path, item in list_checkout(str(root)).files.items()}


FILES = {
    "a.py": "x = 1\n",
    "pkg/b.go": "package pkg\n",
    "README.md": "text",
    "NOTES.txt": "text",
    "ignored/c.py": "",
    "local.py": "",
    ".gitignore": "ignored/\n/local.py\n",
    "pkg/.gitignore": "*.ts\n!keep.ts\n",
    "pkg/d.ts": "",
    "pkg/keep.ts": "",
    "node_modules/dep/index.js": "",
    "node_modules/dep2/index.js": "",
    "pkg/vendor/e.go": "",
    "api_pb2.py": "",
    "app.min.js": "",
    ".flywheelignore": "secret*.py\n!third_party/\n",
    "secret_sauce.py": "",
    "third_party/ours.py": "",
    "go.mod": "module example.org/x\n",
}
LISTED = {
    "a.py": "",
    "pkg/b.go": "",
    "pkg/keep.ts": "",
    "README.md": "",
    "node_modules/": "vendored",
    "pkg/vendor/": "vendored",
    "api_pb2.py": "generated",
    "app.min.js": "minified",
    "third_party/ours.py": "",
}


def test_walking(tmp_path: Path) -> None:
    """Without git the same ignore files hold; skipped folders count once, and tell their reason."""
    write(tmp_path, FILES)
    assert paths(tmp_path) == LISTED
    assert list_checkout(str(tmp_path)).manifests == {"go.mod": "module example.org/x\n"}


def test_git(tmp_path: Path) -> None:
    """With git: what it tracks though ignored, what is not tracked yet, nothing that it ignores."""
    write(tmp_path, FILES)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "add", "-f", "local.py")
    assert paths(tmp_path) == {**LISTED, "local.py": ""}


def test_a_file_that_git_lists_but_is_gone(tmp_path: Path) -> None:
    """Deleted in the work tree and still in git's index: not there."""
    write(tmp_path, {"a.py": "", "b.py": ""})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    (tmp_path / "a.py").unlink()
    assert paths(tmp_path) == {"b.py": ""}


def test_a_folder_that_its_repository_ignores(tmp_path: Path) -> None:
    """A plain folder inside of somebody's dotfiles repository is walked, not taken for empty."""
    git(tmp_path, "init", "-q")
    write(tmp_path, {".gitignore": "*\n", "work/a.py": ""})
    assert paths(tmp_path / "work") == {"a.py": ""}


def test_the_repository_cannot_make_us_run_anything(tmp_path: Path) -> None:
    """A hostile ``core.fsmonitor`` in the repository's configuration is not run."""
    write(tmp_path, {"a.py": ""})
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.fsmonitor", f"touch {tmp_path}/owned; false")
    assert paths(tmp_path) == {"a.py": ""}
    assert not (tmp_path / "owned").exists()


def test_nested_repositories_and_hidden_folders_are_not_walked(tmp_path: Path) -> None:
    """Repositories inside are projects of their own."""
    write(tmp_path, {"a.py": "", "inner/.git/HEAD": "", "inner/b.py": "", ".cache/c.py": ""})
    assert paths(tmp_path) == {"a.py": ""}


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    """Neither loops nor links to folders and files, inside or outside, with and without git."""
    root = write(tmp_path / "root", {"pkg/a.py": ""})
    write(tmp_path, {"outside.py": "secret = 1\n"})
    (root / "pkg" / "loop").symlink_to(root)
    (root / "twin").symlink_to(root / "pkg")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    (root / "dangling.py").symlink_to("nowhere.py")
    assert paths(root) == {"pkg/a.py": ""}
    git(root, "init", "-q")
    assert paths(root) == {"pkg/a.py": ""}


def test_special_files_and_odd_names(tmp_path: Path) -> None:
    """Pipes are no files; names that are not UTF-8 are spelled out and counted; line ends in names are names."""
    os.mkfifo(tmp_path / "pipe.py")
    write(tmp_path, {"with\nline.py": "", "名前.py": ""})
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py"))).write_text("")
    found = {"with\nline.py": "", "名前.py": "", "caf\\xe9.py": "unreadable"}
    assert paths(tmp_path) == found
    git(tmp_path, "init", "-q")
    assert paths(tmp_path) == found


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many files or entries end the listing, and it says so."""
    write(tmp_path, {f"d{number}/f.py": "" for number in range(5)})
    assert list_checkout(str(tmp_path)).whole
    monkeypatch.setattr(listing, "MAX_FILES", 3)
    found = list_checkout(str(tmp_path))
    assert (len(found.files), found.whole) == (3, False)
    monkeypatch.setattr(listing, "_MAX_ENTRIES", 2)
    assert not list_checkout(str(tmp_path)).whole


def test_home_and_root_are_no_checkouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent started in the home folder does not get all of it indexed, unless it is a repository."""
    write(tmp_path, {"a.py": ""})
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths(tmp_path) == {}
    git(tmp_path, "init", "-q")
    assert paths(tmp_path) == {"a.py": ""}


def test_a_missing_or_forbidden_folder_is_empty(tmp_path: Path) -> None:
    """Nothing is raised for what cannot be read."""
    assert paths(tmp_path / "nowhere") == {}


def test_single_files(tmp_path: Path) -> None:
    """Looking at single files: ignored, vendored and foreign ones are not there; a known one always is."""
    write(tmp_path, FILES)
    asked = [
        "a.py", "./pkg/../a.py", "gone.py", "local.py", "pkg/vendor/e.go", "README.md", "NOTES.txt", "../up.py",
        "/etc/x.py",
        ".git/hooks/x.py", "ignored/c.py", "third_party/ours.py", "pkg/keep.ts", "pkg/d.ts",
    ]  # fmt: skip
    found = look_at(str(tmp_path), asked, known={"local.py"})
    assert {path: item is not None for path, item in found.items()} == {
        "a.py": True, "gone.py": False, "local.py": True, "pkg/vendor/e.go": False, "ignored/c.py": False,
        "third_party/ours.py": True, "pkg/keep.ts": True, "pkg/d.ts": False, "README.md": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("a/b.pb.go", "generated"), ("a_pb2_grpc.py", "generated"), ("x.generated.ts", "generated"),
        ("zz_generated.deepcopy.go", "generated"), ("jquery-min.js", "minified"), ("x.bundle.js", "minified"),
        ("web/package-lock.json", "generated"), ("pnpm-lock.yaml", "generated"), (".terraform.lock.hcl", "generated"),
        ("Form.Designer.cs", "generated"), ("lock.json", ""), ("package.json", ""),
        ("generated.py", ""), ("a/minimal.js", ""), ("pb2.py", ""),
    ],
)  # fmt: skip
def test_reasons_by_name(path: str, state: str) -> None:
    """Names of generated and minified files, and names that only look like them."""
    assert why_not(path) == state


def test_ignore_files_nest() -> None:
    """The deepest ignore file that says something decides; what is below an ignored folder is ignored."""
    ignoring = Ignoring()
    ignoring.add("", "*.py\n/top/\n")
    ignoring.add("sub", "!kept.py\n")
    assert ignoring.ignored("a.py")
    assert ignoring.ignored("sub/a.py")
    assert not ignoring.ignored("sub/kept.py")
    assert ignoring.ignored("top/x/y.go")
    assert not ignoring.ignored("sub/top/y.go")


def test_a_file_with_a_token_in_its_name_is_not_listed(tmp_path: Path) -> None:
    """A name is kept as it is, so one that is a secret is not kept at all."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    write(tmp_path, {f"data_{token}.py": "", f"{token}/b.py": "", "c.py": ""})
    assert set(paths(tmp_path)) == {"c.py"} and look_at(str(tmp_path), [f"{token}/b.py"], ())[f"{token}/b.py"] is None
