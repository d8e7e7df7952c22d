from __future__ import annotations

import pytest

from sql_optim_env.datasets import dataset_names, get_dataset
from sql_optim_env.errors import InvalidArgumentError


def test_shop_is_the_first_dataset() -> None:
    assert dataset_names()[0] == "shop"
    assert get_dataset("shop").name == "shop"


def test_every_name_leads_to_the_dataset_of_that_name() -> None:
    assert [get_dataset(name).name for name in dataset_names()] == list(dataset_names())


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'shoe'.*shop"):
        get_dataset("shoe")
