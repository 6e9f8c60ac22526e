"""What text can hold that a person does not see or a model might obey, and how it is made inert."""

from __future__ import annotations

import re
from typing import Final

_ESCAPES: Final = (
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]P^_X][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"  # OSC, DCS, PM, APC, SOS: titles, links
    r"|\x1b[ -/]{0,4}[0-~]"  # charset and other two-character sequences
)
_CONTROLS: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_FORMATS: Final = (  # Unicode 16, category Cf: joiners, bidirectional marks, byte order mark, tags
    r"\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e007f"
)
_BLANKS: Final = (  # variation selectors and letters that show nothing
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0080-\U000e0fff"
)
_HIDDEN: Final = re.compile(rf"{_ESCAPES}|[{_CONTROLS}{_FORMATS}{_BLANKS}]")
_HIDDEN_ASCII: Final = re.compile(rf"{_ESCAPES}|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARKS: Final = re.compile(r"([\u0300-\u036f]{4})[\u0300-\u036f]+")
_ENDS: Final = re.compile(r"\r\n?|[\u2028\u2029\u0085]")
_TRAILING: Final = re.compile(r"(?<![ \t])[ \t]+(?=\n)")
_EMPTY_LINES: Final = re.compile(r"\n{3,}")
_FAR: Final = re.compile(r"[ \t]{81,}")

_HARNESS: Final = (
    r"flywheel[\w-]*|system[-_]\w[\w-]*|user[-_]\w[\w-]*|function_calls?|function_results?|invoke|parameter|tool[-_](?:use|calls?|"
    r"results?|outputs?|response)|hook[-_]\w[\w-]*|session-start-hook|persisted-output|command-(?:name|message|args)|"
    r"local-command-\w+|bash-(?:input|stdout|stderr)|environment_context|task-notification|antml:\w+|INSTRUCTIONS|"
    r"(?:start|end)_of_turn|begin_of_text|end_of_text|eot_id"
)
_ROLES: Final = (
    r"system|user|human|assistant|developer|tool|instructions?|important|thinking|env|context|memory|prompt|override|"
    r"SYSTEM|USER|HUMAN|ASSISTANT|DEVELOPER|TOOL|INSTRUCTION|IMPORTANT|CONTEXT|s|bos|eos|pad|[A-Za-z]\w{0,64}[-_:][\w:-]{1,64}"
)
_TAG: Final = re.compile(
    rf"<(?=\s{{0,8}}/?\s{{0,8}}(?i:{_HARNESS})(?![\w-]))"
    rf"|(?:(?<![\w>)\]])<(?=\s{{0,8}}(?:{_ROLES})(?:[\s/][^>\n]{{0,300}})?>)|<(?=\s{{0,8}}/\s{{0,8}}(?:{_ROLES})\s{{0,8}}>))"
    r"|<(?=<?/?SYS>>|[|｜][^|｜\n>]{1,64}[|｜]>)"
)
_INST: Final = re.compile(r"\[(/?INST)\]")
_TURN: Final = re.compile(
    r"^[ \t]*(?=(?:(?:Human|Assistant|System|User|Developer)[ \t]?:|"
    r"###[ \t]*(?:Instructions?|Response|Input|Human|Assistant|System|User)[ \t]*:))",
    re.MULTILINE,
)


def without_hidden(text: str) -> str:
    """Without terminal sequences, control and format characters and whatever else shows nothing; line ends are LF."""
    if text.isascii():
        return _HIDDEN_ASCII.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _MARKS.sub(r"\1", _HIDDEN.sub("", _ENDS.sub("\n", text)))


def tidy(text: str) -> str:
    """Without white space at line ends, with one empty line at most in a row and nothing pushed far to the right."""
    return _EMPTY_LINES.sub("\n\n", _FAR.sub(" " * 80, _TRAILING.sub("", text)))


def disarmed(text: str) -> str:
    """With tags of agents' harnesses, chat-template marks and speakers' turns broken, visibly; other code stays."""
    if "INST]" in text:
        text = _INST.sub(r"‹\1›", text)
    text = _TURN.sub("> ", text)
    return _TAG.sub("‹", text) if "<" in text else text
