"""A database with the schema of TPC-H and its 22 queries: a third schema, which no fit ever sees.

The rows come from a generator of our own, with the benchmark's keys, fan-outs, dates and vocabularies but not its exact texts, so
that no extension and no download is needed. Queries have the validation parameters of the specification; a constant that the benchmark
scales with the size of the database (Q11) is scaled likewise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import duckdb

from sql_optim_env.engines.duckdb.cost.calibration.measure import Statement
from sql_optim_env.engines.duckdb.cost.calibration.queries import read_sections

__all__ = ["TPCH", "TPCH_QUERIES", "build_tpch", "tpch_statements"]

TPCH: Final = "tpch"
"""Name of the database in statements, and the family of its queries."""
TPCH_QUERIES: Final = tuple((name, statements[0]) for name, statements in read_sections("tpch"))
"""(``q01``, sql) of the 22 queries in order."""
ORDERS: Final = 150_000
"""Rows of orders, which is scale factor 0.1: 600,000 line items."""

_NATIONS: Final = (
    "ALGERIA 0,ARGENTINA 1,BRAZIL 1,CANADA 1,EGYPT 4,ETHIOPIA 0,FRANCE 3,GERMANY 3,INDIA 2,INDONESIA 2,IRAN 4,IRAQ 4,JAPAN 2,JORDAN 4,"
    "KENYA 0,MOROCCO 0,MOZAMBIQUE 0,PERU 1,CHINA 2,ROMANIA 3,SAUDI ARABIA 4,VIETNAM 2,RUSSIA 3,UNITED KINGDOM 3,UNITED STATES 1"
)
_COLOURS: Final = "almond azure beige black blue brown chocolate coral cream cyan forest gold green grey ivory lemon lime navy olive orange"
_WORDS: Final = (
    "carefully final deposits sleep furiously special ironic packages requests above the bold pending theodolites nag quickly regular "
    "accounts express foxes wake blithely slyly Customer instructions haggle among even silent unusual platelets Complaints"
)


def _pick(words: str, seed: str, separator: str = " ") -> str:
    """SQL that draws one of the words."""
    items = ", ".join(f"'{word}'" for word in words.split(separator))
    return f"([{items}])[1 + (hash({seed}) % {len(words.split(separator))})::INTEGER]"


def _comment(seed: str, words: int) -> str:
    return " || ' ' || ".join(_pick(_WORDS, f"{seed} * 31 + {number}") for number in range(words))


def _create(orders: int) -> str:
    suppliers, parts, customers = max(orders // 150, 10), max(orders * 2 // 15, 40), max(orders // 10, 10)
    nations = ", ".join(
        f"({key}, '{entry.rpartition(' ')[0]}', {entry.rpartition(' ')[2]})" for key, entry in enumerate(_NATIONS.split(","))
    )
    phone = (
        "(10 + hash({k} * 3) % 25) || '-' || (100 + hash({k}) % 900) || '-' || (100 + hash({k} * 5) % 900) || '-' || (1000 + {k} % 9000)"
    )
    return f"""
CREATE TABLE region AS SELECT * FROM (VALUES (0, 'AFRICA'), (1, 'AMERICA'), (2, 'ASIA'), (3, 'EUROPE'), (4, 'MIDDLE EAST'))
  t(r_regionkey, r_name);
CREATE TABLE nation AS SELECT * FROM (VALUES {nations}) t(n_nationkey, n_name, n_regionkey);
CREATE TABLE supplier AS SELECT k::INTEGER AS s_suppkey, 'Supplier#' || lpad(k::VARCHAR, 9, '0') AS s_name,
  substr(md5(k::VARCHAR), 1, 10 + k % 20) AS s_address, (hash(k * 3) % 25)::INTEGER AS s_nationkey, {phone.format(k="k")} AS s_phone,
  ((hash(k * 7) % 1100000)::INTEGER / 100.0 - 1000)::DECIMAL(15,2) AS s_acctbal,
  CASE WHEN k % 100 = 7 THEN 'sly Customer even Complaints' ELSE {_comment("k", 6)} END AS s_comment
  FROM range(1, {suppliers} + 1) t(k);
CREATE TABLE part AS SELECT k::INTEGER AS p_partkey,
  {_pick(_COLOURS, "k")} || ' ' || {_pick(_COLOURS, "k * 3 + 1")} || ' ' || {_pick(_COLOURS, "k * 5 + 2")} AS p_name,
  'Manufacturer#' || (1 + hash(k) % 5) AS p_mfgr, 'Brand#' || (1 + hash(k) % 5) || (1 + hash(k * 3) % 5) AS p_brand,
  {_pick("STANDARD SMALL MEDIUM LARGE ECONOMY PROMO", "k * 7")} || ' ' || {_pick("ANODIZED BURNISHED PLATED POLISHED BRUSHED", "k * 11")}
  || ' ' || {_pick("TIN NICKEL BRASS STEEL COPPER", "k * 13")} AS p_type, (1 + hash(k * 17) % 50)::INTEGER AS p_size,
  {_pick("SM LG MED JUMBO WRAP", "k * 19")} || ' ' || {_pick("CASE BOX BAG JAR PKG PACK CAN DRUM", "k * 23")} AS p_container,
  (900 + k % 1000 + (k % 100) / 100.0)::DECIMAL(15,2) AS p_retailprice, {_comment("k", 2)} AS p_comment FROM range(1, {parts} + 1) t(k);
CREATE TABLE partsupp AS SELECT k::INTEGER AS ps_partkey, (1 + (k * 7 + j * ({suppliers} // 4 + 1)) % {suppliers})::INTEGER AS ps_suppkey,
  (1 + hash(k * 4 + j) % 9999)::INTEGER AS ps_availqty, (1 + (hash(k * 5 + j) % 100000)::INTEGER / 100.0)::DECIMAL(15,2) AS ps_supplycost,
  {_comment("(k + j)", 8)} AS ps_comment FROM range(1, {parts} + 1) t(k), range(4) s(j);
CREATE TABLE customer AS SELECT k::INTEGER AS c_custkey, 'Customer#' || lpad(k::VARCHAR, 9, '0') AS c_name,
  substr(md5(k::VARCHAR), 1, 10 + k % 20) AS c_address, (hash(k * 3) % 25)::INTEGER AS c_nationkey, {phone.format(k="k")} AS c_phone,
  ((hash(k * 7) % 1100000)::INTEGER / 100.0 - 1000)::DECIMAL(15,2) AS c_acctbal,
  {_pick("AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD", "k * 11")} AS c_mktsegment, {_comment("k", 7)} AS c_comment
  FROM range(1, {customers} + 1) t(k);
CREATE TABLE raw_orders AS SELECT k, (k // 8 * 32 + k % 8)::INTEGER AS o_orderkey,
  (1 + hash(k * 3) % ({customers} * 2 // 3) * 3 // 2)::INTEGER AS o_custkey,
  DATE '1992-01-01' + (hash(k * 5) % 2406)::INTEGER AS o_orderdate, 1 + (hash(k * 7) % 7)::INTEGER AS lines
  FROM range(1, {orders} + 1) t(k);
CREATE TABLE lineitem AS SELECT o_orderkey AS l_orderkey, (1 + hash(k * 7 + n) % {parts})::INTEGER AS l_partkey,
  (1 + ((1 + hash(k * 7 + n) % {parts}) * 7 + hash(k + n) % 4 * ({suppliers} // 4 + 1)) % {suppliers})::INTEGER AS l_suppkey,
  n::INTEGER AS l_linenumber, (1 + hash(k * 11 + n) % 50)::DECIMAL(15,2) AS l_quantity,
  ((1 + hash(k * 11 + n) % 50) * (900 + (1 + hash(k * 7 + n) % {parts}) % 1000))::DECIMAL(15,2) AS l_extendedprice,
  ((hash(k * 13 + n) % 11)::INTEGER / 100.0)::DECIMAL(15,2) AS l_discount,
  ((hash(k * 17 + n) % 9)::INTEGER / 100.0)::DECIMAL(15,2) AS l_tax,
  CASE WHEN o_orderdate + (1 + hash(k * 19 + n) % 121)::INTEGER > DATE '1995-06-17' THEN 'N'
  WHEN hash(k + n * 3) % 2 = 0 THEN 'R' ELSE 'A' END
  AS l_returnflag,
  CASE WHEN o_orderdate + (1 + hash(k * 19 + n) % 121)::INTEGER > DATE '1995-06-17' THEN 'O' ELSE 'F' END AS l_linestatus,
  o_orderdate + (1 + hash(k * 19 + n) % 121)::INTEGER AS l_shipdate, o_orderdate + (30 + hash(k * 23 + n) % 61)::INTEGER AS l_commitdate,
  o_orderdate + (2 + hash(k * 19 + n) % 121 + hash(k * 29 + n) % 30)::INTEGER AS l_receiptdate,
  {_pick("DELIVER IN PERSON,COLLECT COD,NONE,TAKE BACK RETURN", "k * 31 + n", ",")} AS l_shipinstruct,
  {_pick("REG AIR,AIR,RAIL,SHIP,TRUCK,MAIL,FOB", "k * 37 + n", ",")} AS l_shipmode, {_comment("(k + n)", 3)} AS l_comment
  FROM raw_orders, LATERAL (SELECT unnest(range(1, lines + 1)) AS n);
CREATE TABLE orders AS SELECT o_orderkey, o_custkey, {_pick("O F P", "k * 41")} AS o_orderstatus,
  ((hash(k * 43) % 50000000)::INTEGER / 100.0)::DECIMAL(15,2) AS o_totalprice, o_orderdate,
  {_pick("1-URGENT,2-HIGH,3-MEDIUM,4-NOT SPECIFIED,5-LOW", "k * 47", ",")} AS o_orderpriority,
  'Clerk#' || lpad((hash(k) % 1000)::VARCHAR, 9, '0') AS o_clerk, 0 AS o_shippriority, {_comment("k", 5)} AS o_comment FROM raw_orders;
DROP TABLE raw_orders;
CHECKPOINT
"""


def build_tpch(path: Path, orders: int = ORDERS) -> Path:
    """Write the database to ``path`` (which must not exist) and return the path. The same on every machine."""
    con = duckdb.connect(str(path), config={"threads": 1})
    con.execute(_create(orders))
    con.close()
    return path


def tpch_statements() -> list[Statement]:
    """The 22 queries, each a template of its own."""
    return [Statement(TPCH, TPCH, f"tpch_{name}", sql) for name, sql in TPCH_QUERIES]
