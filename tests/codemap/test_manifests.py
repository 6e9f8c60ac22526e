"""What manifests tell of services, packages and ways in; what is malformed is said to be so."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flywheel.codemap.manifests import Malformed
from flywheel.codemap.manifests.joining import join, parser_of, speaks

COMPOSE = """
services:
  web:
    build: {context: ./web}
    depends_on: {api: {condition: service_started}}
    links: ["cache:redis"]
  api:
    build: api
    command: [python, -m, api]
    depends_on: [db]
    environment:
      QUEUE_URL: "amqp://user:pw@queue:5672/"
      CACHE_HOST: cache
      MODE: cache-less
  worker:
    image: app
    network_mode: "service:api"
    volumes_from: ["db:ro"]
    environment: ["DB_HOST=db:5432"]
  db: {image: "postgres:16"}
  cache: {image: redis}
  queue: {image: rabbitmq}
"""
KUBERNETES = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  template:
    metadata: {labels: {app: shop, tier: web}}
    spec:
      containers:
        - name: main
          image: shop:1
          env: [{name: BILLING_URL, value: "http://billing-svc.prod.svc:80/"}]
---
apiVersion: v1
kind: Service
metadata: {name: billing-svc}
spec: {selector: {app: billing}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: billing}
spec: {template: {metadata: {labels: {app: billing}}, spec: {containers: [{name: b, image: "billing:2"}]}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front}
spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: shop-svc}}}]}}]}
---
apiVersion: v1
kind: Service
metadata: {name: shop-svc}
spec: {selector: {app: shop}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: n, command: [sweep, --all], image: x}]}}}}}
"""
GO = "module example.org/{0}\n\ngo 1.22\n\nrequire (\n\texample.org/lib v0.0.0 // local\n\tother.org/x v1.0.0\n)\n"

CASES: dict[str, tuple[dict[str, str], dict[str, list[str]]]] = {
    "compose": (
        {"compose.yaml": COMPOSE},
        {
            "web": ["api", "cache"],
            "api": ["cache", "db", "queue"],
            "worker": ["api", "db"],
            "db": [],
            "cache": [],
            "queue": [],
        },
    ),
    "an override of compose": (
        {
            "docker-compose.yml": "services: {a: {image: x}, b: {image: y}}",
            "docker-compose.prod.yml": "services: {a: {depends_on: [b]}}",
        },
        {"a": ["b"], "b": []},
    ),
    "kubernetes": (
        {"deploy/all.yaml": KUBERNETES},
        {"shop": ["billing"], "billing": [], "front": ["shop"], "nightly": []},
    ),
    "kubernetes over several files": (
        {f"deploy/{n}.yml": part for n, part in enumerate(KUBERNETES.split("---\n"))},
        {"shop": ["billing"], "billing": [], "front": ["shop"], "nightly": []},
    ),
    "yaml that is no manifest": ({"ci.yml": "kind: x\njobs: {a: {needs: [b]}, b: {}}"}, {}),
    "systemd": (
        {
            "units/api.service": "[Unit]\nRequires=db.service \\\n  cache.service\nAfter=queue.service\n"
            "[Service]\nExecStart=-/usr/bin/python3 -m api\n",
            "units/db.service": "# a comment\n[Service]\nExecStart=/usr/bin/db\n",
            "units/cache.service": "[Unit]\nWants=db.service\nWants=\n[Service]\nExecStart=/c\n",
            "units/queue.service": "[Service]\nExecStart=/q\n",
            "units/api.socket": "[Socket]\nListenStream=80\n",
            "units/tidy.timer": "[Timer]\nUnit=queue.service\n",
        },
        {
            "api.service": ["cache.service", "db.service"],
            "db.service": [],
            "cache.service": [],
            "queue.service": [],
            "api.socket": ["api.service"],
            "tidy.timer": ["queue.service"],
        },
    ),
    "a procfile": (
        {"Procfile": "# processes\nweb: gunicorn app:wsgi\nworker: python work.py\n"},
        {"web": [], "worker": []},
    ),
    "npm": (
        {
            "package.json": '{"name": "root", "workspaces": ["packages/*", "!packages/old"]}',
            "packages/ui/package.json": '{"name": "@x/ui", "dependencies": {"@x/core": "*", "react": "19"}}',
            "packages/core/package.json": '{"name": "@x/core"}',
            "packages/old/package.json": '{"name": "@x/old"}',
            "examples/one/package.json": '{"name": "one", "dependencies": {"@x/ui": "*"}}',
        },
        {"root": [], "@x/ui": ["@x/core"], "@x/core": []},
    ),
    "pnpm": (
        {
            "pnpm-workspace.yaml": "packages:\n  - 'apps/**'\n",
            "apps/a/package.json": '{"name": "a", "devDependencies": {"b": "workspace:*"}}',
            "apps/deep/b/package.json": '{"name": "b"}',
        },
        {"a": ["b"], "b": []},
    ),
    "a package alone": ({"package.json": '{"name": "alone"}', "pyproject.toml": "[project]\nname = 'alone'"}, {}),
    "cargo": (
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/x"]',
            "crates/a/Cargo.toml": '[package]\nname = "a"\n[dependencies]\nbee = {package = "b"}\nserde = "1"',
            "crates/b/Cargo.toml": '[package]\nname = "b"',
            "crates/x/Cargo.toml": '[package]\nname = "x"',
        },
        {"a": ["b"], "b": []},
    ),
    "go": (
        {
            "go.work": "go 1.22\nuse (\n\t./app\n\t./lib // shared\n)\n",
            "app/go.mod": GO.format("app"),
            "lib/go.mod": "module example.org/lib\n",
            "tool/go.mod": "module example.org/tool\nrequire example.org/lib v0.0.0\n",
        },
        {"example.org/app": ["example.org/lib"], "example.org/lib": []},
    ),
    "uv": (
        {
            "pyproject.toml": "[project]\nname = 'Root'\ndependencies = ['the_lib>=1; python_version > \"3\"']\n"
            "[tool.uv.workspace]\nmembers = ['libs/*']\n",
            "libs/lib/pyproject.toml": "[project]\nname = 'the-lib'\n[project.optional-dependencies]\nx = ['Root']\n",
        },
        {"root": ["the-lib"], "the-lib": ["root"]},
    ),
    "one name, two kinds": (
        {"Procfile": "db: run db\n", "compose.yml": "services: {db: {image: x}, api: {depends_on: [db]}}"},
        {"db (compose)": [], "db (procfile)": [], "api": ["db (compose)"]},
    ),
    "one name in two folders": (
        {
            "a/compose.yml": "services: {db: {image: x}, api: {depends_on: [db]}}",
            "b/compose.yml": "services: {db: {image: x}}",
        },
        {"db (a/compose.yml)": [], "db (b/compose.yml)": [], "api": ["db (a/compose.yml)"]},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_services_and_what_they_need(name: str) -> None:
    """Each kind of manifest: the services, or the packages of a workspace, and the edges between them."""
    files, wanted = CASES[name]
    told = [parse(path, text) for path, text in files.items() if (parse := parser_of(path))]
    assert {one.label: list(one.needs) for one in join(told)} == wanted


def test_what_a_service_is_made_of() -> None:
    """Its folder, its command, the file that says so."""
    parse = parser_of("deploy/compose.yaml")
    assert parse is not None
    found = {one.label: one.unit for one in join([parse("deploy/compose.yaml", COMPOSE)])}
    assert (found["api"].folder, found["api"].command, found["api"].path) == (
        "deploy/api",
        "python -m api",
        "deploy/compose.yaml",
    )
    assert (found["web"].folder, found["db"].command) == ("deploy/web", "postgres:16")


WAYS: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "scripts": (
        "pyproject.toml",
        "[project.scripts]\nshop = 'shop.cli:main'\n[tool.poetry.scripts]\nold = 'shop.old:run'\n",
        [("old", "shop.old:run"), ("shop", "shop.cli:main")],
    ),
    "setup.cfg": (
        "setup.cfg",
        "[options.entry_points]\nconsole_scripts =\n    shop = shop.cli:main [extra]\n",
        [("shop", "shop.cli:main")],
    ),
    "programs of npm": ("package.json", '{"name": "@x/s", "bin": "./cli.js"}', [("s", "cli.js")]),
    "several programs": (
        "package.json",
        '{"name": "s", "bin": {"a": "a.js", "b": "./b.js"}}',
        [("a", "a.js"), ("b", "b.js")],
    ),
    "a crate's program": ("Cargo.toml", '[package]\nname = "c"', [("c", "src/main.rs")]),
    "a crate's programs": (
        "Cargo.toml",
        '[package]\nname = "c"\n[[bin]]\nname = "x"\npath = "x.rs"\n[[bin]]\nname = "y"\n',
        [("x", "x.rs"), ("y", "src/bin/y.rs")],
    ),
    "a container": (
        "web/Dockerfile",
        'FROM x\nCMD ["python", "old.py"]\nENTRYPOINT ["gunicorn", \\\n  "shop.web:app"]\n',
        [("container web", "shop.web:app")],
    ),
    "a container of a module": ("Dockerfile", "CMD python -m shop --port 80", [("container", "-m shop")]),
    "uvicorn as a module": ("Dockerfile", "CMD python -m uvicorn shop.web:app", [("container", "shop.web:app")]),
    "a container of something else": ("Dockerfile", "FROM nginx\nCMD nginx", []),
    "a process": ("Procfile", "web: node server/index.js\n", [("web process", "server/index.js")]),
    "a unit": ("x.service", "[Service]\nExecStart=/usr/bin/python3 /opt/run.py\n", [("x service", "/opt/run.py")]),
}


@pytest.mark.parametrize("name", WAYS)
def test_ways_in(name: str) -> None:
    """What is started by which name, and where that leads."""
    path, text, wanted = WAYS[name]
    parse = parser_of(path)
    assert parse is not None
    assert [(way.name, way.target) for way in parse(path, text).ways] == wanted


BAD = {
    "compose.yml": "services: [",
    "docker-compose.yml": "- a list",
    "x.service": "ExecStart=before any section",
    "Procfile": "no process here\n",
    "package.json": "[1]",
    "Cargo.toml": "[package",
    "go.mod": "require x v1\n",
    "pyproject.toml": "= 1",
    "setup.cfg": "no section = 1",
    "a/k.yaml": "apiVersion: v1\nkind: Pod\n  bad: [indent",
}


@pytest.mark.parametrize("path", BAD)
def test_malformed_files_are_said_to_be_so(path: str) -> None:
    """And nothing else is raised."""
    parse = parser_of(path)
    assert parse is not None
    with pytest.raises(Malformed):
        parse(path, BAD[path])


@given(st.sampled_from(sorted(BAD)), st.text(max_size=60))
def test_no_text_surprises_a_parser(path: str, text: str) -> None:
    """Whatever a file holds, its parser tells something or says Malformed."""
    parse = parser_of(path)
    assert parse is not None
    with contextlib.suppress(Malformed):
        join([parse(path, text)])


def test_yaml_that_would_grow_stays_small() -> None:
    """Merge keys of merge keys, and aliases of aliases, eight and eleven times over."""
    levels = [f"l{n}: &l{n}\n  <<: [{', '.join([f'*l{n - 1}'] * 9)}]\n  k{n}: 1" for n in range(1, 9)]
    bomb = "l0: &l0 {a: 1, b: 2}\n" + "\n".join(levels)
    parse = parser_of("compose.yml")
    assert parse is not None
    assert join([parse("compose.yml", f"{bomb}\nservices: {{s: {{image: i}}}}")])
    laughs = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))])
    assert join([parse("compose.yml", f"{laughs}\nservices: {{s: {{image: i, depends_on: *a1}}}}")])


@pytest.mark.parametrize(
    ("path", "parsed", "telling"),
    [
        ("a/compose.yml", True, True),
        ("Dockerfile.prod", True, True),
        ("k8s/x.yaml", True, False),
        ("src/a.py", False, False),
        ("compose.py", False, False),
        ("x.service", True, True),
    ],
)
def test_which_files_are_manifests(path: str, parsed: bool, telling: bool) -> None:
    """By their names; a change of any YAML file alone is not worth a look at all manifests."""
    assert (parser_of(path) is not None, speaks(path)) == (parsed, telling)
