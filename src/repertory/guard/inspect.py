"""What is wrong with an entry?

Every text of the entry goes through every family of checks. One linear pass over all of them together says which families can find
anything at all: of most entries none, which is what makes ten thousand of them a matter of half a second. What needs to know of other
entries is in `company`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import re2

from repertory.guard import hidden, leaks, lookalikes, orders, payload, stuffing
from repertory.guard.language import apply, excerpt, readable, sentences
from repertory.guard.texts import Text, texts_of
from repertory.model import Entity, Finding, Kind, Level

VERSION = 1  # raise it when the same entry gives other findings: every entry is then looked at anew
MOST = 20  # findings that are kept of one entry, the worst first

# Every rule of language needs one of these words; no repetition in it, so that it stays one cheap automaton.
_TRIGGER = re2.compile(
    r"(?i)\b(?:ignor|disregard|forget|overrid|overrul|bypass|circumvent|discard|abandon|obey|do not follow|don'?t follow|stop following|"
    r"supersede|precedence|"
    r"tell|mention|inform\b|informing|notify|alert|disclos|reveal|warn|let\b|letting|secret|silent|quiet|covert|invisibl|unnoticed|"
    r"hidden|without the user|without user|"
    r"instructions|directives|orders|system[ -]prompt|system[ -]message|developer prompt|developer message|chain[ -]of|you are now|"
    r"from now on|jailbreak|(?:god|dan|debug|developer) mode|"
    r"any tool|any other|any function|every tool|every other|all tools|all other|all your|all the tools|each tool|each other|other tool|"
    r"other function|other server|another tool|"
    r"built-?in|existing tool|tool is|tools are|function is|server is|exfiltrat|steal|siphon|smuggl|harvest|api[ _-]?key|"
    r"access[ _-]?key|private[ _-]?key|secret[ _-]?key|"
    r"ssh[ _-]?key|signing[ _-]?key|encryption[ _-]?key|tokens?\b|\w+[_-]token|credential|password|passphrase|seed phrase|"
    r"recovery phrase|cookie|environment variable|env var|credit card|"
    r"history|transcript|conversation|entire|full context|whole c|complete c|previous messages|user's|user’s|external|remote|third|"
    r"attacker|outside|foreign|"
    r"untrusted|collector|webhook|c2\b|contents? of)"
    r"|\.(?:ssh|env|aws|netrc|npmrc|pypirc|kube|gnupg|docker|git-cred|bash_h|zsh_h|config/g)|id_rsa|id_dsa|id_e|authorized_keys|/etc/|"
    r"mcp\.json|wallet\.dat|keychain|key chain|"
    r"desktop_config|cookies\.sqlite|secrets?\.(?:y|j|t)|<|\[INST|\[/INST|\[//|system\s*:|assistant\s*:|display|font-size|https?:|@|0x|"
    r"\d\.\d+\.\d+\.\d"
)
_STUFFED = frozenset({"description", "tags", "title"})


def inspect(entity: Entity) -> tuple[Finding, ...]:
    """The findings of one entry, the worst first. A document is content, not a description: nothing is said of it."""
    if entity.kind is Kind.DOCUMENT:
        return ()
    texts, more = texts_of(entity)
    found = list(_seen(texts))
    if entity.kind is Kind.SKILL:  # its body is there to instruct; only what nobody sees is wrong with it
        found += hidden.check(Text("body", str(entity.details.get("body", ""))))
    if more:
        found.append(Finding(Level.WARN, "oversized", "details", "there is more text than is looked at"))
    return worst_first(found) if found else ()


def worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """One finding for each code and place, the worst first, not more than anybody reads."""
    ordered = sorted(findings, key=lambda finding: finding.level.severity)
    unique = {(finding.code, finding.where): finding for finding in ordered}
    return tuple(sorted(unique.values(), key=lambda finding: -finding.level.severity))[:MOST]


def _seen(texts: Sequence[Text]) -> Iterator[Finding]:
    together = "\n".join(text.text for text in texts)
    if hidden.is_possible(together):
        for text in texts:
            yield from hidden.check(text)
            yield from lookalikes.check(text)
        together = "\n".join(readable(text) for text in texts)
    prose = [text for text in texts if not text.is_name]
    for possible, check in ((_TRIGGER.search, _language), (payload.is_possible, _payload)):
        if possible(together):
            for text in prose:
                yield from check(readable(text), text.where)
    for text in prose:
        if text.where in _STUFFED and (stuffed := stuffing.check(text)):
            yield stuffed


def _language(read: str, where: str) -> Iterator[Finding]:
    if _TRIGGER.search(read) is None:
        return
    for code, level, markup in orders.MARKUP if orders.may_hold_markup(read) else ():
        if found := markup.search(read):
            yield Finding(level, code, where, excerpt(read[found.start() :]))
    for sentence in sentences(read):
        if _TRIGGER.search(sentence):
            yield from apply(orders.RULES, sentence, where)
            yield from apply(leaks.RULES if leaks.ACTS.search(sentence) else (), sentence, where)


def _payload(read: str, where: str) -> Iterator[Finding]:
    if found := payload.SHELL.search(read):
        yield Finding(Level.WARN, "shell", where, excerpt(read[max(0, found.start() - 20) :]))
    for inner in payload.decoded(read):
        if payload.SHELL.search(inner) or payload.RUNS.search(inner):
            yield Finding(Level.BLOCK, "encoded-command", where, excerpt(inner))
        elif any(finding.level is Level.BLOCK for finding in _language(inner, where)):
            yield Finding(Level.BLOCK, "encoded-order", where, excerpt(inner))
