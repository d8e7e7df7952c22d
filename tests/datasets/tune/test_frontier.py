"""What the frontier tier's tasks count on in their data: numbers that the draw must not move, and values that the query tells apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random

import pytest

from sql_optim_env.datasets.tune import TuneDataset
from sql_optim_env.datasets.tune.edges import Row, Value

Drawn = Callable[[str], Mapping[str, Sequence[Row]]]


@pytest.fixture(params=["first", "second"])
def drawn(request: pytest.FixtureRequest, datasets: Mapping[str, TuneDataset]) -> Drawn:
    """Rows of the measured size, under a seed that no instance has."""

    def rows(name: str) -> Mapping[str, Sequence[Row]]:
        return datasets[name].rows(Random(f"{name}:{request.param}"), datasets[name].sizes)

    return rows


def test_each_star_has_ten_plates_one_of_them_by_the_observer_whose_clock_was_wrong(drawn: Drawn) -> None:
    plates = drawn("tune_glass_plates")["plate"]
    for pair in ((117, "103a-O"), (117, "IIa-D"), (128, "103a-E"), (140, "IIIa-J"), (155, "IIa-O")):
        observers = [row[3] for row in plates if row[1:3] == pair]
        assert len(observers) == 10
        assert observers.count(7) == 1


def test_a_salmon_comes_to_a_hundred_reaches_and_is_stopped_by_every_weir(drawn: Drawn) -> None:
    reaches = drawn("tune_river_reaches")["reach"]
    shut = {row[0] for row in reaches if row[3]}
    into: dict[Value, list[Value]] = {}
    for number, downstream, *_ in reaches:
        into.setdefault(downstream, []).append(number)
    reached: list[Value] = [12]
    stopped = 0
    for number in reached:
        above = into.get(number, [])
        stopped += sum(one in shut for one in above)
        reached += [one for one in above if one not in shut]
    assert (len(reached), stopped) == (100, 22)


def test_six_pairs_wait_and_every_learner_has_been_to_four_meetings(drawn: Drawn) -> None:
    rows = drawn("tune_language_tandems")
    waiting = [row for row in rows["pairing"] if row[5] == "waiting"]
    assert len(waiting) == 6
    assert len({learner for row in waiting for learner in row[1:3]}) == 12
    assert len({row[3] for row in waiting}) == 3
    assert set(Counter(row[1] for row in rows["meeting"]).values()) == {4}


def test_meteorites_of_middling_weight_are_tied(drawn: Drawn) -> None:
    specimens = drawn("tune_meteorites")["specimen"]
    weights = sorted(row[3] for row in specimens if isinstance(row[3], int))
    middle = len(weights) // 2
    assert len(weights) == len(specimens)
    assert len(set(weights[middle - 10 : middle + 10])) < 20


def test_forty_five_contacts_on_20_metres_have_nothing_that_counts(drawn: Drawn) -> None:
    rows = drawn("tune_radio_contacts")
    answered = {row[1] for row in rows["card"]} | {row[1] for row in rows["confirmation"] if row[2] != "refused"}
    on_20 = [row[0] for row in rows["contact"] if row[1] == 20]
    assert len(on_20) == 2_800
    assert sum(number not in answered for number in on_20) == 45


def test_the_list_of_birds_still_grows_at_the_end_of_the_season(drawn: Drawn) -> None:
    first: dict[Value, int] = {}
    for _, day, site, species, _ in drawn("tune_bird_list")["sighting"]:
        if site == 1 and isinstance(day, int):
            first[species] = min(day, first.get(species, day))
    assert max(first.values()) > 40
    assert len(first) > 100


def test_vault_31_holds_seventeen_reels_and_slips_bear_their_numbers_in_six_digits(drawn: Drawn) -> None:
    rows = drawn("tune_film_reels")
    reels = [row[0] for row in rows["reel"] if row[1] == 31]
    assert len(reels) == 17
    assert {len(str(row[1])) for row in rows["showing"]} == {6}
    assert {row[1] for row in rows["showing"]} == {f"{row[0]!r:>06}" for row in rows["reel"]}


def test_every_scan_fills_two_overflow_pages_and_one_hundred_and_fifty_sections_hold_ash(drawn: Drawn) -> None:
    sections = drawn("tune_ice_cores")["section"]
    assert all(isinstance(row[1], bytes) and 8_384 <= len(row[1]) < 8_664 for row in sections)
    shares = [row[3] for row in sections if isinstance(row[3], int)]
    assert sum(share >= 30 for share in shares) == 150
    assert min(shares) > 1  # 0 and 1 are stored in a record's header, where no overflow page has to be read for them


def test_valley_7_has_nine_huts_and_each_evening_is_the_minute_of_an_entry(drawn: Drawn) -> None:
    rows = drawn("tune_mountain_huts")
    assert sum(row[1] == 7 for row in rows["hut"]) == 9
    signed = [row[0] for row in rows["entry"]]
    assert [signed.index(row[1]) * 100 // len(signed) for row in rows["evening"]] == [70, 80, 88, 94, 98]


def test_eleven_stations_sing_equally_often(drawn: Drawn) -> None:
    stations = Counter(row[1] for row in drawn("tune_whale_songs")["song"])
    assert len(stations) == 11
    assert max(stations.values()) - min(stations.values()) == 1
