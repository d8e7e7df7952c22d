from __future__ import annotations

from collections.abc import Callable

import pytest

from sql_optim_env.agents.roster import PLAYER_NAMES, make_player
from sql_optim_env.errors import InvalidArgumentError
from sql_optim_env.tasks.task import Task


@pytest.mark.parametrize("name", PLAYER_NAMES)
def test_every_player_is_found_by_its_name(name: str, lookup: Callable[[str], Task]) -> None:
    assert make_player(name, lookup).name == name


def test_an_unknown_player_is_refused_with_the_list_of_what_exists(lookup: Callable[[str], Task]) -> None:
    with pytest.raises(InvalidArgumentError, match="oracle, null, echo, ritual, stuffing, heuristic"):
        make_player("cheat", lookup)
