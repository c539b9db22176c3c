"""Is every error known to machines, to HTTP and to the shell?"""

from __future__ import annotations

import re

import pytest

from repertory import errors
from repertory.cli.exits import EXITS, exit_code
from repertory.errors import RepertoryError, every_error
from repertory.rest.problems import STATUSES, problem_response


def test_the_tree_is_every_error_of_the_module() -> None:
    ours = {thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, RepertoryError)}
    assert set(every_error()) == ours
    assert len(every_error()) == len(ours)


def test_the_docstring_draws_the_tree() -> None:
    drawn = {
        line.split()[0]: (len(line) - len(line.lstrip())) // 2
        for line in (errors.__doc__ or "").splitlines()
        if re.match(r" +[A-Z]\w+(  |$)", line)
    }
    root = drawn["RepertoryError"]
    assert {name: depth - root for name, depth in drawn.items()} == {
        error.__name__: len(error.__mro__) - len(RepertoryError.__mro__) for error in every_error()
    }


def test_no_two_errors_share_a_code() -> None:
    codes = [error.code for error in every_error()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("error", every_error())
def test_the_code_is_a_word_that_the_class_gave_itself(error: type[RepertoryError]) -> None:
    assert "code" in vars(error)
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", error.code)


@pytest.mark.parametrize("error", every_error())
def test_it_has_an_http_status(error: type[RepertoryError]) -> None:
    response = problem_response(error("what happened"))
    assert response.status_code == STATUSES[error]
    assert 400 <= response.status_code <= 599
    assert response.media_type == "application/problem+json"
    assert f'"code":"{error.code}"'.encode() in bytes(response.body)
    assert b"what happened" in bytes(response.body)


@pytest.mark.parametrize("error", every_error())
def test_it_has_an_exit_code(error: type[RepertoryError]) -> None:
    assert exit_code(error("what happened")) == EXITS[error]
    assert 1 <= EXITS[error] <= 125  # above is the shell's own


def test_the_tables_hold_nothing_else() -> None:
    assert set(STATUSES) == set(EXITS) == set(every_error())


@pytest.mark.parametrize("error", [error for error in every_error() if error.retryable])
def test_what_may_go_well_another_time_is_the_servers_fault(error: type[RepertoryError]) -> None:
    assert STATUSES[error] in (502, 503)
