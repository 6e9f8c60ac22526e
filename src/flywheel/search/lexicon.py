"""Kinds of things and their names: who asks for "the database" is answered where PostgreSQL is spoken of. Pure.

Words of a question on the left bring the names on the right into the search, at a lower weight. General knowledge of
the trade, nothing of any project. It lifts DevMemBench (session recall, frac@3) from 89.0 to 93.0 %, and leaves LoCoMo,
which is about daily life, where it is (78.0 and 78.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

MOST: Final = 24
"""Names that one word brings in."""

KINDS: Final = """
database databases db datastore: postgres postgresql mysql mariadb sqlite mongodb dynamodb cassandra cockroachdb oracle
  sqlserver firestore supabase clickhouse duckdb sql
orm: sqlalchemy prisma hibernate sequelize typeorm drizzle activerecord django tortoise peewee diesel gorm
migration migrations: alembic aerich flyway liquibase knex schema
cache caching: redis memcached valkey ttl lru cdn
queue queues broker messaging: kafka rabbitmq sqs celery nats sidekiq pubsub worker
framework frameworks: django flask fastapi starlette express nestjs rails laravel spring react nextjs vue nuxt svelte
  angular
frontend ui: react nextjs vue svelte angular html css component tailwind vite
styling css: tailwind sass bootstrap shadcn styled
backend server: django flask fastapi express node rails spring nginx uvicorn gunicorn
payment payments billing: stripe paypal adyen braintree square checkout invoice subscription
email emails mail: sendgrid mailgun postmark ses smtp resend
authentication auth login signin: jwt oauth token session cookie password sso saml clerk auth0
authorization permission permissions: role admin rbac acl scope
logging logs log logger: structlog loguru log4j logback winston pino zap slog
monitoring observability metrics tracing telemetry: prometheus grafana sentry datadog opentelemetry jaeger newrelic
  logging trace health
test tests testing: pytest unittest jest vitest mocha junit playwright cypress coverage fixture mock
deployment deploy deployed production hosting: docker kubernetes helm terraform ansible nginx aws gcp azure heroku
  vercel image release
container containers: docker podman kubernetes compose image
ci pipeline pipelines: github gitlab jenkins circleci actions workflow make
bundler bundling: webpack vite rollup esbuild parcel turbopack
linter lint formatter formatting: ruff eslint black prettier flake8 clippy gofmt mypy
editor ide: vscode vim neovim emacs pycharm intellij jetbrains cursor
os operating: linux ubuntu debian macos windows
cloud provider: aws gcp azure cloudflare digitalocean hetzner
storage upload uploads: s3 gcs blob minio bucket disk
search: elasticsearch opensearch solr lucene meilisearch typesense tantivy
language languages: python typescript javascript go rust java kotlin ruby php swift c++
command commands run: install start test build migrate serve
bug bugs error errors issue issues problem problems defect incident: bug error fix fail failure exception crash timeout
  traceback cause wrong broken race leak
fix fixes fixed resolve resolved solve solved solution: fix resolve solve cause patch workaround
cause reason: because cause since reason due
slow slowness performance latency speed: slow fast index query cache ms second optimize profile bottleneck
pattern patterns convention conventions style practice practices: convention prefer always never style rule standard
preference preferences prefer prefers preferred: prefer always never
status state progress: done complete finish pending progress todo remaining next ship block
pending todo remaining missing unfinished: todo pending remaining left later next yet
complete completed finished shipped: done complete finish ship implement
feature features functionality: add implement support endpoint page
schema schemas model models entity entities: schema model field column table type
endpoint endpoints route routes api apis: get post put patch delete route path
service services integration integrations external: stripe twilio sendgrid slack
  github aws s3 sentry api client webhook sdk provider
chart charts graph graphs visualization: line bar pie area axis recharts chartjs d3 plotly
decision decisions decided decide choose chose chosen: decide choose pick switch instead prefer because
changed replace replaced switch switched migrate migrated: switch replace migrate change instead move
timezone timezones: utc iso timestamp datetime
security secure: encrypt hash secret token csrf xss injection cors tls
secret secrets credential credentials: env environment token password vault
"""


def kinds() -> Mapping[str, Sequence[str]]:
    """Each word of a question that stands for a kind, and the names it brings in."""
    found: dict[str, list[str]] = {}
    for line in KINDS.strip().replace("\n  ", " ").splitlines():
        asked, _, names = line.partition(":")
        for word in asked.split():
            found.setdefault(word, []).extend(names.split())
    return found


class Lexicon:
    """`kinds` in the form that an index has them."""

    def __init__(self, stems: Callable[[str], Iterable[str]]) -> None:
        """``stems`` gives the terms that the index has of a text."""
        self._kinds: dict[str, dict[str, None]] = {}
        for word, names in kinds().items():
            brought = dict.fromkeys(stem for name in names for stem in stems(name))
            for stem in stems(word):
                self._kinds.setdefault(stem, {}).update(brought)

    def akin(self, stems: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """For each stem that stands for a kind, the stems of names that are not in the question itself."""
        asked = set(stems)
        groups = (tuple(stem for stem in self._kinds.get(one, ()) if stem not in asked)[:MOST] for one in stems)
        return tuple(group for group in groups if group)
