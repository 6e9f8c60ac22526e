"""What redaction takes out."""

from __future__ import annotations

import pytest

from flywheel.text.redact import Redactor

MIXED = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0"
HEX = "0123456789abcdef" * 6

SHAPES = [
    ("aws-access-key", "AKIA" + "QWERTYUIOP234567"),
    ("aws-access-key", "ASIA" + "ABCDEFGHIJKLMNOP"),
    ("google-api-key", "AIza" + "Sy-_" + MIXED[:31]),
    ("google-oauth-secret", "GOCSPX-" + MIXED[:28]),
    ("github-token", "ghp_" + MIXED[:36]),
    ("github-token", "ghs_" + MIXED[:36]),
    ("github-token", "github_pat_" + MIXED[:22] + "_" + MIXED[:59]),
    ("gitlab-token", "glpat-" + "xY-_" + MIXED[:16]),
    ("slack-token", "xoxb-123456789012-1234567890123-" + MIXED[:24]),
    ("slack-token", "xapp-1-A0123456789-1234567890123-" + HEX[:64]),
    ("stripe-key", "sk_live_" + MIXED[:24]),
    ("stripe-key", "rk_test_" + MIXED[:24]),
    ("stripe-key", "whsec_" + MIXED[:32]),
    ("anthropic-key", "sk-ant-api03-" + MIXED + "-AA"),
    ("openai-key", "sk-proj-" + MIXED),
    ("openai-key", "sk-" + MIXED[:20] + "T3BlbkFJ" + MIXED[20:40]),
    ("api-key", "sk-" + MIXED[:48]),
    ("huggingface-token", "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH"),
    ("npm-token", "npm_" + MIXED[:36]),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + MIXED),
    ("rubygems-token", "rubygems_" + HEX[:48]),
    ("docker-token", "dckr_pat_" + MIXED[:27]),
    ("mailgun-key", "key-" + HEX[:32]),
    ("mailchimp-key", HEX[:32] + "-us12"),
    ("twilio-key", "SK" + HEX[:32]),
    ("shopify-token", "shpat_" + HEX[:32]),
    ("digitalocean-token", "dop_v1_" + HEX[:64]),
    ("databricks-token", "dapi" + HEX[:32]),
    ("grafana-token", "glsa_" + MIXED[:32] + "_" + HEX[:8]),
    ("newrelic-key", "NRAK-" + "A1B2C3D4E5F6G7H8I9J0K1L2M3N"),
    ("linear-key", "lin_api_" + MIXED[:40]),
    ("notion-token", "ntn_" + MIXED[:46]),
    ("figma-token", "figd_" + MIXED[:40]),
    ("postman-key", "PMAK-" + HEX[:24] + "-" + HEX[:34]),
    ("atlassian-token", "ATATT3xFfGF0" + MIXED),
    ("groq-key", "gsk_" + MIXED[:52]),
    ("xai-key", "xai-" + MIXED[:80]),
    ("perplexity-key", "pplx-" + MIXED[:48]),
    ("replicate-token", "r8_" + MIXED[:37]),
    ("age-key", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" + "QPZRY9X8GF2TVDW0S3JN54KHCE"),
    ("jwt", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0In0." + MIXED[:43]),
    ("discord-token", "MTE" + MIXED[:21] + "." + "G1h2I3" + "." + MIXED[:38]),
]

AFTER = [
    ("sendgrid-key", "SG.", MIXED[:22] + "." + MIXED[:43]),
    ("google-token", "ya29.", MIXED[:60]),
    ("telegram-token", "123456789:", "AA" + "bC-dE" + MIXED[:28]),
    ("vault-token", "hvs.", MIXED[:40]),
    ("doppler-token", "dp.pt.", MIXED[:43]),
    ("azure-client-secret", "", "abc8Q~" + "dE.f-" + MIXED[:29]),
    ("slack-webhook", "https://hooks.slack.com/services/", "T00000000/B00000000/" + MIXED[:24]),
    ("discord-webhook", "https://discord.com/api/webhooks/", "123456789012345678/" + MIXED[:68]),
]


@pytest.mark.parametrize(("kind", "token"), SHAPES, ids=lambda value: value[:12])
def test_provider_tokens_go_whatever_stands_around_them(kind: str, token: str) -> None:
    """A token of known shape goes alone, in a sentence, in quotes, in JSON, in a URL and after a prefix."""
    mark = f"[redacted:{kind}]"
    for frame in ("{}", "use {} for it", 'x = "{}";', '{{"a": "{}"}}', "https://h/p/{}/q", "out\\n{}\\nend", "({})"):
        assert Redactor().text(frame.format(token)) == frame.format(mark)


@pytest.mark.parametrize(("kind", "kept", "secret"), AFTER, ids=lambda value: value[:12])
def test_tokens_known_by_what_comes_before_lose_only_the_secret(kind: str, kept: str, secret: str) -> None:
    """The public head of a token or address stays and says what it was."""
    assert Redactor().text(f"x {kept}{secret} y") == f"x {kept}[redacted:{kind}] y"


NAMED = [
    ("export GITHUB_TOKEN=¤abc123¤", "token"),
    ("DB_PASSWORD=¤correcthorse¤", "password"),
    ("  POSTGRES_PASSWORD: ¤letmein1¤", "password"),
    ("- MYSQL_ROOT_PASSWORD=¤p@ss(w0rd)!¤", "password"),
    ("docker run -e API_KEY=¤abcdef99¤ image", "key"),
    ("password: ¤hunter2¤", "password"),
    ("client_secret: ¤abcdef1234567890ABCD¤", "secret"),
    ('password = "¤hunter2¤"', "password"),
    ("const apiKey = '¤abcdef1234567890¤'", "key"),
    ('password: str = "¤hunter2¤"', "password"),
    ('"password": "¤hunter2¤"', "password"),
    (r"{\"password\": \"¤hunter2¤\"}", "password"),
    ('"access_token" : "¤f00ba7f00ba7¤",', "token"),
    ('os.environ["API_TOKEN"] = "¤abc123456¤"', "token"),
    ('SECRET_KEY = "¤django-insecure-abc123¤"', "key"),
    ("aws_secret_access_key = ¤wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY1¤", "key"),
    ("TWILIO_AUTH_TOKEN: ¤0123456789abcdef0123456789abcdef¤", "token"),
    ("Server=db;User=sa;Password=¤letmein9¤;Encrypt=yes", "password"),
    ("AccountName=x;AccountKey=¤abcdEFGH1234+/abcdEFGH1234==¤;Suffix=y", "key"),
    ("host=x user=y password=¤hunter2¤ dbname=z", "password"),
    ("//npm.example.org/:_authToken=¤abc123-def456¤", "token"),
    ('"auth": "¤dXNlcjpwYXNzd29yZA==¤"', "credential"),
    ("<password>¤hunter2¤</password>", "password"),
    ("x --password ¤hunter22¤ --verbose", "password"),
    ("curl -X POST \\\n  -u admin:¤hunter2¤ \\\n  http://x", "password"),
    ("curl --user admin:¤hunter2¤ http://x", "password"),
    ("--api-key=¤abc123def¤", "key"),
    ("machine h login me password ¤hunter2¤", "password"),
    ("X-Api-Key: ¤abc123def456¤", "key"),
    ("curl -H 'PRIVATE-TOKEN: ¤abc123def456¤' u", "token"),
    ("https://x/y?token=¤abc123def¤&x=1", "token"),
    ("https://x/y?sv=1&sig=¤abc123def456ghi789¤&x=1", "signature"),
    ("https://b.s3/k?X-Amz-Signature=¤0123456789abcdef0123¤", "signature"),
    ("postgres://user:¤s3cret!¤@host/db", "password"),
    ("redis://:¤hunter2¤@localhost:6379/0", "password"),
    ("https://me:¤abc123¤@github.com/o/r.git", "password"),
    ("Authorization: Bearer ¤abc123def456¤", "authorization"),
    ("authorization: Basic ¤dXNlcjpwYXNz¤", "authorization"),
    ('headers={"Authorization": "token ¤abc123def456¤"}', "authorization"),
    ('.header("Authorization", "Bearer ¤abc123def456¤")', "authorization"),
    ("sent Bearer ¤abcdef0123456789abcdef¤ along", "authorization"),
    ("Cookie: sid=¤abc123def456¤; theme=dark", "cookie"),
    ("Set-Cookie: session=¤abc123def456¤; Path=/; HttpOnly", "cookie"),
    ("curl -u admin:¤hunter2¤ http://x", "password"),
    ("curl -sSu 'admin:¤hunter2¤' http://x", "password"),
    ("mysql -u root -p¤hunter2¤ db", "password"),
    ("sshpass -p ¤hunter2¤ ssh h", "password"),
    ("CREATE USER u IDENTIFIED BY '¤hunter2¤'", "password"),
    ("my password is ¤hunter2!¤", "password"),
    ("+API_TOKEN=¤abc12345¤", "token"),
    ("- name: DB_PASSWORD\n  value: ¤hunter2¤", "password"),
    ('{"name": "API_TOKEN", "value": "¤abc12345¤"}', "token"),
    ('<add key="ApiKey" value="¤abcdef123456¤"/>', "key"),
    ("define('DB_PASSWORD', '¤letmein¤');", "password"),
    ('os.environ.setdefault("API_KEY", "¤abc123456¤")', "key"),
    ("spring.datasource.password=¤hunter2¤", "password"),
    ("kubectl create secret generic x --from-literal=password=¤hunter2¤", "password"),
    ("PGPASSWORD=¤hunter2¤ psql -h x", "password"),
    ("  password: ¤aHVudGVyMg==¤", "password"),
    (":password => '¤hunter2¤'", "password"),
    ("jdbc:mysql://host/db?user=x&password=¤hunter2¤", "password"),
    (r"\nAPI_TOKEN=¤abc12345¤\nOTHER=1", "token"),
    ("     7→API_TOKEN=¤abc12345¤", "token"),
    ("postgres://app:¤p@ss/w0rd¤@db.example.org:5432/shop", "password"),
    ("git clone https://¤5ec84d8dbc74254770f58904dba41ecccc3fc162¤@github.com/o/r.git", "token"),
    ("machine h\n  login me\n  password ¤correcthorsebattery¤", "password"),
    ("db.example.org:5432:shop:app:¤Zx90MEQ7wjJ0¤", "password"),
    ('["tool", "--password", "¤WdFrK9xiRG3f¤", "--x"]', "password"),
    ("echo '¤yqoYMaaItDr93E¤' | docker login -u me --password-stdin", "password"),
    ("echo 'root:¤2kx9pUolc85d¤' | chpasswd", "password"),
    ("    client-key-data: ¤8Hqx89YNpJ/hb+p+I2cvnDzC8y+Rdn¤", "key"),
    ("kind: Secret\ndata:\n  connection: ¤cHdYMHQwWkJmZFRFbXg3bQ==¤", "secret"),
    ("curl -b 'session=¤XjMpu3uDxYYMfGmzWkpA¤' https://x", "cookie"),
    ("&quot;password&quot;: &quot;¤B9UoK4tYnz1K¤&quot;", "password"),
    ("body=grant&password%3D¤6kjcbhgN7k0b¤", "password"),
    ("echo ¤REJfUEFTU1dPUkQ9Z2lnWVdQbnN1dkJxNHM=¤ | base64 -d", "encoded-secret"),
    ("password for the db: ¤Winter2024!x¤", "password"),
    ("log in with password ¤Winter2024!¤ please", "password"),
    ("das Passwort ist ¤Winter2024!¤", "password"),
    ("my api key is ¤NVbYAbBHXgwETdIKnT30fK0skBaHms0a¤", "key"),
    ("I set the password to '¤Winter2024!¤' yesterday", "password"),
    ("$c = ConvertTo-SecureString '¤rdNPTZ0Mv30j¤' -AsPlainText -Force", "password"),
    ("openssl rsa -passin pass:¤SauqrBkL600s¤ -in k.pem", "password"),
    ("aws configure set aws_secret_access_key ¤WjpsME0XczYpfjsx2qeZFwbqQS4qKk3O¤", "key"),
    ('gh secret set DEPLOY --body "¤xKKwzXH2jpc7Fx3gxODYfj0w¤"', "secret"),
    ("ALTER ROLE app WITH PASSWORD '¤5J5b16dqYG7d¤'", "password"),
    ("CREATE USER 'a' IDENTIFIED WITH mysql_native_password BY '¤gjuWa8mRVt7W¤'", "password"),
    ("me:¤$2b$12$Tcada4PR0NfyttUMk931FMdux8KUCERkj9Zhx9PkOZAEyXYC8rY5s¤", "password-hash"),
    ("# password: ¤Y18HslxB6n¤", "password"),
]


@pytest.mark.parametrize(("line", "kind"), NAMED)
def test_secrets_known_by_their_name_lose_the_value_and_nothing_else(line: str, kind: str) -> None:
    """What stands between the two marks goes; every other character of the line and its neighbours stays."""
    before, secret, after = line.split("¤")
    given = f"first line\n{before}{secret}{after}\nlast line"
    assert Redactor().text(given) == f"first line\n{before}[redacted:{kind}]{after}\nlast line"


BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (f"a\n-----BEGIN PRIVATE KEY-----\n{BODY}\nabc=\n-----END PRIVATE KEY-----\nb", "a\n{}\nb"),
        (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n{BODY}\n", "{}\n"),
        (f'k = "-----BEGIN RSA PRIVATE KEY-----\\n{BODY}\\n-----END RSA PRIVATE KEY-----\\n"', 'k = "{}\\n"'),
        (f"  1→-----BEGIN EC PRIVATE KEY-----\n  2→{BODY}\n  3→-----END EC PRIVATE KEY-----", "  1→{}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB...\n-----END RSA PRIVATE KEY-----", "{}"),
        (f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{BODY}\n-----END PGP PRIVATE KEY BLOCK-----", "{}"),
        (f"-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES,00\n\n{BODY}\n{BODY[:9]}", "{}"),
    ],
)
def test_private_keys_go_whole_even_when_cut_short(given: str, left: str) -> None:
    """PEM and PGP blocks go with header and footer, escaped, numbered, elided or without an end."""
    assert Redactor().text(given) == left.format("[redacted:private-key]")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("a <private>x <b>y</b>\nz</private> b", "a {} b"),
        ("a <PRIVATE>x</Private> b", "a {} b"),
        ("a <private>x never closed ghp_", "a {}"),
        ("<private>a<private>b</private>c</private>d", "{}d"),
        ('<private reason="x">a</private>', "{}"),
        ("no </private> here", "no </private> here"),
        ("vector<privateer> p", "vector<privateer> p"),
    ],
)
def test_what_a_person_marks_private_is_dropped_whole(given: str, left: str) -> None:
    """`<private>` blocks go in any case, nested or never closed, and a note stays."""
    redactor = Redactor()
    assert redactor.text(given) == left.format("[redacted:private]")
    assert redactor.redacted == left.count("{}")


def test_two_secrets_side_by_side_and_one_within_another() -> None:
    """Spans that touch or overlap become one mark, named by the more exact rule."""
    token = "ghp_" + MIXED[:36]
    assert Redactor().text(f'GITHUB_TOKEN="{token}"') == 'GITHUB_TOKEN="[redacted:github-token]"'
    assert Redactor().text(f"https://x:{token}@github.com/o/r") == "https://x:[redacted:github-token]@github.com/o/r"
    assert Redactor().text(f"{token} {token}") == "[redacted:github-token] [redacted:github-token]"
