"""Is what searches look up remembered, and never for longer than it holds?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repertory.store.lookups import Remembered


class Shelf:
    """Values that change, and how often they were looked at."""

    def __init__(self) -> None:
        self.values: dict[int, str] = {1: "one", 2: "two", 3: "three"}
        self.asked: list[list[int]] = []

    def read(self, numbers: Sequence[int]) -> Mapping[int, tuple[str, int]]:
        self.asked.append(list(numbers))
        return {number: (self.values[number], 1) for number in numbers if number in self.values}


def test_what_is_known_is_not_read_again() -> None:
    shelf, remembered = Shelf(), Remembered[str](10)
    assert remembered.get([1, 2], shelf.read) == {1: "one", 2: "two"}
    assert remembered.get([2, 3, 4], shelf.read) == {2: "two", 3: "three"}  # nothing is there under 4
    assert remembered.get([1, 3], shelf.read) == {1: "one", 3: "three"}
    assert shelf.asked == [[1, 2], [3, 4]]


def test_what_was_read_before_a_write_is_forgotten() -> None:
    shelf, remembered = Shelf(), Remembered[str](10)
    remembered.get([1], shelf.read)
    shelf.values[1] = "uno"
    remembered.forget()
    assert remembered.get([1], shelf.read) == {1: "uno"}


def test_what_is_read_while_somebody_writes_is_not_remembered() -> None:
    shelf, remembered = Shelf(), Remembered[str](10)

    def read_as_it_is_written(numbers: Sequence[int]) -> Mapping[int, tuple[str, int]]:
        before = shelf.read(numbers)
        shelf.values[1] = "uno"
        remembered.forget()
        return before

    assert remembered.get([1], read_as_it_is_written) == {1: "one"}  # it was asked before the write was done
    assert remembered.get([1], shelf.read) == {1: "uno"}


def test_what_is_too_much_is_let_go() -> None:
    shelf, remembered = Shelf(), Remembered[str](2)
    assert remembered.get([1, 2], shelf.read) == {1: "one", 2: "two"}
    assert remembered.get([3], shelf.read) == {3: "three"}
    assert remembered.get([1, 2, 3], shelf.read) == {1: "one", 2: "two", 3: "three"}
    assert shelf.asked == [[1, 2], [3], [1, 2, 3]]
    never = Remembered[str](0)
    assert [never.get([1], shelf.read) for _ in range(2)] == [{1: "one"}] * 2
    assert shelf.asked[3:] == [[1], [1]]
