"""What kind a prompt is of: small talk, an instruction about what is on the screen, a question about the world. Pure.

Memory has nothing to add to the first two, whatever is stored; to the third only what is very close.
"""

from __future__ import annotations

import re
from typing import Final

from flywheel.text.words import terms

_TALK: Final = """
    hi hello hey hiya howdy greetings welcome goodbye bye cheers ciao morning afternoon evening night tonight today
    tomorrow yesterday later soon week weekend holiday holidays day days monday tuesday wednesday thursday friday
    saturday sunday christmas birthday year new happy merry nice lovely good great fine cool awesome excellent
    amazing brilliant fantastic wonderful perfect super wow neat sweet impressive better best bad glad love liked
    thank thanks thx appreciate appreciated helpful help helped kind patience work job done made exactly mind hope
    hoping lol haha hehe funny joke jokes fun laugh smile oops sorry apologies pardon tired sleepy hungry bored busy
    coffee tea lunch dinner breakfast break breath away back ready round moment minute minutes second seconds bit
    wait hold hang pause rest okay ok sure yep yeah yup nope nah fair enough absolutely totally definitely certainly
    right wrong correct indeed true sense agreed agree sounds sound guess think thinking thought know knew see seen
    hmm hm umm uh huh ah aha oh hear say said saying tell told talk speak repeat answer answers reply explain
    words simple simpler simply plain short shorter shortly concise brief briefly detail detailed details verbose
    english german french spanish italian language continue continuing carry proceed keep going go ahead start
    started stop stopped begin end finish finished move along left off leave stay try trying tried mean meant never
    forget pleasure lot lots bunch much way thing things stuff question questions human robot bot ai assistant name
    feel feeling luck lucky fingers crossed believe trust time long people friend friends buddy pal mate dear
    everyone somebody anyone nothing anything something everything makes making still else maybe perhaps actually
    honestly ll ve re don didn doesn isn won couldn wouldn shouldn ever whatever whichever whether asked asking expect
    expected beautiful crazy one two three four five six seven eight nine ten eleven twelve million thousand
"""
_ROUTINE: Final = """
    run rerun running execute launch start restart stop kill quit close open reopen show display print list view
    look read reread check recheck verify test tests testing suite unit case cases build rebuild compile install
    lint linter linting format formatter reformat style commit commits push pull fetch merge rebase stash checkout
    branch branches pr request requests diff diffs status log origin remote main master head git undo redo revert
    reset restore rollback change changes changed edit edits edited fix fixes fixed fixing typo typos spelling
    grammar indent indentation indented whitespace blank space spaces tab tabs rename renaming move add adding insert
    append put write rewrite create make remove delete drop clean cleanup clear tidy refactor simplify shorten split
    join combine inline extract sort alphabetical alphabetically order reorder convert turn replace swap copy paste
    translate comment comments commented docstring docstrings document documentation type types typed hint hints
    annotation annotations unused import imports import variable variables function functions method methods class
    classes module file files folder directory line lines snippet code script block loop expression statement
    statements condition argument arguments parameter parameters value values string strings constant constants
    header footer bracket brackets quote quotes semicolon semicolons selected selection highlighted above below
    first second third fourth fifth last next previous another following top bottom whole entire empty clear
    clearer cleaner faster slower smaller larger shorter longer simpler nicer name names named again once twice
    fail fails failed failing failure error errors warning warnings message messages output result results exception
    traceback stack command commands terminal console shell server process prompt screen window working work works
    worked broke broken step steps instead ten twenty hundred apply accept approve reject confirm save use using
    explain explains describe describes summarize summary pass passes passing green red handle convert wrap compile
    compiles executes builds fixes adds assertion assertions assert scroll force amend squash undoes bullet bullets
    point points screenshot picture attached paste pasted scratch way
"""
_NOTHING: Final = frozenset(terms(f"{_TALK} {_ROUTINE}"))
"""Words of which prompts are made that are about the conversation itself or about what lies before both."""

_ASKS: Final = re.compile(r"\b(?:who|what(?!\s+an?\b[^?]*$)|which|when|where|why|how|whose)\b|\?\s*$", re.IGNORECASE)
_HERE: Final = re.compile(r"\b(?:this|that|these|those|it|you|your|again|here|there|me|i|i'm)\b", re.IGNORECASE)

_GENERAL: Final = re.compile(
    r"^\W*(?:(?:please|so|and|hey|hi|ok(?:ay)?|quick\s+question|by\s+the\s+way|just\s+curious)\W+)*"
    r"(?:(?:can|could|would)\s+you\s+)?"
    r"(?:(?:tell\s+me|explain(?:\s+to\s+me)?|describe|define)\s+)?"
    r"(?:"
    r"how\s+(?:do|can|could|should|would|might)\s+(?:i|you|one|people|someone)\b(?!\s+(?:want|like|prefer)\b)"
    r"|how\s+(?:do|does)\s+(?!we\b|our\b|the\b|this\b|that\b|it\b)[\w\s-]{2,60}?\s+(?:work|differ)\b"
    r"|how\s+to\b"
    r"|how\s+(?:long|many|much|often)\s+(?:do|should|can|could|must)\s+(?:i|you|one)\b"
    r"|what(?:'s|\s+is|\s+are)\s+(?:an?\b|the\s+(?:difference|meaning|definition|purpose|point|syntax|best\s+way"
    r"|time\s+complexity|space\s+complexity|capital|easiest|right\s+way|idea\s+behind|opposite)\b)"
    r"|what(?:'s|\s+is|\s+are)\s+(?!the\b)[a-z]+(?:\s[a-z]+){0,2}\s*\?*\s*$"
    r"|what\s+(?:do|does)\s+(?!we\b|our\b|this\b|that\b|it\b).{1,60}?\s+(?:mean|stand\s+for)\b"
    r"|(?:write|compose|recommend|suggest|plan|draw|invent|imagine)\s+(?:me\s+)?(?:an?|some|the)\b"
    r"|(?:difference|differences)\s+between\b"
    r")",
    re.IGNORECASE,
)
_OURS: Final = re.compile(
    r"\b(?:we|we're|we've|our|ours|us|my|mine|this|these|here|currently|project|repo|repository|codebase|app"
    r"|team|did|was|were|had|decided?|agreed?|chose|chosen|prefer(?:red|s)?|earlier|before|last|previous(?:ly)?"
    r"|remember|remind|again|already)\b|[\w-]+[/_.]\w+|\w-\w+-?\w*\b(?=['’]s)",
    re.IGNORECASE,
)

_LEAD: Final = r"^\W*(?:(?:please|so|and|but|hey|hi|ok(?:ay)?|quick\s+question|by\s+the\s+way|just\s+curious)\W+)*"
_RECALL: Final = r"(?:remind|tell|say|recall|explain|show|describe|list|summari[sz]e|walk)\b"
_QUESTION: Final = re.compile(
    _LEAD + r"(?:(?:who|what|which|when|where|why|how|whose)(?:['’]s)?\b|(?:remind|tell)\s+me\b)|[?？][\"')\s]*$",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    _LEAD + rf"(?:can|could|would|will)\s+(?:you|we)\s+(?:please\s+)?(?!{_RECALL})", re.IGNORECASE
)

_SAYS_NO_SUBJECT: Final = frozenset(
    """
    amount approach area aspect category cause choice component concern consequence count decision detail difference
    effect example feature form format function goal idea infrastructure issue item kind layer level library list manner
    mechanism method mode name number option order outcome part pattern platform point problem procedure process
    property provider purpose reason result role rule sequence service set setup size solution step strategy structure
    style system target task technique technology thing tool topic type value way
    last latest new newest next old oldest previous recent related respective still versus vs
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that say what kind of answer is wanted, singular, and from when. General; of no data's making."""

LONG: Final = 400
"""Characters from which a prompt says enough to be about something."""


def says_nothing(prompt: str) -> bool:
    """Whether a prompt is made of nothing but small talk and of words for what lies on the screen.

    "Thanks!", "run the tests" and "what does this error mean?" are; "which command runs the tests?" is a question of
    its own, and one word that is about something ("fix login") is enough to ask with.
    """
    if len(prompt) > LONG:
        return False
    words = set(terms(prompt))
    if not words <= _NOTHING:
        return False
    return not words or not _ASKS.search(prompt) or bool(_HERE.search(prompt))


def says_little(prompt: str) -> bool:
    """Whether an instruction has but one word that is about something, and many others: "convert this to async"."""
    words = set(terms(prompt))
    return len(prompt) <= LONG and len(words - _NOTHING) == 1 and not _ASKS.search(prompt)


def is_general(prompt: str) -> bool:
    """Whether a prompt asks about the world ("what is a monad?", "how do I exit vim?"), by its form alone.

    Nothing in it points to the work at hand: no "we", "our" or "this", no past, no path or identifier.
    """
    return len(prompt) <= LONG and bool(_GENERAL.match(prompt)) and not _OURS.search(prompt)


def asks(prompt: str) -> bool:
    """Whether a prompt wants to know something: by its first words, or by the mark at its end.

    "Can you add a retry?" is an instruction; "can you remind me how we retry?" is none.
    """
    return len(prompt) <= LONG and bool(_QUESTION.search(prompt)) and not _REQUEST.search(prompt)


def says_subject(word: str) -> bool:
    """Whether a lower-case word of a question may say what it is about, and not only what kind of answer is wanted
    ("which library"), from when ("the last"), or how ("exactly")."""
    forms = (word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word))
    return not (word.endswith("ly") and len(word) > 5) and _SAYS_NO_SUBJECT.isdisjoint(forms)


def about(prompt: str) -> list[str]:
    """The words that a prompt is about something with, in order; none where it says nothing or asks about the world.

    "Add a test for the billing worker" is about the billing worker; of a question ("Which command runs the tests?")
    every word counts.
    """
    if says_nothing(prompt) or is_general(prompt):
        return []
    words = list(dict.fromkeys(terms(prompt)))
    return words if asks(prompt) else [word for word in words if word not in _NOTHING] or words
