from __future__ import annotations

import pytest

from sql_optim_env.engines.sqlite import DdlError, Rule, describe_rules
from sql_optim_env.engines.sqlite.rules import RULES
from sql_optim_env.errors import ErrorCode


def test_every_rule_has_its_sentence() -> None:
    assert list(RULES) == list(Rule)
    assert len(set(RULES.values())) == len(Rule)


@pytest.mark.parametrize(("allowed", "says"), [(0, "At most no new index;"), (1, "At most one new index;"), (3, "At most 3 new indexes;")])
def test_instructions_state_the_number(allowed: int, says: str) -> None:
    assert says in describe_rules(allowed)


def test_instructions_settle_collate_and_desc() -> None:
    text = describe_rules(2)
    for word in ("CREATE INDEX", "ANALYZE", "UNIQUE", "WHERE", "DESC", "COLLATE", "expression"):
        assert word in text


def test_an_error_counts_items_from_one_for_people() -> None:
    error = DdlError(ErrorCode.REFUSED_SYNTAX, "index i is UNIQUE", index=1, rule=Rule.UNIQUE)
    assert (error.index, error.rule) == (1, Rule.UNIQUE)
    assert error.message == "ddl item 2: index i is UNIQUE (rule: an index is not UNIQUE)"
    assert DdlError(ErrorCode.TIMEOUT, "stopped", index=0).message == "ddl item 1: stopped"
