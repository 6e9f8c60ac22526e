"""The words by which people state decisions, rules, preferences, tasks, facts, dead ends and how things are built.

Each row: name, shelf, weight, trigger words, flags, pattern. Of the trigger words one must stand in the sentence (after
``&``: and one of these besides). Flags: ``user`` for a person's words only, ``firm`` for what only holds when it is
settled, ``choice`` for words of deciding, which "not yet" turns around. Patterns ignore case.
"""

from __future__ import annotations

from typing import Final

_STOP: Final = (
    r"for|because|since|as|in|on|at|due|instead|and|but|so|to|with|by|over|from|rather|when|while|if|until|which"
    r"|that|now"
    r"|everywhere|here|then|not|after|before|is|are|was|were|will|would|should|we|it|they|i|or|than|per|via|through"
    r"|again|too|this|next|them|him|her|me|us|its|their"
)
_NAME: Final = r"[`\"']?[\w@][\w@./+#:-]*[`\"']?"
PHRASE: Final = rf"(?:(?:the|a|an|our|your|my)\s+)?(?!(?:{_STOP})\b){_NAME}(?:\s+(?!(?:{_STOP})\b){_NAME}){{0,3}}"
"""A noun phrase, near enough: up to four words until a preposition, a conjunction or a verb of being."""

_OLD: Final = rf"(?P<old>{PHRASE})"
_NEW: Final = rf"(?P<new>{PHRASE})"
_FOR: Final = rf"(?:\s+(?:for|as|in)\s+(?P<aim>{PHRASE}))?"
_WE: Final = r"(?:we|i|the\s+team|everyone|they|he|she|user|the\s+user|(?-i:[A-Z][a-z]+))"
_LETS: Final = (
    r"(?:let's|lets|let\s+us|we'll|we\s+will|i'll|i\s+will|we're\s+going\s+to|we\s+are\s+going\s+to"
    r"|i\s+want\s+(?:us\s+|you\s+)?to"
    r"|we\s+want\s+to|i'd\s+like\s+(?:us\s+|you\s+)?to|i\s+also\s+want\s+to|we\s+should\s+just|just|please|we\s+now)"
)
_OPEN: Final = (
    r"(?:^|[,;:.—(]\s*|\s-\s+|\b(?:and|but|please|so|also|ok|okay|yes|no|just|then|always|should|must|we|to|you|i"
    r"|well|right|remember)[,:]?\s+)"
)
_DAY: Final = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|tomorrow|tonight|eod|eow|end\s+of\s+(?:the\s+)?\w+|next\s+\w+"
    r"|q[1-4]\b"
    r"|(?:january|february|march|april|may|june|july|august|september|october|november|december)(?:\s+\d+)?"
    r"|\d{4}-\d\d-\d\d|the\s+\d+(?:st|nd|rd|th)"
)

TABLE: Final[tuple[tuple[str, str, float, str, str, str], ...]] = (
    # ---- decisions
    ("decided", "decision", 0.5, "decided", "firm choice",
     rf"(?:^|\b{_WE}\s+(?:have\s+|had\s+|has\s+|all\s+|both\s+)?(?:\w+ly\s+|just\s+|now\s+|already\s+)?"
     rf"|\b{_WE}'ve\s+(?:\w+\s+)?|,\s*|\b(?:and|so|it\s+was|not|never|haven't|hasn't|hadn't)\s+)"
     rf"decided\b(?:\s+(?:not\s+)?(?:on|to\s+(?:use|go\s+with|keep)|to|against|for|that|upon))?(?:\s+{_NEW}{_FOR})?"),
    ("decision", "decision", 0.5, "decision", "firm choice",
     r"\b(?:the|my|our|final|a|team)?\s*decision(?:\s+(?:is|was|made|taken)\b(?!\s+(?:documented|recorded|written"
     r"|described|in\b|not\b|pending|still|up\b|yours|hard|easy))|\s+on\s+[\w\s`-]{2,40}:|\s*:)"),
    ("agreed", "decision", 0.45, "agreed", "firm choice",
     rf"\b(?:{_WE}\s+(?:have\s+|'ve\s+|all\s+|both\s+|\w+ly\s+)*|and\s+)agreed\b|\bagreed\s*(?::|to\b|on\b|that\b)"
     rf"|\bit\s+(?:was|is)\s+agreed\b"),
    ("chose", "decision", 0.45,
     "chose chosen picked settled opted landed standardized standardised standardizing standardising went",
     "firm choice",
     rf"(?:^|\b{_WE}(?:'ve|\s+have)?\s+(?:\w+ly\s+|also\s+|just\s+)?|\b(?:was|were|and|so)\s+)"
     rf"(?:chose(?:n)?|picked|settled\s+(?:on|for)|opted\s+(?:for|to)|landed\s+on|went\s+with|standardi[sz](?:ed"
     rf"|ing)\s+on)\b(?:\s+{_NEW}{_FOR})?"),
    ("go-with", "decision", 0.45, "go going stick sticking", "firm",
     rf"(?:^|[,.;:—]\s*|\b(?:{_LETS}|we're|we\s+are|i'm|i\s+am|and|then|ok|okay|yes|so)\s+)(?:go(?:ing)?\s+with"
     rf"|stick(?:ing)?\s+(?:with|to))\s+{_NEW}{_FOR}"),
    ("will-use", "decision", 0.4,
     "use adopt keep store host deploy target support standardize standardise build base drop", "firm user",
     rf"\b{_LETS}\s+(?:just\s+|only\s+|all\s+|rather\s+|always\s+)?(?:use|adopt|keep|store|host|target|support"
     rf"|deploy\s+(?:to|on)|standardi[sz]e\s+on|build\s+(?:on|it\s+on)|base\s+(?:it|this)\s+on)\s+{_NEW}{_FOR}"),
    ("want", "decision", 0.3,
     "want", "firm user",
     rf"\bi\s+(?:also\s+|really\s+|only\s+|just\s+)?want\s+(?!you\b|us\b|me\b|it\b|that\b|this\b|these\b|more\b"
     rf"|a\s+(?:list|summary|quick|few)\b){_NEW}"),
    ("requirement", "decision", 0.25, "sure ensure", "firm user",
     r"^(?:and\s+|also\s+|please\s+|but\s+|yes,?\s+|good[.,]?\s+)*(?:make\s+sure"
     r"|ensure)\s+(?:that\s+)?(?!.*\b(?:tests?|build|everything|it|this|nothing|all|ci)\s+(?:still\s+|is\s+|are\s+"
     r"|now\s+)?(?:pass|work|compile|run|build|green|fine|break)|you\b|to\b|there\b|it\b|this\b)\w+"),
    ("should-be", "decision", 0.2, "should", "firm user",
     r"^(?!this\b|it\b|that\b|i\b|you\b|we\b|there\b|what\b|they\b)(?:[\w`'./-]+\s+){1,5}should\s+(?:always\s+"
     r"|only\s+|never\s+|not\s+|all\s+)*(?:be|use|have|go|return|live|stay|come|run|get|support|accept|include"
     r"|contain|default)\b"),
    ("will-use", "decision", 0.35, "using", "firm",
     rf"\b(?:we're|we\s+are)\s+(?:now\s+|all\s+)?using\s+{_NEW}{_FOR}"),
    ("switch", "decision", 0.45, "switch switching switched migrate migrating migrated move moving moved", "firm",
     rf"(?<!\bi )(?<!\bi'm )"
     rf"\b(?:switch(?:ing|ed)?|migrat(?:e|ing|ed)|mov(?:e|ing|ed))\s+(?:over\s+|away\s+|entirely\s+|back\s+"
     rf"|everything\s+)*(?:from\s+{_OLD}\s+(?:over\s+)?)to\s+{_NEW}{_FOR}"),
    ("switch", "decision", 0.45, "switching switch switched migrating moving move migrate", "firm",
     rf"(?:^(?=\w+ing\b)|\b(?:{_LETS}|we're|we\s+are|we've|we\s+have|we)\s+)(?:switch(?:ing|ed)?|migrat(?:e|ing|ed)"
     rf"|mov(?:e|ing|ed))\s+(?:[\w`-]+\s+){{0,4}}?(?:over\s+|entirely\s+|back\s+)?to\s+(?!see\b|get\b|make\b|avoid\b"
     rf"|the\s+next\b){_NEW}{_FOR}"),
    ("move-away", "decision", 0.4, "away", "firm",
     rf"\b(?:mov(?:e|ing)|switch(?:ing)?|migrat(?:e|ing))\s+away\s+from\s+{_OLD}"),
    ("replace", "decision", 0.3, "replace replacing replaced", "firm",
     rf"(?:^|\b(?:{_LETS}|we're|we\s+are|we|and)\s+)replac(?:e|ing|ed)\s+{_OLD}\s+(?:with|by)\s+{_NEW}{_FOR}"),
    ("instead", "decision", 0.4, "instead rather", "firm",
     rf"\b(?:use|using|take|adopt|pick|choose|prefer)\s+{_NEW}{_FOR},?\s+(?:instead\s+of|rather\s+than"
     rf"|in\s+place\s+of)\s+{_OLD}"),
    ("instead", "decision", 0.4, "instead", "firm",
     rf"\binstead\s+of\s+{_OLD},?\s+(?:we\s+|let's\s+|we'll\s+|please\s+)?(?:use|using|take|adopt)\s+{_NEW}{_FOR}"),
    ("instead", "decision", 0.4, "instead", "firm", rf"\b(?:use|using|take|adopt|try)\s+{_NEW}{_FOR},?\s+instead\b"),
    ("drop", "decision", 0.4,
     "dropping drop removing abandoning ditching ditch retiring sunsetting deprecating delaying postponing delay"
     " postpone rid", "firm",
     rf"(?!.{{0,140}}\b(?:would|allows?|fix(?:es|ed)?|solve[sd]?|works?|helps?)\b)"
     rf"(?:^|\b(?:{_LETS}|we're|we\s+are|we've|user|decided\s+to)\s+)(?:dropping|drop|removing|abandoning|ditching"
     rf"|ditch|retiring|sunsetting|deprecating|delay(?:ing)?|postpon(?:e|ing)|getting\s+rid\s+of"
     rf"|get\s+rid\s+of)\s+{_OLD}"),
    ("no-more", "decision", 0.4, "more longer anymore & no don't not", "firm",
     rf"(?:^|[:,;]\s*)no\s+more\s+{_OLD}|\b(?:we|i)\s+(?:no\s+longer|don't|do\s+not)\s+(?:\w+\s+){{1,4}}(?:anymore"
     rf"|any\s+more|any\s+longer)\b|\bwe\s+no\s+longer\s+\w+\s+\w+"),
    ("wont", "decision", 0.4, "won't will aren't not & we", "firm",
     rf"\bwe\s+(?:won't|will\s+not|aren't\s+going\s+to|are\s+not\s+going\s+to|will\s+only|will\s+never)\s+(?:use"
     rf"|support|store|ship|allow|need|keep|add|build|do|offer|have|run|depend)\b(?:\s+{_OLD})?"),
    ("it-is", "decision", 0.4,
     "it", "firm user",
     rf"^(?:ok(?:ay)?,?\s+|alright,?\s+|yes,?\s+|fine,?\s+)?{_NEW}\s+it\s+is\b"),
    ("signed-off", "decision", 0.35,
     "signed approved", "firm choice",
     r"\b(?:signed\s+off(?:\s+on)?|approved\s+(?:the|our|this|it|using))\b"),
    ("turned-out", "decision", 0.4, "turned & use using go going switch switching switched move moving moved", "firm",
     rf"\b{_OLD}\s+turned\s+out\b.{{3,120}}?\b(?:use|using|go(?:ing)?\s+with|switch(?:ing|ed)?\s+to|mov(?:e|ing"
     rf"|ed)\s+to)\s+{_NEW}"),
    # ---- rules for everybody
    ("from-now-on", "convention", 0.5, "now forward future onwards onward & from going moving in", "",
     r"\b(?:from\s+now\s+on(?:wards?)?|going\s+forward|from\s+here\s+on|in\s+(?:the\s+)?future,|moving\s+forward)"),
    ("convention", "convention", 0.45, "convention conventions guideline guidelines", "",
     r"\bconventions?(?:\s+(?:is|are|here|for|in)\b|\s*:)|\bby\s+convention\b|\b(?:our|the|house|style"
     r"|coding)\s+(?:style|guidelines?)\s+(?:is|are|says?)\b"),
    ("always", "convention", 0.4, "always", "",
     rf"{_OPEN}always\s+(?!fail|been\b|return|get|throw|the\s+case|was\b|is\b|had\b|have\s+(?:been|had)|work|happen"
     rf"|crash|seem|want|thought|show|give|take|need|been)\w+"),
    ("in-this-repo", "convention", 0.35, "repo repository project codebase & this our the", "",
     r"\bin\s+(?:this|our|the)\s+(?:repo(?:sitory)?|project|codebase|code\s+base)\b,?\s+(?:we|all|every|use|never"
     r"|always|tests?|code)\b|\bwe\s+.{3,60}\bin\s+this\s+(?:repo(?:sitory)?|project|codebase)\b"),
    ("every-should", "convention", 0.35,
     "every each all any new & must should need needs has have goes lives gets go live get is are", "",
     r"\b(?:all|every|each|any|new)\s+(?:[\w`/.-]+\s+){1,4}?(?:must|should|needs?\s+to|ha(?:s|ve)\s+to"
     r"|go(?:es)?\s+(?:in|to|into|under|through)|lives?\s+(?:in|under)|gets?\s+an?|(?:is|are)\s+to\s+be)\b"),
    ("make-sure-every", "convention", 0.35, "sure ensure", "user",
     r"\b(?:make\s+sure|ensure)\s+(?:that\s+)?(?:all|every|each|any|you\s+(?:always|never)|we\s+(?:always|never)"
     r"|to\s+always|no\s)"),
    ("use-imperative", "convention", 0.3, "use prefer", "user",
     rf"^(?:please\s+|also\s+|and\s+|yes,?\s+|ok,?\s+|no,?\s+)*(?:use|prefer)\s+{_NEW}(?:\s+(?:for|in|as|when"
     rf"|whenever|over|not)\b|,\s+not\b|\s+everywhere\b)"),
    ("correction", "convention", 0.4, "no nope told asked said & use put keep call name run write you to that", "user",
     rf"^(?:no|nope|wrong)\s*[,!:—-]+\s*(?:please\s+|just\s+)?(?:use|put|keep|call|name|run|write)\s+{_NEW}"
     r"|\bi\s+(?:already\s+)?(?:told|asked)\s+you\s+(?:\w+\s+)?(?:to|not\s+to|that\s+we)\s+\w+"),
    ("prefer-over", "convention", 0.35, "prefer", "user", rf"^(?:please\s+)?prefer\s+{_NEW}"),
    ("we-habit", "convention", 0.35, "always usually normally typically generally only & we", "",
     r"\bwe\s+(?:always|usually|normally|typically|generally|only\s+ever)\s+\w+"),
    ("named", "convention", 0.3, "named called prefixed suffixed formatted indented sorted written documented", "",
     r"\b(?:should|must|has\s+to|have\s+to)\s+(?:always\s+|all\s+|be\s+)*(?:named|prefixed|suffixed|formatted"
     r"|indented|sorted|documented)\s+\w+"
     r"|\bare\s+(?:always\s+|all\s+)*(?:named|prefixed|suffixed|indented)\s+\w+"),
    ("run-before", "convention", 0.35, "before run runs running", "user",
     r"^(?:please\s+|always\s+|and\s+)?run\s+`?[\w./ -]+`?\s+before\b|\bbefore\s+(?:every|each|any|committing"
     r"|pushing|merging|opening|you\s+(?:commit|push|say))\b"),
    ("how-to-run", "convention", 0.35, "run use test tests build deploy", "user",
     r"\b(?:to\s+(?:run|build|test|deploy|lint|start|release|format|migrate)\b.{0,40},?\s+(?:run|use|do|call)\s+`"
     r"|(?:run|start|build)\s+(?:the\s+)?[\w ]{2,25}\s+(?:with|via|using|by\s+running)\s+`)"),
    ("live-in", "convention", 0.3,
     "live lives belong belongs go goes & test tests fixture fixtures migration migrations doc docs script scripts"
     " type types helpers component components config configs secret secrets model models route routes handler"
     " handlers", "",
     r"\b(?:tests?|fixtures?|migrations?|docs?|scripts?|types?|helpers?|components?|configs?|secrets?|models?"
     r"|routes?|handlers?)\s+(?:always\s+|all\s+|should\s+|must\s+)?(?:lives?|belongs?|go(?:es)?)\s+(?:in|under|into"
     r"|to|next)\b"),
    ("only-kind", "convention", 0.35,
     "only", "user",
     r"^(?:and\s+|also:?,?\s+)*(?:[\w-]+\s+){1,3}only\b(?:\s*[—,.-]|\s+(?:in|for|on|please)\b|$)"),
    # ---- what is not allowed, and what is required
    ("never", "policy", 0.45, "never", "",
     rf"{_OPEN}never\s+(?!mind|been|seen|had\b|have\b|worked|heard|knew|happened|get|got|return|finish|fail|call(?:s"
     rf"|ed)|used\b|was|is\b|did|saw|tried|set\b|reach|again)\w+|\bmust\s+never\b|\bshould\s+never\b"
     rf"|\bnever\s+ever\b"),
    ("do-not", "policy", 0.35, "don't not dont avoid stop no", "user",
     r"(?:^|[,;:.—(]\s*|\s-\s+|\b(?:please|and|but|so|also|we|no|ok|again),?\s+)(?:do\s+not|don't|dont|avoid"
     r"|stop)\s+(?:ever\s+|just\s+)?"
     r"(?:us(?:e|ing)|add(?:ing)?|commit(?:ting)?|push(?:ing)?|touch(?:ing)?|modify(?:ing)?|edit(?:ing)?|chang(?:e"
     r"|ing)|creat(?:e|ing)|writ(?:e|ing)|mock(?:ing)?|import(?:ing)?"
     r"|log(?:ging)?|stor(?:e|ing)|put(?:ting)?|mention(?:ing)?|includ(?:e|ing)|generat(?:e|ing)|delet(?:e|ing)"
     r"|remov(?:e|ing)|install(?:ing)?|hard-?cod(?:e|ing)|amend(?:ing)?"
     r"|squash(?:ing)?|rebas(?:e|ing)|merg(?:e|ing)|skip(?:ping)?|disabl(?:e|ing)|rely(?:ing)?|expos(?:e|ing)"
     r"|catch(?:ing)?|swallow(?:ing)?|introduc(?:e|ing)|bump(?:ing)?|upgrad(?:e|ing)"
     r"|call(?:ing)?|depend(?:ing)?|format(?:ting)?|refactor(?:ing)?|renam(?:e|ing)|summari[sz](?:e|ing)"
     r"|apologi[sz](?:e|ing)|explain(?:ing)?)\b"),
    ("not-allowed", "policy", 0.4,
     "allowed forbidden prohibited required mandatory approval limits banned must mustn't permitted", "",
     r"\b(?:must\s+not|mustn't|(?:is|are|'s)\s+not\s+(?:allowed|permitted)|not\s+allowed\s+to|(?:is"
     r"|are)\s+(?:forbidden|prohibited|banned|mandatory|off[- ]limits)|must\s+always"
     r"|requires?\s+(?:an?\s+|explicit\s+|written\s+)*(?:approval|review|sign-?off)|needs?\s+(?:an?\s+"
     r"|explicit\s+)*(?:approval|sign-?off))\b"),
    ("must", "policy", 0.3, "must", "user",
     r"\b(?:it|we|they|everything|everyone|the\s+[\w`-]+(?:\s+[\w`-]+)?|[a-z]+s)\s+must\s+(?:be|have|use|come|go"
     r"|stay|remain|run|pass|work|return|match|keep|support|handle|only|include|contain)\b"),
    ("only", "policy", 0.4,
     "only", "user",
     r"\b(?:migrations?|changes?|deploys?|releases?|commits?|access|writes?|secrets?)\s+(?:are|is|must\s+be|go"
     r"|happens?)\s+[\w-]*\s*only\b|\bonly\s+(?:ever\s+)?(?:deploy|merge|commit|release|push)\b"),
    # ---- what somebody likes
    ("prefer", "preference", 0.45, "prefer prefers preferred", "",
     rf"\b{_WE}\s+(?:(?:also|really|strongly|generally|usually|much|would|always|do|still|personally)\s+)*prefer(?:s"
     rf"|red)?\b"),
    ("rather", "preference", 0.45,
     "rather & i'd we'd he'd she'd they'd would", "",
     rf"\b{_WE}(?:'d|\s+would)\s+(?:much\s+)?rather\b"),
    ("like", "preference", 0.35,
     "like love hate dislike stand likes loves hates dislikes enjoy & i we he she they user", "",
     rf"\b{_WE}\s+(?:(?:really|also|absolutely|generally|usually|personally|do|don't|do\s+not|doesn't|can't"
     rf"|cannot)\s+)*(?:like|love|hate|dislike|stand|enjoy|likes|loves|hates|dislikes)\s+(?!it\b|that\b|this\b"
     rf"|to\s+(?:see|know|add|ask|have|get)\b|the\s+idea)"),
    ("my-preference", "preference", 0.45, "preference preferences favourite favorite taste aesthetic style", "",
     r"\b(?:my|her|his|their|our|personal)\s+(?:\w+\s+)?(?:preferences?|favou?rite|taste|aesthetic)\b"),
    ("want-you", "preference", 0.35, "want need like", "user",
     r"\bi\s+(?:always\s+|really\s+|generally\s+)?(?:want|need|like)\s+you\s+to\s+(?:always|never|only|be|keep"
     r"|explain|answer|ask|stop|write|respond|tell)\b|\bi\s+(?:always|only|never)\s+want\b"),
    ("be-style", "preference", 0.35,
     "concise brief terse short shorter answers answer reply respond replies responses explanations emojis emoji"
     " verbose", "user",
     r"\b(?:be|stay|keep\s+(?:it|answers?|replies|responses|explanations|commit\s+messages|summaries))\s+(?:more\s+"
     r"|very\s+|as\s+)?(?:concise|brief|terse|short(?:er)?|direct|minimal)\b"
     r"|\b(?:answer|reply|respond|write)\s+(?:to\s+me\s+)?(?:only\s+|always\s+)?in\s+[A-Z]?\w+|\bno\s+emojis?\b"
     r"|\bless\s+verbose\b"),
    # ---- what is still to be done
    ("todo", "task", 0.45, "todo fixme tbd", "", r"\b(?:TODO|FIXME|TBD)\b|^todo\b"),
    ("promised", "task", 0.45, "promised committed committing pledged", "",
     r"(?:^|—\s*|\b(?:i|we|i've|we've|have|and|yes),?\s+(?:\w+ly\s+)?)(?:promised|committed\s+to|committing\s+to"
     r"|pledged)\b"),
    ("dont-forget", "task", 0.4, "forget remind remember", "user",
     r"\b(?:don't\s+forget|remind\s+me|remember)\s+to\b|\b(?:don't|do\s+not)\s+let\s+me\s+forget\b"),
    ("still-to-do", "task", 0.4,
     "still remaining left not followup follow & to missing pending outstanding need needs open have has implemented"
     " done handled covered finished wired work task tasks item items step steps up", "",
     r"\bstill\s+(?:to\s+(?:do|be\s+\w+)|to-do|missing|pending|outstanding|needs?\s+(?:to\b|an?\b|the\b|\w+ing\b)"
     r"|open\b|have\s+to|has\s+to|need\s+to)\b|\bis\s+still\s+to\b"
     r"|\bnot\s+(?:yet\s+)?(?:implemented|done|handled|covered|finished|wired)\s*(?:yet)?\b|\bremaining\s+(?:work"
     r"|tasks?|items?|steps?)\b|\bleft\s+to\s+(?:do|implement|fix)\b"
     r"|\b(?:as|in)\s+an?\s+follow[- ]?up\b|\bfollow[- ]?up\s*:"),
    ("deferred", "task", 0.35,
     "later tomorrow next eventually before until by week sprint month release launch monday tuesday wednesday"
     " thursday friday & need needs needed have has must should will we'll i'll plan planning want wants going", "",
     rf"\b(?:need(?:s|ed)?\s+to|have\s+to|has\s+to|must|should|will|we'll|i'll|plan(?:ning)?\s+to|want(?:s)?\s+to"
     rf"|going\s+to)\b.{{2,100}}?\b(?:later|eventually|at\s+some\s+point|before\s+(?:the\s+|we\s+)?(?:release|launch"
     rf"|ship|merge|go(?:es|ing)?\s+live|demo)|(?:by|until|before|on|next|this)\s+(?:{_DAY})|{_DAY})"),
    ("will-elliptic", "task", 0.35,
     "will", "user",
     r"^(?:will|plan\s+to|planning\s+to|aiming\s+to|need\s+to)\s+(?!you|we|it|this|that|the|there|they|he|she|i\b"
     r"|be\b)[a-z]+"),
    ("doing-elliptic", "task", 0.3,
     "updating scheduling preparing drafting reviewing sending arranging setting planning booking", "user",
     r"^(?:updating|scheduling|preparing|drafting|reviewing|sending|arranging|setting\s+up|planning"
     r"|booking)\s+(?:the|a|an|our|my|all)\b"),
    ("due", "project", 0.35,
     "deadline due deadlines", "",
     rf"\b(?:deadline|due)\s+(?:is\s+|date\s+)?(?:on|by|for|{_DAY})|\bdeadline\b.{{0,40}}\b(?:{_DAY})"),
    # ---- what somebody holds
    ("opinion", "judgment", 0.35,
     "think believe feel find opinion view imo imho take honestly skeptical sceptical convinced argue doubt frankly"
     " read overrated underrated sense", "user",
     r"\bi(?:'m|\s+am|'d|\s+would)?\s+(?:really\s+|still\s+|honestly\s+|strongly\s+|also\s+|personally\s+)*(?:think"
     r"|believe|feel|find|doubt|argue|skeptical|sceptical|convinced|not\s+convinced|wary|worried)\b"
     r"|\bin\s+my\s+(?:opinion|view|experience|mind)\b|\bim(?:h)?o\b|\bmy\s+(?:take|opinion|view|read|sense|gut)\b"
     r"|^(?:honestly|frankly|personally)\b|\b(?:over|under)rated\b"),
    ("suspicion", "hypothesis", 0.3,
     "suspect guess probably likely seems might could suspicion theory hunch & suspect my because caused due related"
     " race cause culprit reason", "",
     r"\bi\s+suspect\b|\bmy\s+(?:guess|theory|hunch|suspicion)\b|\b(?:probably|likely|seems?\s+to\s+be|might\s+be"
     r"|could\s+be)\s+(?:because|caused\s+by|due\s+to|related\s+to|a\s+race|the\s+(?:cause|culprit|reason))\b"),
    # ---- facts
    ("for-the-record", "fact", 0.45,
     "fact facts record reference information fyi note mind know noting filing knowing remembering remember heads"
     " important aware nb file context gotcha mention & for worth note fyi keep bear good heads important remember"
     " aware nb gotcha mention facts", "",
     r"\bfacts?\s+(?:for|worth|to)\b|\bfor\s+(?:the\s+record|reference|the\s+file|your\s+information"
     r"|future\s+reference|context)\b|^(?:also,?\s+)?(?:fyi|nb|note|important|heads[- ]up|gotcha|remember"
     r"|also\s+remember)\b\s*[,:]"
     r"|\bfyi\b|\b(?:keep|bear)\s+in\s+mind\b|\bgood\s+to\s+know\b|\bworth\s+(?:noting|filing|knowing|remembering)\b"
     r"|^(?:please\s+)?(?:note|remember|be\s+aware)\s+that\b|\bi\s+should\s+mention\b"),
    ("learned", "fact", 0.4,
     "turns learned lesson confirmed verified found discovered figured measured & i we i've we've out lesson"
     " confirmed verified learned measured", "",
     r"\b(?:it\s+)?turns\s+out\b|\b(?:i|we)(?:'ve|\s+have)?\s+(?:just\s+)?(?:learned|found\s+out|discovered"
     r"|figured\s+out|confirmed|verified|measured)\b|^(?:confirmed|verified|learned|measured)\b|\blesson\s+learned\b"),
    ("limit", "fact", 0.35,
     "limit limits limited expires expire times defaults default capped maximum maxes max supports support requires"
     " require works work allows allow accepts accept run runs & is are of to after in every at only not doesn't"
     " don't cannot can't requires require supports up", "",
     r"\b(?:limits?\s+(?:is|are|of)|limited\s+to|expires?\s+(?:after|in|every)|times?\s+out\s+after|defaults?\s+to"
     r"|(?:is\s+)?capped\s+at|max(?:es|imum)?\s+(?:out\s+at|is|of)|only\s+(?:supports?|works?|accepts?|runs?"
     r"|allows?)"
     r"|(?:does\s+not|doesn't|do\s+not|don't|cannot|can't)\s+support|requires?\s+(?:at\s+least\s+|an?\s+)?[\w`.]+"
     r"|supports?\s+(?:only|up\s+to))\b"),
    ("runs-on", "fact", 0.3,
     "runs run running deployed hosted production prod staging ci & production prod staging ci we're we it"
     " everything on", "",
     r"\b(?:we're|we\s+are|production|prod|staging|ci|it|the\s+(?:api|app|site|service|database|db|server|backend"
     r"|frontend|worker|website|cluster)|everything)\s+(?:is\s+|are\s+)?(?:still\s+|currently\s+)?(?:runs?|running"
     r"|hosted|deployed)\s+(?:on|in|at|under|as)\b|\b(?:production|prod|staging|ci)\s+(?:is|uses)\b"),
    ("we-use", "architecture", 0.35, "use uses built written & we our built written", "",
     rf"\b(?:(?:we|our\s+\w+)\s+(?:currently\s+|already\s+|now\s+|only\s+|all\s+)*uses?|(?:the"
     rf"|our)\s+\w+(?:\s+\w+)?\s+is\s+(?:built\s+(?:on|with)|written\s+in))\s+{_NEW}{_FOR}"),
    ("project", "project", 0.35,
     "api app application service site website tool library platform project bot dashboard cli", "user",
     r"^(?:it's|it\s+is|this\s+is|we're\s+building|we\s+are\s+building|i'm\s+building|i\s+am\s+building|we\s+build"
     r"|this\s+(?:project|repo|repository|app)\s+is)\s+(?:an?|the|our)\s+"),
    # ---- how it is built
    ("lives", "architecture", 0.35,
     "stored located kept defined configured served backed implemented generated lives sits registered wired handled"
     " computed cached persisted", "",
     r"\b(?:is|are|gets?)\s+(?:\w+ly\s+)?(?:stored|located|kept|defined|configured|served|backed|implemented"
     r"|generated|registered|wired|handled|computed|cached|persisted|loaded|created)\s+(?:in|at|under|by|from|on"
     r"|with|inside|via|as)\b|\b(?:lives?|sits)\s+(?:in|at|under|behind|between|on)\b"),
    ("does", "architecture", 0.35,
     "responsible consists depends reads writes publishes subscribes talks delegates wraps flows goes architecture"
     " pipeline source layer split divided organized organised structured claims polls listens renders validates"
     " dispatches sends receives", "",
     r"\b(?:is|are)\s+responsible\s+for\b|\bconsists?\s+of\b|\b(?:is|are)\s+(?:split|divided|organi[sz]ed"
     r"|structured)\s+(?:into|as|by)\b|\bdepends?\s+on\b|\b(?:reads?|pulls?|loads?)\s+(?:\w+\s+){0,3}from\b"
     r"|\bwrites?\s+(?:\w+\s+){0,3}(?:to|into)\b"
     r"|\b(?:publishes?|subscribes?|talks?|delegates?|listens)\s+(?:\w+\s+){0,2}(?:to|on)\b|\bflows?\s+(?:through"
     r"|from|into)\b|\bgoes\s+through\b|\bsource\s+of\s+truth\b|\b(?:claims|polls|renders|validates|dispatches"
     r"|wraps)\s+\w+"),
    ("component", "architecture", 0.35,
     "module service component layer class function entry handler worker middleware point", "",
     r"\b(?:is|are)\s+(?:the|a|an|our)\s+(?:\w+\s+){0,2}(?:layer|module|service|component|class|function"
     r"|entry\s*point|handler|worker|middleware|facade|gateway|wrapper)\s+(?:that|which|for|of|between)\b"
     r"|\bentry\s*points?\s+(?:is|are|for)\b"),
    # ---- who is who
    ("person", "people", 0.4,
     "lead manager owner maintainer engineer developer designer cto ceo pm reviewer admin client customer contact"
     " boss founder architect analyst stakeholder scientist student teacher author", "",
     r"\b(?:i'm|i\s+am|(?-i:[A-Z][a-z]+)(?:\s+(?-i:[A-Z][a-z]+))?\s+is|(?:he|she)\s+is)\s+(?:the|an?|our"
     r"|my)?\s*(?:[\w-]+\s+){0,3}?(?:lead|manager|owner|maintainer|engineer|developer|designer|cto|ceo|pm|reviewer"
     r"|admin|client|customer|contact|boss|founder|architect|analyst|stakeholder|scientist|student|teacher"
     r"|author)\b(?!\s+(?:should|needs|wants|of\s+the\s+bug))"),
    ("owns", "people", 0.4, "owns maintains leads manages reviews ask call", "",
     r"\b(?-i:[A-Z][a-z]+)(?:\s+(?-i:[A-Z][a-z]+))?\s+(?:owns|maintains|leads|manages|reviews"
     r"|is\s+on\s+call\s+for)\s+|\bask\s+(?-i:[A-Z][a-z]+)\s+(?:about|for|before|if)\b"),
    ("my-name", "people", 0.45, "name", "user", r"\bmy\s+name\s+is\b|\bcall\s+me\s+(?-i:[A-Z])"),
    # ---- what did not work
    ("tried", "dead-end", 0.45,
     "tried attempted trying & but didn't did failed fails without doesn't still same luck", "",
     r"\b(?:tried|attempted|trying)\b.{3,160}?\b(?:but|didn't|did\s+not|no\s+luck|failed|fails|without\s+success"
     r"|doesn't|still|same\s+(?:error|result))\b"),
    ("did-not-work", "dead-end", 0.4, "work & didn't didnt did doesn't doesnt does won't will can't cannot", "",
     r"\b(?:did\s*n(?:'|o)t|did\s+not|does\s*n(?:'|o)t|does\s+not|won't|will\s+not|can't|cannot)\s+work\s+(?:because"
     r"|since|as|with|for|on|either|here|when|in|well)\b"),
    ("dead-end", "dead-end", 0.45, "dead gave giving viable feasible option waste", "",
     r"\bdead[- ]end\b|\b(?:gave|giving)\s+up\s+on\b|\b(?:not|isn't|n't)\s+(?:really\s+)?(?:an?\s+option|viable"
     r"|feasible)\b|\bwaste\s+of\s+time\b"),
    ("turned-out-bad", "dead-end", 0.4, "turned", "",
     r"\bturned\s+out\s+(?:to\s+be\s+)?(?:too|not|a\s+(?:bad|mistake|problem)|slow|slower|worse|wrong|unusable"
     r"|broken|incompatible|impossible|unreliable|far)\b"),
    ("reverted", "dead-end", 0.4, "reverted rolled revert roll & because since as it after due", "",
     r"\b(?:reverted|rolled\s+(?:it\s+)?back|had\s+to\s+(?:revert|roll\s+back|back\s+out))\b.{0,60}?\b(?:because"
     r"|since|as|it|after|due)\b"),
    ("cannot-use", "dead-end", 0.4, "can't cannot & because since as without due", "",
     r"\b(?:can't|cannot)\s+(?:be\s+used|use|run|upgrade|rely|switch|turn|enable)\b.{2,120}?\b(?:because|since"
     r"|as\s+it|without|due\s+to)\b"),
)  # fmt: skip
