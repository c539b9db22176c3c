"""Which entries that come in are held back?

Everything that is new or changed is inspected. An entry is held back when its findings are as bad as the owner's setting says, and, where
others can change it without the owner (a live server, an address), when it is no longer what was accepted (F06). What is accepted is
pinned in the transaction that writes it. The owner's own files are the owner's to change: they are inspected, not pinned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from repertory.guard import pins
from repertory.guard.company import FEW, Company
from repertory.guard.inspect import VERSION, worst_first
from repertory.ingest.prepare import Prepared
from repertory.model import Entity, Finding, Level
from repertory.settings import Settings
from repertory.store import Changes, Pin, Store

CHANGED, NEW, RENAMED, REJECTED = "changed", "new", "renamed", "rejected"  # why an entry is held, besides the code of a finding


@dataclass(frozen=True, slots=True)
class Policy:
    """What the owner wants held back."""

    guard: str = "pin"
    block: str = "block"

    @classmethod
    def of(cls, settings: Settings) -> Policy:
        """As the settings say."""
        return cls(settings.guard, settings.guard_block)

    @property
    def mark(self) -> str:
        """Part of an entry's digest: under another policy, or with other checks, every entry is looked at anew."""
        return f"{VERSION} {self.guard} {self.block}"

    def holds(self, findings: Sequence[Finding]) -> bool:
        """Whether the worst of these is bad enough."""
        return self.block != "none" and bool(findings) and findings[0].level.severity >= Level(self.block).severity


DEFAULT = Policy()


def screen(
    batch: Sequence[Entity], changes: Changes, prepared: Mapping[str, Prepared], store: Store, policy: Policy, *, foreign: bool
) -> list[Entity]:
    """Mark what is held back among the changes and pin what is accepted; answers what was marked or found, for the report."""
    if policy.guard == "off":
        return []
    found = _findings([prepared[entity.id] for entity, _ in changes.put_entities], store)
    known = store.pins([entity.id for entity, _ in changes.put_entities])
    contents = {entity.id: pins.content_of(entity) for entity, _ in changes.put_entities if entity.kind in pins.PINNED}
    renamed = _renamed(batch, contents, known, changes.source, store) if foreign else {}
    told: list[Entity] = []
    for position, (entity, digest) in enumerate(changes.put_entities):
        findings, pin = found[entity.id], known.get(entity.id)
        held = ""
        if entity.id in contents:
            held = _reason(
                pin, pins.digest_of(contents[entity.id]) if pin else "", findings, renamed.get(entity.id, ""), policy, foreign=foreign
            )
            if foreign and not held and (pin is None or not pin.digest):
                changes.pins.append(pinned(entity, changes.source))
        if held or findings:
            marked = replace(entity, held=held, findings=findings)
            changes.put_entities[position] = (marked, digest)
            told.append(marked)
    return told


def pinned(entity: Entity, source: str, approved_by: str = "") -> Pin:
    """An entry accepted as it is."""
    content = pins.content_of(entity)
    return Pin(entity.id, source, pins.digest_of(content), pins.body_of(content), content, approved_by)


def _reason(pin: Pin | None, digest: str, findings: Sequence[Finding], renamed: str, policy: Policy, *, foreign: bool) -> str:
    if pin is not None and pin.rejected == digest:
        return REJECTED
    if pin is not None and pin.digest == digest and pin.approved_by:
        return ""
    if foreign and pin is not None and pin.digest and pin.digest != digest:
        return CHANGED
    if policy.holds(findings):
        return findings[0].code
    if foreign and renamed:
        return f"{RENAMED} from {renamed}"
    return NEW if foreign and policy.guard == "review" and (pin is None or not pin.digest) else ""


def _renamed(
    batch: Sequence[Entity], contents: Mapping[str, pins.Content], known: Mapping[str, Pin], source: str, store: Store
) -> dict[str, str]:
    """Which new entries are accepted ones of this source under another name, and whose."""
    bodies = {
        entity_id: pins.body_of(content)
        for entity_id, content in contents.items()
        if entity_id not in known and len(str(content["description"]).split()) >= FEW
    }
    present = {entity.id for entity in batch}
    before = store.pins_like(source, sorted(set(bodies.values())))
    gone = {body: next((one for one in ids if one not in present), "") for body, ids in before.items()}
    return {entity_id: gone[body] for entity_id, body in bodies.items() if gone.get(body)}


def _findings(incoming: Sequence[Prepared], store: Store) -> dict[str, tuple[Finding, ...]]:
    """What is wrong with each, alone and among the tools of others."""
    looks = {one.entity.id: one.look for one in incoming if one.look}
    names = {look.name for look in looks.values()} | {name for one in incoming for name in one.named}
    likenesses = {look.likeness for look in looks.values() if look.likeness}
    company = Company()
    company.expect(looks.values())
    company.meet(look for look in store.looks(sorted(names), sorted(likenesses)) if look.entity_id not in looks)
    found: dict[str, tuple[Finding, ...]] = {}
    for one in incoming:
        look = one.look
        among = list(company.check(look, one.named)) if look else []
        found[one.entity.id] = worst_first([*one.findings, *among]) if among else one.findings
        if look:
            company.meet([look])
    return found
