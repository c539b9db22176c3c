"""Does a description give orders to the model that reads it?

A description says what a tool does. One that speaks to the model about its other instructions, its user or its other tools wants to be
obeyed, not used.
"""

from __future__ import annotations

import re2

from repertory.guard.language import Rule, rule
from repertory.model import Level

_DROP = (
    r"ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|overrul(?:e|ing)|bypass(?:ing)?|circumvent|discard|abandon|"
    r"do not (?:follow|obey)|don'?t (?:follow|obey)|stop following|supersedes?|takes? precedence over"
)
_FORMER = (
    r"previous|prior|earlier|preceding|above|foregoing|existing|original|initial|former|all|any|every|other|your|the system|system|"
    r"developer|safety"
)
_ORDERS = (
    r"instructions?|prompts?|directions?|directives?|guidelines?|guardrails?|commands|constraints|polic(?:y|ies)|safeguards?|"
    r"restrictions|programming|system message"
)
_WITHHOLD = r"(?:do not|don'?t|never|must not|should not|without|avoid|refrain from)(?: ever)?"
_TELL = r"tell(?:ing)?|inform(?:ing)?|notif(?:y|ying)|alert(?:ing)?|warn(?:ing)?"
_UTTER = r"mention(?:ing)?|disclos(?:e|ing)|reveal(?:ing)?|show(?:ing)?"
_PERSON = r"(?:the |your |any )?(?:end[ -]?)?(?:users?|humans?|person|customer|operator|anyone|anybody)\b"
_SPILL = r"reveal|print|output|repeat|leak|expose|dump|disclose|share|send|recite|quote|copy|append|include|return"
_INNER = (
    r"(?:your |the |its |any )?(?:full |entire |complete |whole |hidden |original |initial )*(?:system[ -]prompts?|system message|"
    r"developer (?:prompt|message)|hidden instructions|initial instructions|chain[ -]of[ -]thought)"
)
_EVERY_TOOL = (
    r"(?:any|every|all|each)(?: of)?(?: the| your)?(?: other)? (?:tools?|functions?|tool calls?)|(?:any|every|all|each) other (?:tools?|"
    r"call|functions?|action)|other (?:tools|functions|servers)"
)

RULES: tuple[Rule, ...] = (
    rule("override", Level.BLOCK, _DROP, _FORMER, _ORDERS, gap=3),
    rule(
        "override",
        Level.BLOCK,
        rf"(?:{_DROP}) (?:all |everything |the |of |what(?:ever)? (?:is|was|came) )*(?:above|previous|before)(?: text)?(?:$|[.,;:!]|"
        rf" and\b| then\b)",
    ),
    rule("override", Level.WARN, r"new|updated|real|actual", r"(?:system )?(?:instructions|directives) ?(?::|follow|are|supersede)", gap=1),
    rule("secrecy", Level.BLOCK, _WITHHOLD, rf"(?:{_TELL})\b", _PERSON, gap=1),
    rule("secrecy", Level.BLOCK, _WITHHOLD, rf"(?:{_UTTER})\b", rf"to {_PERSON}", gap=4),
    rule("secrecy", Level.BLOCK, _WITHHOLD, r"let(?:ting)?", _PERSON, r"know|notice|see|find out", gap=1),
    rule(
        "secrecy",
        Level.BLOCK,
        r"(?:keep|stay|remain|do|run|perform)",
        r"(?:secret|hidden|invisible|silent(?:ly)?|unnoticed)",
        r"(?:from |to |by |for )(?:the |your )?users?\b",
    ),
    rule("secrecy", Level.BLOCK, r"without", r"(?:the )?users?(?:'s|’s)?", r"knowledge|knowing|notic\w+|awareness", gap=2),
    rule("prompt-theft", Level.BLOCK, _SPILL, _INNER, gap=3),
    rule(
        "role-change",
        Level.BLOCK,
        r"you are now (?:an? |in |the )|from now on,? you (?:are|must|will|should)|(?:enter|enable|activate) (?:developer|god|debug|"
        r"jailbreak|dan) mode",
    ),
    rule("tool-order", Level.WARN, r"before|prior to|instead of|rather than|in place of", _EVERY_TOOL, gap=3, mentioned=Level.NOTE),
    rule(
        "tool-control",
        Level.BLOCK,
        r"(?:when(?:ever)?|if|every time|after|before)",
        r"(?:other |another |any )?(?:tool|function|server)s?",
        r"(?:is|are|gets?) (?:called|used|invoked|available|running)",
        r"(?:chang|replac|modif|redirect|substitut|rewrit|alter|overwrit|swap)\w*",
        gap=5,
    ),
    rule(
        "tool-control",
        Level.BLOCK,
        r"(?:chang|replac|redirect|substitut|rewrit|alter|swap)(?:e|y|ing)?",
        r"(?:the )?(?:recipients?|destination|address|payee|argument|parameter|receiver|account)s?",
        r"(?:to|with|by) (?:attacker|\S+@\S+|0x[0-9a-f]{6,}|ours|our)",
        gap=4,
    ),
    rule(
        "tool-control",
        Level.WARN,
        r"(?:other|another|alternative|competing|existing|built-?in) (?:\w+ )?(?:tools?|servers?)",
        r"(?:is|are)(?: now)?",
        r"deprecated|broken|unsafe|insecure|dangerous|disabled|unreliable|outdated|compromised",
        gap=2,
    ),
)

# Whoever writes like the program that talks to the model wants to be taken for it; whoever hides markup does not want to be seen.
_TURNS = (
    r"(?i)(?:<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>|\[/?INST\]|<<SYS>>|"
    r"</?(?:system|system[-_ ](?:prompt|message|instructions?|reminder)|assistant|developer)\s*>|(?:^|\n)\s*#{0,4}\s*(?:system|"
    r"assistant)\s*(?:prompt|message)?\s*:\s)"
)
_LOUD = (
    r"(?i)<\s*/?\s*(?:important|critical|urgent|secret|hidden|instructions?|mandatory|override|admin|priority|note[-_ ]to[-_ ](?:ai|llm|"
    r"model))\s*>"
)
_UNSEEN = r"(?is)<!--.+?-->|display\s*:\s*none|font-size\s*:\s*0|\[//\]:\s*#"

MARKUP = (
    ("imitates-prompt", Level.BLOCK, re2.compile(_TURNS)),
    ("emphasis", Level.WARN, re2.compile(_LOUD)),
    ("hidden-markup", Level.WARN, re2.compile(_UNSEEN)),
)


def may_hold_markup(text: str) -> bool:
    """Whether looking for markup is worth it."""
    return "<" in text or "[" in text or ":" in text
