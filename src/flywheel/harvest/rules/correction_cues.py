"""Ways of saying that what an agent did is wrong, what is right, and what neither says; patterns only.

Each ignores case. Those of openings match at the beginning of a sentence, after words that only fill.
"""

from __future__ import annotations

import re
from typing import Final

FILLER: Final = (
    r"\s*[\"'(]*(?:(?:hm+|ah|oh|well|ok(?:ay)?|wait|sorry|please|hey|ugh|but|and|so|yes|hold\s+on"
    r"|stop)\b[\s,.!:;—-]*)*"
)
FINE: Final = re.compile(
    FILLER
    + r"(?:no+|nope)\b[,.!\s]*(?:prob(?:lem)?|worries|need|idea|rush|thanks?|issue|matter|complaints?|objections?"
    r"|further|more\b|failures?|errors?|questions?|doubts?|wonder|that(?:'s|\s+is)\s+(?:fine|ok(?:ay)?|good|great)"
    r"|it(?:'s|\s+is)\s+(?:fine|ok(?:ay)?|good)|really,?\s+that|go\s+ahead|keep\s+going|not\s+yet)\b",
    re.IGNORECASE,
)
PRAISE: Final = re.compile(
    FILLER + r"(?:thanks?|thank\s+you|great|perfect|nice|good\b|lovely|excellent|agreed|yes\b|yep|sure|that\s+works"
    r"|looks?\s+(?:good|right|fine|great)|ship\s+it|you\s+were\s+right|that(?:'s|\s+is)\s+(?:it|not\s+bad|fine"
    r"|good))",
    re.IGNORECASE,
)
ONWARD: Final = re.compile(
    FILLER
    + r"(?:next\b|now\b|then\b|also\b|let's|let\s+us|lets\b|can\s+you|could\s+you|would\s+you|maybe|perhaps|what\s+if"
    r"|on\s+second\s+thoughts?|scrap|never\s?mind|i\s+(?:asked\s+the|was\s+wrong|changed\s+my|meant\s+to\s+ask)"
    r"|wait\s+for"
    r"|don't\s+(?:forget|worry|bother)|don't\s+you\b|instead\s+of\s+the\b|actually,?\s+can|that\s+reminds)",
    re.IGNORECASE,
)
REFUSES: Final = re.compile(
    FILLER + r"(?:(?:actually|absolutely|definitely)[,\s]+)?(?:(?P<no>no+|nope|nah)(?:\s+no)?\s*[,.!:;—-]"
    r"|(?P<strong>(?:absolutely|definitely|certainly)\s+not\b"
    r"|no\s+no\b|nope\b|no!)|actually[,\s]+(?:the|it|that|this)\b)",
    re.IGNORECASE,
)
WRONG: Final = re.compile(
    FILLER + r"(?:not\s+(?:like\s+(?:that|this)|that\s+way|what\s+i)|(?:that|this|it)(?:'s|\s+is|\s+was)?\s*(?:not"
    r"|n't)\s+(?:what\s+i|how\s+(?:we|you|i|it)"
    r"|how\s+[\w-]+\s+(?:works?|are|is)|right\b|correct|the\s+(?:fix|right|way|point|place|file|cause|one))"
    r"|(?:that|this)\s+isn't\s+(?:right|correct|what|how)"
    r"|(?:that|this|it)(?:'s|\s+is|\s+was)\s+(?:(?:just|simply|plain)\s+)?(?:wrong|the\s+wrong|a\s+mistake)"
    r"|that\s+\w+\s+is\s+wrong"
    r"|wrong(?:\s+(?:file|folder|place|approach|way|branch|one|table|module|direction))?\s*[,.:!;—-]"
    r"|too\s+much\s*[.!,;]|you\s+(?:can't|cannot|must\s+not|may\s+not)\s+(?:just\s+)?(?:do|use|change|touch|call|drop)\b"
    r"|(?:that|this|it)(?:'s|\s+is|\s+was)\s+(?:way\s+|just\s+)?(?:overkill|over-?\s?engineered|unnecessary|not\s+needed"
    r"|too\s+(?:complicated|clever|complex|generic)))",
    re.IGNORECASE,
)
SAID: Final = re.compile(
    FILLER + r"(?:i(?:'d|\s+had|'ve|\s+have)?\s+(?:already\s+|explicitly\s+|clearly\s+|just\s+)?(?:said\s+(?!yesterday"
    r"|today|last)|told\s+you|asked\s+(?:you\s+)?(?:for|to|only))"
    r"|i\s+(?:never|did\s+not|didn't)\s+(?:said?|asked?|want(?:ed)?)|as\s+i\s+said|i\s+meant\b(?!\s+to\b)"
    r"|i\s+did\s+not\s+ask|you\s+(?:misread|misunderstood))",
    re.IGNORECASE,
)
BLAMES: Final = re.compile(
    r"\byou\s+(?:should(?:\s+not|n't)\s+have|should\s+have|were(?:\s+not|n't)\s+supposed|were\s+supposed|(?:must"
    r"|may)\s+not|can't|cannot"
    r"|forgot|missed|ignored|misread|misunderstood|keep\s+\w+ing|put\s+.{2,60}\bagain\b)|\bwhy\s+(?:did"
    r"|do|are|would)\s+you\b"
    r"|\b(?:that|this)\s+breaks\s+(?:the|our|all|every)\b|\b(?:that|this|it)\s+should(?:n't|\s+not)?\s+have\s+(?:been\b|stayed\b)",
    re.IGNORECASE,
)
UNDO: Final = re.compile(
    FILLER + r"(?:undo|revert|take\s+back|roll\s+back|put)\s+(?:that|this|it)\b(?!\s+(?:stack|into|in\b|on\b"
    r"|button))"
    r"|\bput\s+it\s+back\b",
    re.IGNORECASE,
)
STOP: Final = re.compile(
    FILLER
    + r"(?:stop\s+\w+ing|(?:don't|do\s+not|never)\s+\w+|no\s+(?!(?:idea|need|problem|one|matter)\b)[\w-]+\s*[.!,;]"
    r"|no\s+[\w`.-]+(?:\s+[\w`.-]+){0,3}\s+(?:there|here|outside|in|please|at\s+all)\b|i\s+don't\s+want\b(?!\s+to\b)"
    r"|not\s+(?:in|on|at|from|to|with|as|into|[\w`.]+\s+[-—,])|only\s+\w+)",
    re.IGNORECASE,
)
CONTRAST: Final = re.compile(
    r"(?:,|\s[-—])\s*(?:and\s+)?(?:not|never)\s+(?!yet\b|sure\b|only\b|just\b)[\w`\"'.-]+|\b(?:rather\s+than"
    r"|instead\s+of)\s+\S+|,?\s+instead\s*(?:[.!,;]|$)"
    r"|^\s*(?:not|instead\s+of)\s+.{2,60}?[-—,.;]\s*\S+|\binstead\s+of\s+\w+ing\b",
    re.IGNORECASE,
)
STANDARD: Final = re.compile(
    r"\b(?:we\s+(?:(?:already|only|always|never|don't|do\s+not|all)\s+)+\w+|we\s+(?:use|log|write|run|keep|call"
    r"|put|build|test|fix|name|pin|are\s+pinned|have)\b"
    r"|(?:is|are|goes?|belongs?|live|lives|come|comes)\s+(?:\w+\s+){0,5}(?:here|everywhere"
    r"|in\s+this\s+(?:repo\w*|project|code\s?base|layer)|never|always)\b"
    r"|\bnever\s+(?:a|an|by|in|edited|from|to)\b|(?:belongs?|lives?|goes?|go|come|comes)\s+(?:in|into|under"
    r"|through|from|to)\s+\S"
    r"|in\s+(?:all|this|our)\s+\w+|\balready\s+(?:have|exists?)\b)",
    re.IGNORECASE,
)
MUST: Final = re.compile(
    r"\b(?:must|has\s+to|have\s+to|should|needs?\s+to|is\s+supposed\s+to)\s+(?:always\s+|never\s+|only\s+|not\s+"
    r"|stay\b|be\b)?\w*|\bmay\s+(?:only|be)\b|\bonly\s+\w+\s+may\b"
    r"|[:;—-]\s*no\s+(?:new|more|other|extra)\s+\w+|\bi\s+want(?:ed)?\s+(?:it|them|that|this)\b"
    r"|\bis\s+(?:enough|required|checked\s+in|not\s+acceptable|the\s+(?:command|one|place))\b",
    re.IGNORECASE,
)
ORDER: Final = re.compile(
    r"(?:^|[.!:;,—-]\s*|\b(?:please|and|then|just)\s+)(?:please\s+)?(?:use|put|keep|make|write|name|call|move"
    r"|return|run|leave|change|rename"
    r"|add|remove|delete|take|give|let|build|sort|stream|find|open|only|always|never|stick|set|pass|log|validate"
    r"|import|throw|raise|store|read"
    r"|drop|split|do|don't|do\s+not)\b",
    re.IGNORECASE,
)
ASKED: Final = re.compile(r"\?[\s\"')\]*`]*$|\bwhich\s+(?:one|of)\b[^.!]{0,60}$", re.IGNORECASE)
TROUBLE: Final = re.compile(
    r"\b(?:still|same)\s+(?:\w+\s+)?(?:fail|error|slow|broken|wrong)|\b(?:does\s+not|doesn't)\s+work"
    r"|\berror\s+is\b|\bsays\s+the\s+compiler",
    re.IGNORECASE,
)
