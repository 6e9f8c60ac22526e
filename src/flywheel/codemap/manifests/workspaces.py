"""Packages and the workspaces that they belong to: npm, pnpm, Cargo, Go, Python (uv). Pure."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from flywheel.codemap.manifests import Malformed, Told, Unit, Way, Workspace, folder_of, mapping, texts
from flywheel.codemap.manifests.yamls import documents

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_NPM_NEEDS: Final = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_CARGO_NEEDS: Final = ("dependencies", "build-dependencies", "dev-dependencies")


def parse_npm(path: str, text: str) -> Told:
    """A package, its programs, and the workspace that it may be the root of."""
    try:
        package = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Malformed(str(error)) from error
    if not isinstance(package, dict):
        raise Malformed("a package.json is an object")
    folder = folder_of(path)
    name = package.get("name")
    listed = package.get("workspaces")
    members = texts(mapping(listed).get("packages")) if isinstance(listed, dict) else texts(listed)
    programs = package.get("bin")
    if isinstance(programs, str) and isinstance(name, str):
        programs = {name.rpartition("/")[2]: programs}
    needs = [need for key in _NPM_NEEDS for need in texts(package.get(key))]
    return Told(
        units=[_member("npm", name, path, needs)] if isinstance(name, str) and name else [],
        workspaces=[_workspace("npm", folder, members)] if members else [],
        ways=[
            Way(name=program, target=target.removeprefix("./"), why=f"a program of {path}", path=path)
            for program, target in mapping(programs).items()
            if isinstance(target, str)
        ],
    )


def parse_pnpm(path: str, text: str) -> Told:
    """The workspace of a pnpm-workspace.yaml."""
    found = documents(text)
    members = texts(mapping(found[0]).get("packages")) if found else []
    return Told(workspaces=[_workspace("npm", folder_of(path), members)])


def _workspace(kind: str, folder: str, patterns: list[str]) -> Workspace:
    """Of patterns among which "!" excludes."""
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    return Workspace(kind=kind, folder=folder, members=wanted, excluded=[one[1:] for one in patterns if one[:1] == "!"])


def _member(kind: str, name: str, path: str, needs: list[str]) -> Unit:
    return Unit(kind=kind, name=name, path=path, folder=folder_of(path), needs=list(dict.fromkeys(needs)), member=True)


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Malformed(str(error)) from error


def parse_cargo(path: str, text: str) -> Told:
    """A crate, its programs, and the workspace that it may be the root of."""
    manifest = _toml(text)
    folder = folder_of(path)
    package, workspace = mapping(manifest.get("package")), mapping(manifest.get("workspace"))
    name = str(package.get("name", ""))
    needs = [
        str(mapping(value).get("package", need))
        for key in _CARGO_NEEDS
        for need, value in mapping(manifest.get(key)).items()
    ]
    programs = manifest.get("bin")
    tables = [mapping(one) for one in programs] if isinstance(programs, list) else []
    ways = [
        Way(name=str(one.get("name", name)), target=str(one.get("path", f"src/bin/{one.get('name')}.rs")),
            why=f"a program of {path}", path=path)
        for one in tables
    ]  # fmt: skip
    if name and not ways:
        ways = [Way(name=name, target="src/main.rs", why=f"the program of {path}", path=path)]
    members, excluded = texts(workspace.get("members")), texts(workspace.get("exclude"))
    return Told(
        units=[_member("cargo", name, path, needs)] if name else [],
        workspaces=[Workspace(kind="cargo", folder=folder, members=members, excluded=excluded)] if workspace else [],
        ways=ways,
    )


def parse_go_mod(path: str, text: str) -> Told:
    """A module and those that it requires."""
    lines = _go_lines(text)
    name = next((line.split()[1].strip('"') for line in lines if re.match(r"module\s+\S", line)), "")
    if not name:
        raise Malformed("a go.mod names its module")
    needs = [line.split()[1] for line in lines if re.match(r"require\s+\S+\s+v", line)]
    return Told(units=[_member("go", name, path, needs)])


def parse_go_work(path: str, text: str) -> Told:
    """The workspace of a go.work."""
    used = [line.split()[1].strip('"').removeprefix("./") for line in _go_lines(text) if re.match(r"use\s+\S", line)]
    return Told(workspaces=[Workspace(kind="go", folder=folder_of(path), members=used)])


def _go_lines(text: str) -> list[str]:
    """The directives, each with its word, also of those that stand in a block."""
    found: list[str] = []
    block = ""
    for raw in text.splitlines():
        line = raw.partition("//")[0].strip()
        if not line:
            continue
        opened = re.fullmatch(r"(\w+)\s*\(", line)
        if opened:
            block = opened[1]
        elif line == ")":
            block = ""
        else:
            found.append(f"{block} {line}" if block else line)
    return found


def parse_pyproject(path: str, text: str) -> Told:
    """A distribution, its scripts, and the uv workspace that it may be the root of."""
    manifest = _toml(text)
    project, tool = mapping(manifest.get("project")), mapping(manifest.get("tool"))
    poetry = mapping(tool.get("poetry"))
    name = str(project.get("name") or poetry.get("name") or "")
    workspace = mapping(mapping(tool.get("uv")).get("workspace"))
    optional = mapping(project.get("optional-dependencies")).values()
    groups = mapping(manifest.get("dependency-groups")).values()
    asked = [one for some in (project.get("dependencies"), *optional, *groups) for one in texts(some)]
    needs = [found[1] for one in asked if (found := _REQUIREMENT.match(one))] + texts(poetry.get("dependencies"))
    scripts = {
        **mapping(poetry.get("scripts")),
        **mapping(project.get("gui-scripts")),
        **mapping(project.get("scripts")),
    }
    return Told(
        units=[_member("python", _normal(name), path, [*map(_normal, needs)])] if name else [],
        workspaces=[
            Workspace(
                kind="python",
                folder=folder_of(path),
                members=texts(workspace.get("members")),
                excluded=texts(workspace.get("exclude")),
            )
        ]
        if workspace
        else [],
        ways=_scripts(scripts, path),
    )


def parse_setup_cfg(path: str, text: str) -> Told:
    """The scripts of a setup.cfg."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise Malformed(str(error).partition("\n")[0]) from error
    listed = parser.get("options.entry_points", "console_scripts", fallback="")
    pairs = (line.split("=", 1) for line in listed.splitlines() if "=" in line)
    return Told(ways=_scripts({name.strip(): target.strip() for name, target in pairs}, path))


def _scripts(scripts: Mapping[str, object], path: str) -> list[Way]:
    return [
        Way(name=name, target=target.partition("[")[0].strip(), why=f"a script of {path}", path=path)
        for name, target in scripts.items()
        if isinstance(target, str)
    ]


def _normal(name: str) -> str:
    """A distribution's name as it is compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
