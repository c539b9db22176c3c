"""Does a description want what is none of its business, or send things away?

An outflow is a secret (or what the tool was given), an act of sending, and somebody elsewhere, in the order in which one says such things.
A place of secrets alone is no finding: SSH clients and scanners speak of keys all day.
"""

from __future__ import annotations

import re2

from repertory.guard.language import Rule, rule
from repertory.model import Level

# Files in which keys are kept. Hardly anybody else's tool has to know where.
KEYS = (
    r"[~/\w.$%{}-]*\.ssh\b[/\w.*-]*|id_(?:rsa|dsa|ecdsa|ed25519)\b|authorized_keys\b|[~/\w.$-]*\.aws/\w+|\.netrc\b|\.git-credentials\b|"
    r"\.docker/config\.json|[~/\w.]*\.kube/config|/etc/(?:shadow|passwd)\b|login key ?chain\b|wallet\.dat|cookies\.sqlite|"
    r"\.(?:bash|zsh)_history|\.gnupg\b|[~/\w.]*\.config/gcloud|[\w/~.]*mcp\.json\b|claude_desktop_config\.json"
)
PLACES = (  # and those that tools for developers have business with, too
    rf"{KEYS}|[\w/~.$-]*\.env(?:\.\w+)?\b(?: files?)?|\.npmrc\b|\.pypirc\b|key ?chain\b|secrets?\.(?:ya?ml|json|toml)"
)
NOUNS = (
    r"(?:api|access|private|secret|ssh|signing|encryption)[ _-]?(?:keys?|tokens?)|credentials?|passwords?|passphrases?|secrets|(?:seed|"
    r"recovery) phrases?|"
    r"session (?:tokens?|cookies?)|auth(?:entication|orization)? tokens?|bearer tokens?|environment variables|env(?:ironment)? vars|"
    r"cookies|credit card (?:numbers?|details)"
)
TALK = (
    r"(?:conversation|chat|message) (?:history|log|transcript)|(?:entire|full|whole|complete) (?:conversation|context|chat)|(?:all |"
    r"any )?previous messages|user(?:'s|’s) (?:messages|prompts?|queries)"
)
_SEND = (
    r"send(?:s|ing)?|post(?:s|ing)?|upload(?:s|ing)?|forward(?:s|ing)?|transmit(?:s|ting)?|e-?mail(?:s|ing)?|ship(?:s|ping)?|"
    r"deliver(?:s|ing)?|submit(?:s|ting)?|beacon(?:s|ing)?|push(?:es|ing)?|cop(?:y|ies|ying)|report(?:s|ing)?|share[sd]?|sync(?:s|ing)?"
)
_STEAL = r"exfiltrat(?:e|es|ing)|steal(?:s|ing)?|siphon(?:s|ing)?|smuggl(?:e|es|ing)|harvest(?:s|ing)?"
_TO = r"(?:to|at|into|via) (?:\w+ |the attacker'?s? |an? |our |the )*?"
_STRANGER = rf"{_TO}(?:external|third[ -]part\w*|attacker\w*|outside|unknown|untrusted|collector|c2|command[ -]and[ -]control|paste ?bin)\b"
_AWAY = (
    rf"{_STRANGER}|{_TO}(?:remote|foreign|public|webhook)\b|(?:to|at) (?:the (?:url|address|host|server) )?(?:https?://\S+|"
    r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|\S+@\S+\.\w+|\w+\.(?:onion|tld|evil)\b)"
)
_IT = (
    r"it|them|its? contents?|(?:the|their) contents?|that|those|both|the (?:result|output|input|data|file|key|value|text|response|"
    r"quer(?:y|ies))s?|a copy|every(?:thing)?|all (?:data|input|output|arguments|parameters|results?)\b[\w ]{0,20}"
)
_READ = (
    r"read(?:s|ing)?|open(?:s|ing)?|cat|load(?:s|ing)?|fetch(?:es|ing)?|get(?:s|ting)?|retriev(?:e|es|ing)|access(?:es|ing)?|grab(?:s|"
    r"bing)?|collect(?:s|ing)?|look(?:s)? up|find|include|pass|provide|put|paste|append|attach|embed|insert|contents? of|add"
)
_AS_ARGUMENT = (
    r"(?:as|in|into|to|via|through|using|inside) (?:a |an |the |this |its |your |every )?[\"'`]?\w*[\"'`]? ?(?:arguments?|parameters?|"
    r"params?|fields?|sidenote|inputs?|body|header|query string|payload|quer(?:y|ies)|request|call|value)\b"
)
_MODEL = r"you (?:must|should|need to|have to|will)|always|first|silently|secretly|quietly|before \w+ing[^,.]{0,40},?"
_READ_IT = r"read|open|cat|load|fetch|get|retrieve|access|grab|collect|include|pass|provide"  # an order, not a report
_OWN = rf"{PLACES}|{TALK}|user(?:'s|’s) (?:{NOUNS})"  # what only the user can give away

ACTS = re2.compile(rf"(?i)\b(?:{_SEND}|{_STEAL}|{_READ}|bcc|cc|blind copy|log)")  # without one of these no rule below can match

RULES: tuple[Rule, ...] = (
    rule("theft", Level.BLOCK, _STEAL, rf"{PLACES}|{NOUNS}|{TALK}|data|contents?|it\b|them\b", gap=5),
    rule("outflow", Level.BLOCK, _SEND, _OWN, _AWAY, gap=6),
    rule("outflow", Level.BLOCK, _SEND, NOUNS, _STRANGER, gap=6),
    rule("outflow", Level.WARN, _SEND, NOUNS, _AWAY, gap=6),
    rule("outflow", Level.BLOCK, rf"{_OWN}|{NOUNS}", _SEND, _IT, _AWAY, gap=4),
    rule("outflow", Level.WARN, r"also|secretly|silently|quietly|additionally|and|then|afterwards", _SEND, _IT, _AWAY, gap=2),
    rule("outflow", Level.BLOCK, r"secretly|silently|quietly|covertly|invisibly", rf"(?:{_SEND}|{_STEAL}|log)\w*", _IT, gap=3),
    rule("outflow", Level.WARN, r"(?:always|every|each|all)", r"(?:bcc|cc|blind copy|forward|copy)\w*", r"\S+@\S+\.\w+", gap=6),
    rule("secret-as-argument", Level.BLOCK, _READ, PLACES, _AS_ARGUMENT, gap=6),
    rule("secret-as-argument", Level.WARN, r"(?:full |entire |raw )?contents? of", PLACES, gap=3),
    rule(
        "secret-as-argument",
        Level.BLOCK,
        r"pass|include|put|append|attach|embed|insert|copy|paste|add",
        rf"(?:the |your |its |their |any |all )*(?:user(?:'s|’s) )?(?:{NOUNS})",
        r"(?:found|stored|available|you (?:know|have|find|can)|from (?:the|your) (?:environment|context|memory|conversation|system))",
        gap=3,
    ),
    rule("secret-read", Level.BLOCK, _MODEL, _READ_IT, KEYS, gap=4),
    rule("secret-read", Level.WARN, _READ, PLACES, gap=4, mentioned=Level.NOTE),
    rule(
        "asks-for-talk",
        Level.WARN,
        r"pass|include|put|append|attach|embed|insert|copy|paste|send|provide",
        TALK,
        gap=4,
        mentioned=Level.NOTE,
    ),
)
