"""What redaction must leave alone: texts that look like secrets and are none."""

from __future__ import annotations

import pytest

from flywheel.text.redact import Redactor

LOOKALIKES = """
commit c8ef8c6d1f0a9b3e4c5d6f7a8b9c0d1e2f3a4b5c
id: 550e8400-e29b-41d4-a716-446655440000
"integrity": "sha512-abc123+/DEF456abc123DEF456abc123DEF456abc123DEF456abc123DEF456abc123DEF456abc123DEF456ab=="
checksum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
--hash=sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
go.sum h1:abcDEF123abcDEF123abcDEF123abcDEF123abcDE4=
image@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
API_KEY=your-api-key
API_KEY=<your key>
api_key = "YOUR_API_KEY_HERE"
token: xxx
TOKEN=${TOKEN}
TOKEN=$TOKEN
token=<token>
password: changeme
password=***
password: ********
password="..."
API_KEY=sk-...
sk-xxxxxxxxxxxxxxxxxxxxxxxx
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
token: ghs_...
os.environ["API_TOKEN"]
token = os.environ["X"]
SECRET_KEY = os.getenv("SECRET_KEY")
{"api_key": process.env.API_KEY}
api_key=settings.API_KEY,
api_key=config["api_key"]
"api_key": "env:API_KEY"
secrets.GITHUB_TOKEN
NPM_TOKEN: ${{ secrets.NPM_TOKEN }}
password: "{{ vault_password }}"
password: !vault |
PASSWORD=$(cat /run/secret)
token="%s"
"Authorization": f"Bearer {token}"
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Basic auth is required
const token = getToken()
token = response.json()["access_token"]
password=password, token=token)
def login(user: str, password: str = None) -> str:
api_key: str | None = None
password: string;
secret: boolean
token: Token2
let token: Token = lexer.next();
fn token(&self) -> &Token2
password := readPassword()
password = input("Password: ")
access_token = models.CharField(max_length=255)
password_hash = hash_password(x)
auth = (user, pw)
cookie = request.cookies.get("session")
Set-Cookie header is set
max_tokens: 4096
"input_tokens": 1234, "output_tokens": 55
MAX_TOKENS=4096
tokens = count(text)
next_page_token = "CAESBgoEIgIIAQ1234"
if token == "(":
token: "IDENT"
Token::String
tokenizer = Tokenizer.from_file("tokenizer2.json")
self.token = token2
token = tokens[3]
password1 = password2
"token": "abc"
"token_type": "Bearer"
key: "value"
"key": "some_setting_name"
keyof typeof x
sorted(xs, key=len)
key = sha256(data).hexdigest()
KEY_PATH=/etc/ssl/private.pem
--key-file /etc/x1
s3_key = "a/b/c1.txt"
cache_key = f"{a}:{b}"
"primary_key": "id"
"keyword": "abc123def456ghi789"
"hotkey": "ctrl+shift+a1"
monkey: banana123
compass: north1234
keyboard = "qwerty1234567890ABC"
author: someone
secretName: db-credentials
<input type="password" name="password">
password is required
passwords must have 8 characters
Did you mean to pass 'strict' here?
"password": {"type": "string"}
PASSWORD_MIN_LENGTH=12
PWD=/home/me/project
use --token to pass it
--password-stdin
docker login -u me --password-stdin
curl -u "$USER:$PASS" http://x
curl https://x/y:8080/z
ssh -p 2222 host
mkdir -p src/text
sort -u a:b
"signature": "MEUCIQDx1y2z3a4b5c6d7e8f9g0h"
postgres://user:password@localhost/db
postgres://user:${DB_PASS}@host/db
http://localhost:8080/foo@bar
git@github.com:owner/repo.git
the authentication token is invalid
toolu_01A2b3C4d5E6f7G8h9I0j1K2
req_011CSHoEeqs5C35K2UUqR7Fy
msg_01XFDUDYJgAACzvnptvVoYEL
"session_id": "0af7651916cd43dd8448eb211c80319c"
task-runner-configuration-long-name-2
sk-folding-cube-animation-2x
test_that_a_long_name_with_3_numbers_is_no_token_42
css-1a2b3c4d5e6f7g8h9i0j
pk_live_51H8a9b0c1d2e3f4g5
xoxb-your-token
arn:aws:iam::123456789012:role/service-role-name
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7 me@host
if "-----BEGIN PRIVATE KEY-----" in someLongIdentifierNameHere1:
x.startswith("-----BEGIN PRIVATE KEY-----") and x.endswith("-----END PRIVATE KEY-----")
----------------------------------------------------------------
secret=None
"secret": null
type: password
token, value = parse(line)
'OPTIONS', 'PASS', 'PAUSE1'
fields = ["password", "email_address"]
("DB_PASSWORD", "DB_HOST")
<input name="password" value="">
- name: DB_PASSWORD valueFrom: secretKeyRef
SELECT * FROM t WHERE key = 5
the password for this account is required
set the token to true
the key is to ask first
https://docs_for_people_only@example.org/x
password reset? see reset-2024
git config set user.name me
src/a.py:543:12:name:value
kind: ConfigMap
echo aGVsbG8gd29ybGQsIGFsbCBnb29k | base64 -d
"""


@pytest.mark.parametrize("line", LOOKALIKES.strip().splitlines())
def test_lookalikes_stay(line: str) -> None:
    """Hashes, identifiers, placeholders, look-ups, types, code and prose pass byte for byte."""
    redactor = Redactor()
    assert redactor.text(f"first\n{line}\nlast") == f"first\n{line}\nlast"
    assert redactor.redacted == 0


def test_a_certificate_is_public() -> None:
    """Only private keys go; a certificate or a public key block stays."""
    pem = "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----"
    assert Redactor().text(pem) == pem
