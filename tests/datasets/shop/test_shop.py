from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from sql_optim_env.datasets import Dataset, Instance
from sql_optim_env.datasets import shop as shop_module
from sql_optim_env.datasets.shop import Shop, bulk

SQLS = ("SELECT id FROM orders WHERE created_at >= TIMESTAMP '2024-03-01' AND total > 99.5 AND status = 'paid'",)

BUILD = """
import hashlib, sys
from pathlib import Path
from sql_optim_env.datasets import get_dataset
shop = get_dataset("shop")
for instance in (*shop.instances[2:5], *shop.edge_instances([sys.argv[2]])):
    path = Path(sys.argv[1]) / f"{instance.name}.duckdb"
    shop.build(instance, path)
    print(hashlib.sha256(path.read_bytes()).hexdigest())
"""


def digest(shop: Dataset, instance: Instance, directory: Path) -> str:
    directory.mkdir()
    path = directory / f"{instance.name}.duckdb"
    shop.build(instance, path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_instances_begin_with_the_public_one_and_the_twin(shop: Dataset) -> None:
    assert [instance.role for instance in shop.instances[:3]] == ["public", "twin", "adversarial"]
    assert {instance.role for instance in shop.instances[2:]} == {"adversarial"}
    assert len(shop.instances) >= 5
    assert shop.public is shop.instances[0]
    assert len({instance.name for instance in shop.instances}) == len(shop.instances)


def test_edge_instances_carry_their_literals(shop: Dataset) -> None:
    instances = shop.edge_instances(SQLS)
    assert len(instances) == 4
    assert {instance.role for instance in instances} == {"edge"}
    assert len({(instance.name, instance.seed) for instance in instances}) == 4
    assert all('"99.5"' in instance.payload and "2024-03-01" in instance.payload for instance in instances)
    assert shop.edge_instances(["SELECT id FROM orders WHERE total > 98.5"])[0] != instances[0]


def test_two_builds_of_a_large_instance_are_the_same_bytes(shop: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = bulk.BulkProfile(users=300, products=50, orders=130_000, events=20_000, id_step=1)  # more than one row group of orders
    monkeypatch.setitem(shop_module._BULK, "some", profile)
    instance = Instance("shop", "some", "public", 3, "some")
    assert digest(shop, instance, tmp_path / "one") == digest(shop, instance, tmp_path / "two")


def test_another_process_with_another_hash_seed_builds_the_same_bytes(shop: Dataset, tmp_path: Path) -> None:
    command = [sys.executable, "-c", BUILD, str(tmp_path), *SQLS]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "77"})
    instances = (*shop.instances[2:5], *shop.edge_instances(SQLS))
    assert result.stdout.split() == [digest(shop, instance, tmp_path / instance.name) for instance in instances]


def test_the_seed_and_the_literals_change_a_small_instance(shop: Dataset, tmp_path: Path) -> None:
    edge = shop.edge_instances(SQLS)[0]
    variants = [
        edge,
        Instance("shop", edge.name, "edge", edge.seed + 1, edge.profile, edge.payload),
        shop.edge_instances(["SELECT id FROM orders WHERE total > 3"])[0],
    ]
    assert len({digest(shop, instance, tmp_path / str(number)) for number, instance in enumerate(variants)}) == 3


def test_building_reports_the_rows_and_leaves_one_file(shop: Dataset, tmp_path: Path) -> None:
    counts = shop.build(shop.instances[2], tmp_path / "it.duckdb")
    assert counts.keys() == set(shop.tables)
    assert min(counts.values()) > 10
    assert [path.name for path in tmp_path.iterdir()] == ["it.duckdb"]


def test_a_header_of_another_form_is_not_rewritten(tmp_path: Path, shop: Dataset) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"\1" * 8192)
    with pytest.raises(RuntimeError, match="header of another form"):
        shop_module._settle_identity(path, shop.instances[2])
    assert path.read_bytes() == b"\1" * 8192


def test_the_version_is_a_digest_of_the_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shop: Dataset) -> None:
    assert Shop().version == shop.version
    (tmp_path / "only.py").write_text("x = 1\n")
    monkeypatch.setattr(shop_module, "__file__", str(tmp_path / "only.py"))
    one = Shop().version
    (tmp_path / "only.py").write_text("x = 2\n")
    assert len({one, Shop().version, shop.version}) == 3
