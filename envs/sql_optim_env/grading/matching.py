"""Maximum-weight bipartite matching for a handful of expected issues and a list of claims, deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["best_matching"]


def best_matching(weights: Sequence[Mapping[int, int]]) -> dict[int, int]:
    """Pair left nodes with right nodes so that the sum of weights is as large as it can be.

    ``weights[i]`` maps the right nodes that left node ``i`` may be paired with to positive weights. The answer maps left to right, each
    used at most once. The same input always gives the same pairs. Grows the matching along best augmenting paths (Bellman-Ford), which
    keeps it optimal for its size at every step; it stops when no path adds weight.
    """
    pairs: dict[int, int] = {}
    while path := _best_augmenting_path(weights, pairs):
        pairs.update(path)
    return pairs


def _best_augmenting_path(weights: Sequence[Mapping[int, int]], pairs: Mapping[int, int]) -> dict[int, int]:
    """The new pairs along the path that adds the most weight, empty when none adds any."""
    owner = {right: left for left, right in pairs.items()}
    gain: dict[int, int] = {left: 0 for left in range(len(weights)) if left not in pairs}
    came_from: dict[int, int] = {}  # right node -> the left node that the best path reaches it from
    reached: dict[int, int] = {}  # right node -> weight gained when the path ends here
    changed = True
    while changed:
        changed = False
        for left in sorted(gain):
            for right, weight in sorted(weights[left].items()):
                if pairs.get(left) == right or (right in reached and gain[left] + weight <= reached[right]):
                    continue
                reached[right], came_from[right] = gain[left] + weight, left
                changed = True
                if right in owner:  # taking this right node gives up the pair it is in
                    loser = owner[right]
                    gain[loser] = reached[right] - weights[loser][right]
    free = [right for right in sorted(reached) if right not in owner and reached[right] > 0]
    if not free:
        return {}
    path: dict[int, int] = {}
    step: int | None = max(free, key=lambda right: reached[right])
    while step is not None:
        left = came_from[step]
        path[left] = step
        step = pairs.get(left)
    return path
