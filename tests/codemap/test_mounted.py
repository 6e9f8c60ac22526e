"""Routes of routers that another file mounts: their full path where it is sure, else the one that their file says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from tests.codemap.test_denied import ByHand, shop_with
from tests.codemap.test_sync import Checkout

from flywheel.codemap.definitions import parse
from flywheel.codemap.languages import language_of
from flywheel.codemap.layout import Layout
from flywheel.codemap.mounted import mounts_of
from flywheel.codemap.queries import symbols_called
from flywheel.codemap.routers import leading
from flywheel.codemap.sync import Sync
from flywheel.codemap.twins import LEAST
from flywheel.store import Db

FASTAPI = {
    "app/main.py": "from fastapi import FastAPI\nfrom app.routers import users, items as goods\n"
    "from app.api import router as api\n\napp = FastAPI()\napp.include_router(users.router, prefix='/v1')\n"
    "app.include_router(goods.router)\napp.include_router(api, prefix='/api')\n",
    "app/__init__.py": "",
    "app/routers/__init__.py": "",
    "app/routers/users.py": "from fastapi import APIRouter\nrouter = APIRouter(prefix='/users')\n\n"
    "@router.get('/{id}')\ndef one(): pass\n",
    "app/routers/items.py": "from fastapi import APIRouter\nrouter = APIRouter()\n\n"
    "@router.get('/items')\ndef one(): pass\n",
    "app/api.py": "from fastapi import APIRouter\nfrom . import deep\nrouter = APIRouter(prefix='/x')\n"
    "router.include_router(deep.inner, prefix='/deep')\n",
    "app/deep.py": "from fastapi import APIRouter\ninner = APIRouter(prefix='/own')\n\n"
    "@inner.post('/a')\ndef a(): pass\n",
}
FLASK = {
    "shop/__init__.py": "from flask import Flask\n\ndef create_app():\n    app = Flask(__name__)\n"
    "    from . import auth\n    app.register_blueprint(auth.bp)\n    from .blog import bp as blog\n"
    "    app.register_blueprint(blog, url_prefix='/blog')\n    return app\n",
    "shop/auth.py": "from flask import Blueprint\nbp = Blueprint('auth', __name__, url_prefix='/auth')\n\n"
    "@bp.route('/login')\ndef login(): pass\n",
    "shop/blog.py": "from flask import Blueprint\nbp = Blueprint('blog', __name__, url_prefix='/old')\n\n"
    "@bp.route('/new')\ndef new(): pass\n",
}
EXPRESS = {
    "app.js": "const express = require('express');\nconst users = require('./routes/users');\n"
    "const { orders: shopOrders } = require('./routes/orders');\nconst app = express();\napp.use(express.json());\n"
    "app.use('/api/users', auth, users);\napp.use('/orders', shopOrders);\n"
    "app.use('/late', require('./routes/late'));\n",
    "routes/users.js": "const router = require('express').Router();\nrouter.get('/:id', one);\n"
    "module.exports = router;\n",
    "routes/orders.js": "const express = require('express');\nconst router = express.Router();\n"
    "router.post('/', make);\nmodule.exports = { orders: router };\n",
    "routes/late.js": "const router = require('express').Router();\nrouter.get('/x', x);\nmodule.exports = router;\n",
}
TYPED = {
    "src/server.ts": "import express from 'express';\nimport api, { otherRouter as more } from './api';\n"
    "const server = express();\nserver.use('/api', api);\nserver.use('/more', more);\n",
    "src/api/index.ts": "import { Router } from 'express';\nimport usersRouter from './users';\n"
    "const router: Router = Router();\nexport const otherRouter = Router();\notherRouter.get('/o', o);\n"
    "router.use('/users', usersRouter);\n"
    "export default router;\n",
    "src/api/users.ts": "import { Router } from 'express';\nconst usersRouter = Router();\n"
    "usersRouter.get('/:id', one);\nexport default usersRouter;\n",
}
DJANGO = {
    "site/settings.py": "ROOT_URLCONF = 'site.urls'\n",
    "site/__init__.py": "",
    "site/urls.py": "from django.urls import include, path\nurlpatterns = [\n    path('shop/', include('shop.urls')),\n"
    "    path('old/', include(('old.urls', 'old'), namespace='o')),\n]\n",
    "shop/__init__.py": "",
    "shop/urls.py": "urlpatterns = [path('cart/', cart), re_path('^x/$', x)]\n",
    "old/__init__.py": "",
    "old/urls.py": "urlpatterns = [path('<int:id>/', one)]\n",
}


def routes(shop: Checkout) -> dict[str, list[str]]:
    """Path → its routes."""
    found: dict[str, list[str]] = {}
    for symbol in sorted(shop.symbols().values(), key=lambda one: (one.path, one.start_line, one.name)):
        if symbol.kind == "route":
            found.setdefault(symbol.path, []).append(symbol.name)
    return found


def synced(db: Db, data: Path, files: Mapping[str, str]) -> Checkout:
    """A checkout of these files, among those of the shop, synced once."""
    shop = shop_with(db, data, ByHand())
    shop.write(files)
    shop.sync()
    return shop


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (FASTAPI, {"app/routers/users.py": ["GET /v1/users/{id}"], "app/routers/items.py": ["GET /items"],
                   "app/deep.py": ["POST /api/x/deep/own/a"]}),
        (FLASK, {"shop/auth.py": ["/auth/login"], "shop/blog.py": ["/blog/new"]}),
        (EXPRESS, {"routes/users.js": ["GET /api/users/:id"], "routes/orders.js": ["POST /orders/"],
                   "routes/late.js": ["GET /late/x"]}),
        (TYPED, {"src/api/users.ts": ["GET /api/users/:id"], "src/api/index.ts": ["GET /more/o"]}),
        (DJANGO, {"site/urls.py": ["old/", "shop/"], "shop/urls.py": ["^x/$", "shop/cart/"],
                  "old/urls.py": ["old/<int:id>/"]}),
    ],
    ids=["fastapi", "flask", "express", "typescript", "django"],
)  # fmt: skip
def test_the_full_path(sqlite_db: Db, data: Path, files: Mapping[str, str], wanted: Mapping[str, list[str]]) -> None:
    """Each framework's usual layout: a route is called as a client asks for it; a second sync changes nothing."""
    shop = synced(sqlite_db, data, files)
    assert {path: sorted(some) for path, some in routes(shop).items()} == wanted
    shop.heard()
    shop.sync()
    assert shop.heard() == []


def told(files: Mapping[str, str], path: str) -> list[str]:
    """The routes of a file as all files together tell them, without a store."""
    said = {}
    for file, text in files.items():
        if routing := parse(text.encode(), language_of(file), file).routing:
            said[file] = orjson.loads(routing)
    given = mounts_of(said, leading(Layout(files, {}))).get(path, ())
    found = parse(files[path].encode(), language_of(path), path, given=given).definitions
    return [one.name for one in found if one.kind == "route"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("app/main.py", "prefix='/v1'", "prefix=settings.PREFIX"),
        ("app/main.py", "prefix='/v1'", "prefix=f'/{version}'"),
        ("app/main.py", "prefix='/v1'", "**options"),
        ("app/main.py", "app.include_router(goods.router)", "app.include_router(users.router, prefix='/v2')"),
        ("app/main.py", "app = FastAPI()", "app = make()\nfrom lost import app"),
        ("app/main.py", "app = FastAPI()", "app = FastAPI()\nouter = Starlette(routes=[Mount('/outer', app=app)])"),
        ("app/main.py", "from app.routers import users, ", "from app.routers import "),
        ("app/main.py", "from app.routers import users, ", "from other import users\nfrom app.routers import users, "),
        ("app/routers/users.py", "prefix='/users'", "prefix=PREFIX"),
    ],
)
def test_what_is_not_sure(path: str, before: str, after: str) -> None:
    """A prefix that is made when the program runs, two places, an unknown application: the route as its file says."""
    assert before in FASTAPI[path]
    found = told({**FASTAPI, path: FASTAPI[path].replace(before, after)}, "app/routers/users.py")
    assert found in (["GET /users/{id}"], ["GET /{id}"])


@pytest.mark.parametrize(
    "line",
    [
        "app.use(PATH, users);", "app.use(['/a', '/b'], users);", "app.use('/a', users); app.use('/b', users);",
        "app.use(`/${a}`, users);", "other.use('/a', users);", "app.use('/a', [auth, users]);",
    ],
)  # fmt: skip
def test_what_is_not_sure_of_express(line: str) -> None:
    """Paths that are not spelled out, several of them, and what cannot be told to be an application."""
    text = EXPRESS["app.js"].replace("app.use('/api/users', auth, users);", line)
    assert told({**EXPRESS, "app.js": text}, "routes/users.js") == ["GET /:id"]


@pytest.mark.parametrize("path", ["tests/test_users.py", "app/test_users.py", "app/conftest.py"])
def test_what_tests_mount_does_not_count(path: str) -> None:
    """A test that mounts a router by itself leaves it where the application has it."""
    text = "from app.routers import users\napp = FastAPI()\napp.include_router(users.router, prefix='/t')\n"
    assert told({**FASTAPI, path: text}, "app/routers/users.py") == ["GET /v1/users/{id}"]
    assert told({**FASTAPI, "app/second.py": text}, "app/routers/users.py") == ["GET /users/{id}"]


def test_a_django_application_that_no_root_includes() -> None:
    """Without the settings nobody knows where the list of routes begins."""
    files = {path: text for path, text in DJANGO.items() if path != "site/settings.py"}
    assert told(files, "old/urls.py") == ["<int:id>/"]


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("GET /api/users/:id", ["routes/users.js"]),
        ("/api/users/:id", ["routes/users.js"]),
        ("POST /orders/", ["routes/orders.js"]),
        ("GET /:id", []),
        ("/v1.0/:id", ["versions.js"]),
    ],
)
def test_a_route_is_found_by_its_name(sqlite_db: Db, data: Path, name: str, files: list[str]) -> None:
    """Colons and dots in it are its own; its path alone is enough."""
    shop = synced(sqlite_db, data, {**EXPRESS, "versions.js": "app.get('/v1.0/:id', one);\n"})
    with sqlite_db.read() as tx:
        found = symbols_called(tx, [shop.project], name, str(shop.root), 9)
    assert [one.path for one in found] == files


def test_a_second_work_tree_mounts_as_its_own_files_say(sqlite_db: Db, data: Path) -> None:
    """What is copied from the first tree is no route whose path another file says."""
    files = {**FASTAPI, **{f"lib/part{number}.py": f"def part{number}(): pass\n" for number in range(LEAST)}}
    shop = synced(sqlite_db, data, files)
    other = replace(shop, root=shop.root.parent / "other", beats=[])
    other.write({**files, "app/main.py": FASTAPI["app/main.py"].replace("/v1", "/v9")})
    report = other.sync()
    assert report.copied >= LEAST
    with sqlite_db.read() as tx:
        sql = "SELECT s.name FROM symbol s JOIN source_file f ON f.id = s.file_id WHERE f.checkout = :c AND s.kind = :k"
        names = {name for (name,) in tx.all(sql, c=str(other.root), k="route")}
    assert names == {"GET /v9/users/{id}", "GET /items", "POST /api/x/deep/own/a"}


@pytest.mark.parametrize("whole", [True, False], ids=["sweep", "events"])
def test_it_follows_what_other_files_say(sqlite_db: Db, data: Path, whole: bool) -> None:
    """The mounting file changes, goes and comes back; the router's file changes: names are right after each sync."""
    shop = synced(sqlite_db, data, FASTAPI)
    main, users = "app/main.py", "app/routers/users.py"

    def after(files: Mapping[str, str]) -> list[str]:
        shop.write(files)
        shop.sync(None if whole else list(files) or [main])
        return routes(shop)[users]

    assert after({main: FASTAPI[main].replace("/v1", "/v2")}) == ["GET /v2/users/{id}"]
    assert after({users: FASTAPI[users].replace("{id}", "{key}")}) == ["GET /v2/users/{key}"]
    assert after({users: FASTAPI[users].replace("/users", "/people")}) == ["GET /v2/people/{id}"]
    (shop.root / main).unlink()
    assert after({}) == ["GET /people/{id}"]
    assert after({main: FASTAPI[main]}) == ["GET /v1/people/{id}"]
    (shop.root / users).unlink()
    shop.sync(None if whole else [users])
    assert users not in routes(shop)
    assert after({users: FASTAPI[users]}) == ["GET /v1/users/{id}"]


def test_a_crash_before_the_rows_are_made_anew(sqlite_db: Db, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a crash interrupts between reading the mounts and naming the routes is done by a later sync."""
    with monkeypatch.context() as broken:
        broken.setattr(Sync, "_follow_mounts", lambda *_: None)
        shop = synced(sqlite_db, data, FASTAPI)
        assert routes(shop)["app/routers/users.py"] == ["GET /users/{id}"]
    shop.sync(["web/b.ts"])
    assert routes(shop)["app/routers/users.py"] == ["GET /v1/users/{id}"]
