"""Compose files, Dockerfiles and Kubernetes manifests. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from flywheel.codemap.manifests import (
    Alias,
    Malformed,
    Told,
    Unit,
    Way,
    folder_of,
    hosts_in,
    inside,
    mapping,
    text_of,
    texts,
)
from flywheel.codemap.manifests.yamls import documents

_WORKLOADS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "Pod"})
_LOOKS_LIKE: Final = re.compile(r"^apiVersion:.*?^kind:|^kind:.*?^apiVersion:", re.MULTILINE | re.DOTALL)


def parse_compose(path: str, text: str) -> Told:
    """The services of a compose file; they need what they depend on, link to, or reach by their environment."""
    units = []
    for document in documents(text):
        if document is not None and not isinstance(document, dict):
            raise Malformed("a compose file is a mapping")
        for name, value in mapping(mapping(document).get("services")).items():
            service = mapping(value)
            units.append(_compose_service(path, name, service))
    return Told(units=units)


def _compose_service(path: str, name: str, service: Mapping[str, object]) -> Unit:
    build = service.get("build")
    context = build if isinstance(build, str) else mapping(build).get("context")
    mode = str(service.get("network_mode", ""))
    needs = [
        *texts(service.get("depends_on")),
        *(link.partition(":")[0] for link in texts(service.get("links"))),
        *(source.partition(":")[0] for source in texts(service.get("volumes_from"))),
        *([mode.removeprefix("service:")] if mode.startswith("service:") else []),
        *hosts_in(_environment(service.get("environment"))),
    ]
    return Unit(
        kind="compose",
        name=name,
        path=path,
        folder=inside(folder_of(path), context) if isinstance(context, str) else "",
        command=text_of(service.get("command")) or text_of(service.get("entrypoint")) or text_of(service.get("image")),
        needs=list(dict.fromkeys(need for need in needs if need != name)),
    )


def _environment(value: object) -> dict[str, str]:
    if isinstance(value, dict):
        return {str(key): str(item) for key, item in value.items() if item is not None}
    return dict(item.split("=", 1) for item in texts(value) if "=" in item)


def parse_dockerfile(path: str, text: str) -> Told:
    """What the container of a Dockerfile starts: its last ENTRYPOINT or CMD, where that names a file or module."""
    started = ""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word.upper() in ("CMD", "ENTRYPOINT") and (target := target_in(_words(rest.strip()))):
            started = target
    if not started:
        return Told()
    folder = folder_of(path)
    return Told(ways=[Way(name=f"container {folder}".strip(), target=started, why=f"what {path} starts", path=path)])


def _words(command: str) -> list[str]:
    try:
        return [str(word) for word in orjson.loads(command)] if command.startswith("[") else shlex.split(command)
    except ValueError:
        return command.split()


def target_in(words: list[str]) -> str:
    """The file, or module (``-m module``, ``module:app``), that a command starts; "" when none shows."""
    for at, word in enumerate(words):
        if word == "-m" and at + 1 < len(words) and re.fullmatch(r"[\w.]+", words[at + 1]):
            tail = target_in(words[at + 2 :])
            return tail if ":" in tail else f"-m {words[at + 1]}"
        if re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", word):
            return word
        if re.fullmatch(r"[\w./-]+\.(?:py|js|mjs|cjs|ts|rb|php|sh)", word) and ".." not in word:
            return word.removeprefix("./")
    return ""


def parse_kubernetes(path: str, text: str) -> Told:
    """Workloads, and the services that stand before them; nothing of files that are no manifests."""
    if not tells_services(text):
        return Told()
    units: list[Unit] = []
    aliases: list[Alias] = []
    for item in _items(documents(text)):
        name = str(mapping(item.get("metadata")).get("name", ""))
        spec = mapping(item.get("spec"))
        if not name:
            continue
        if item.get("kind") in _WORKLOADS:
            units.append(_workload(path, name, item))
        elif item.get("kind") == "Service" and (selector := _plain(spec.get("selector"))):
            aliases.append(Alias(name=name, kind="kubernetes", selector=selector))
        elif item.get("kind") == "Ingress":
            needs = list(dict.fromkeys(_backends(spec)))
            units.append(Unit(kind="kubernetes", name=name, path=path, needs=needs))
    return Told(units=units, aliases=aliases)


def tells_services(text: str) -> bool:
    """Whether a text may be a Kubernetes manifest."""
    return _LOOKS_LIKE.search(text) is not None


def _items(found: list[Any]) -> Iterator[Mapping[str, object]]:
    for document in found:
        kept = mapping(document)
        listed = kept.get("items") if kept.get("kind") == "List" else None
        yield from map(mapping, listed if isinstance(listed, list) else [kept])


def _workload(path: str, name: str, item: Mapping[str, object]) -> Unit:
    spec = mapping(item.get("spec"))
    if item["kind"] == "CronJob":
        spec = mapping(mapping(spec.get("jobTemplate")).get("spec"))
    template = dict(item) if item["kind"] == "Pod" else mapping(spec.get("template"))
    inner = mapping(template.get("spec"))
    containers = [mapping(one) for key in ("initContainers", "containers") for one in _list(inner.get(key))]
    settings: dict[str, str] = {}
    for container in containers:
        for variable in map(mapping, _list(container.get("env"))):
            settings[str(variable.get("name", ""))] = str(variable.get("value", ""))
    main = containers[-1] if containers else {}
    return Unit(
        kind="kubernetes",
        name=name,
        path=path,
        command=text_of(main.get("command")) or text_of(main.get("args")) or text_of(main.get("image")),
        needs=[host for host in hosts_in(settings) if host != name],
        labels=_plain(mapping(template.get("metadata")).get("labels")),
    )


def _backends(value: object) -> Iterator[str]:
    """The services that an ingress leads to, wherever they stand in it."""
    if isinstance(value, dict):
        service = value.get("service")
        named = service.get("name") if isinstance(service, dict) else value.get("serviceName")
        if isinstance(named, str):
            yield named
        for inner in value.values():
            yield from _backends(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _backends(inner)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _plain(value: object) -> dict[str, str]:
    return {key: str(item) for key, item in mapping(value).items()}
