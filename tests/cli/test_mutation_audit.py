from __future__ import annotations

import pytest

from sql_optim_env.cli.mutation.audit import audit_mutation_test, script_mutants
from sql_optim_env.cli.mutation.run import LEAST_KILL_RATE
from sql_optim_env.tasks.catalogue import catalogue


def test_a_script_has_the_mutants_of_its_statements_and_each_statement_may_be_missing() -> None:
    found = script_mutants("DELETE FROM t WHERE a > 1; UPDATE t SET b = 2 WHERE a < 3")
    kinds = [mutant.kind for mutant in found]
    assert kinds.count("statement dropped") == 2
    texts = {mutant.sql for mutant in found}
    assert "UPDATE t SET b = 2 WHERE a < 3" in texts
    assert "DELETE FROM t WHERE a >= 1;\nUPDATE t SET b = 2 WHERE a < 3" in texts
    assert len(texts) == len(found)


@pytest.mark.parametrize("task_id", ["fk_integrity", "type_repair"])
def test_a_repair_that_is_wrong_on_other_data_is_refused(task_id: str) -> None:
    test = audit_mutation_test(catalogue().get(task_id))
    assert test.count("killed") >= 3
    assert test.kill_rate >= LEAST_KILL_RATE, [outcome for outcome in test.outcomes if outcome.fate == "missed"]


def test_a_task_without_a_repair_has_no_mutants() -> None:
    assert audit_mutation_test(catalogue().get("null_audit")).outcomes == ()
