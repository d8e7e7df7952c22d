from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from sql_optim_env.grading.matching import best_matching

graphs = st.lists(st.dictionaries(st.integers(0, 4), st.integers(1, 30), max_size=5), min_size=1, max_size=4)


def _best_by_trying_all(weights: list[dict[int, int]]) -> int:
    places = [*range(5), *[None] * len(weights)]
    return max(
        sum(weights[left].get(right, 0) for left, right in enumerate(choice) if right is not None)
        for choice in set(permutations(places, len(weights)))
    )


@given(graphs)
def test_no_other_pairing_weighs_more(weights: list[dict[int, int]]) -> None:
    pairs = best_matching(weights)
    assert sum(weights[left][right] for left, right in pairs.items()) == _best_by_trying_all(weights)
    assert len(set(pairs.values())) == len(pairs)


def test_an_earlier_pair_is_given_up_for_a_better_whole() -> None:
    assert best_matching([{0: 5, 1: 4}, {0: 5}]) == {0: 1, 1: 0}


def test_a_node_without_partner_stays_alone() -> None:
    assert best_matching([{}, {2: 1}]) == {1: 2}
    assert best_matching([]) == {}


@given(graphs)
def test_the_same_graph_gives_the_same_pairs(weights: list[dict[int, int]]) -> None:
    reordered = [dict(reversed(list(edges.items()))) for edges in weights]
    assert best_matching(weights) == best_matching(reordered)
