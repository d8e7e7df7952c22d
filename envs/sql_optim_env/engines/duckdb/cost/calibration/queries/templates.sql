-- Query templates over one table, by family. {t} table, {id} its key, {k} {k2} grouping and joining columns, {lo} {hi} texts of
-- low and high cardinality, {n} a number, {ts} a time, {p0}..{p3} predicates; {p}, {p} AND {q}, {g} and {o} are instantiated with every
-- predicate, pair of predicates, grouping key and order.

--- filter
SELECT count(*) FROM {t} WHERE {p};
SELECT max({n}), max({ts}) FROM {t} WHERE {p};
SELECT count(*) FROM {t} WHERE NOT ({p}) OR {k} = 17;
SELECT count(*), avg({n}) FROM {t} WHERE {p} AND {q};
SELECT count(*) FROM {t} WHERE ({p0} OR {p1}) AND {k} IN (1, 2, 3, 5, 8, 13, 21);
SELECT count(*) FROM {t} WHERE {k} IN (7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77, 84, 91, 98, 105, 112, 119, 126, 133,
  140);
SELECT count(*) FROM {t} WHERE {n} * 1.1 + {k2} * 2 > 100 AND {n} / 3 < 900;
SELECT count(*) FROM {t} WHERE {n} BETWEEN 10 AND 60 AND {k2} IS NOT NULL;
SELECT count(*) FROM {t} WHERE {n} % 7 = 3;
SELECT count(*) FROM {t} WHERE {k} <> {k2} AND {id} > 10;

--- project
SELECT * FROM {t};
SELECT * FROM {t} WHERE {p};
SELECT {id}, {n} FROM {t} WHERE {p};
SELECT {k}, {n} FROM {t};
SELECT {k} + 1 AS a, {n} * 2 AS b, {n} - {id} AS c, {k} % 7 AS d FROM {t};
SELECT {id}, CASE WHEN {n} > 500 THEN 'hi' WHEN {n} > 50 THEN 'mid' ELSE 'lo' END AS c, coalesce({lo}, 'x') AS x FROM
  {t};
SELECT max(a + b) FROM (SELECT {k} * 3 AS a, {n} + 1 AS b, {lo} FROM {t}) WHERE a <> 12;
SELECT * FROM {t} LIMIT 1000;
SELECT {id}, {hi} FROM {t} WHERE {p0} LIMIT 50;
SELECT {id} AS k, {lo} AS v FROM {t} WHERE {p1};

--- cast
SELECT count(*) FROM {t} WHERE cast({k} AS VARCHAR) = '77';
SELECT cast({k} AS VARCHAR) AS a, cast({n} AS VARCHAR) AS b FROM {t};
SELECT cast({ts} AS VARCHAR) AS a FROM {t};
SELECT max(cast({k} AS DOUBLE)), sum(cast({n} AS BIGINT)), max(cast({ts} AS DATE)) FROM {t};
SELECT count(*) FROM {t} WHERE cast({ts} AS VARCHAR) LIKE '2023-03-1%';
SELECT sum(length(cast({n} AS VARCHAR))) FROM {t};
SELECT sum(try_cast(substr({hi}, 2, 2) AS INTEGER)) FROM {t};
SELECT {id}::DECIMAL(18,4) AS d, {n}::DOUBLE AS f FROM {t} WHERE {p1};

--- string
SELECT count(*) FROM {t} WHERE {hi} LIKE '%a%e%';
SELECT count(*) FROM {t} WHERE lower({hi}) LIKE '%er%';
SELECT count(*) FROM {t} WHERE {hi} LIKE 'pa%';
SELECT sum(length({hi})), max(upper({hi})) FROM {t};
SELECT count(*) FROM {t} WHERE regexp_matches({hi}, '[a-f]+[0-9]*[a-z]{{2,3}}$');
SELECT count(DISTINCT md5({hi})) FROM {t};
SELECT {hi} || '-' || {k} AS x FROM {t};
SELECT count(*) FROM {t} WHERE substr({hi}, 2, 4) = 'ipsu';
SELECT max(replace({hi}, 'a', 'bb')), min(reverse({hi})) FROM {t};
SELECT count(*) FROM {t} WHERE strpos({hi}, 's') > 2 AND contains({hi}, 'e');
SELECT sum(len(string_split({hi}, 'a'))) FROM {t};
SELECT regexp_replace({hi}, '[aeiou]+', '#', 'g') AS x, count(*) FROM {t} GROUP BY 1;
SELECT split_part({hi}, 'e', 2) AS x, count(*) FROM {t} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10;
SELECT count(*) FROM {t} WHERE {hi} ILIKE '%PAI%';
SELECT trim({hi}) AS a, concat({hi}, 'x', {id}) AS b, left({hi}, 4) AS c FROM {t} WHERE {p0};
SELECT count(*) FROM {t} WHERE levenshtein({hi}, 'purchased') < 4;
SELECT max(md5({id}::VARCHAR || {lo})) FROM {t};
SELECT md5(concat_ws('|', {id}, {lo}, {ts})) AS h FROM {t} WHERE {p0};

--- date
SELECT date_trunc('month', {ts}) AS m, count(*), max({n}) FROM {t} GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM {t} WHERE strftime({ts}, '%Y-%m-%d') = '2023-03-01';
SELECT count(*) FROM {t} WHERE year({ts}) = 2023 AND month({ts}) = 3;
SELECT extract(dow FROM {ts}) AS d, avg({n}) FROM {t} GROUP BY 1;
SELECT count(*) FROM {t} WHERE {ts} >= TIMESTAMP '2023-03-01' AND {ts} < TIMESTAMP '2024-01-10';
SELECT sum(date_diff('day', {ts}, TIMESTAMP '2024-06-01')) FROM {t};
SELECT {ts} + INTERVAL 1 DAY AS x, {ts}::DATE AS y FROM {t};
SELECT strftime({ts}, '%Y-%m') AS m, count(*) FROM {t} GROUP BY 1;
SELECT dayname({ts}) AS d, count(*) FROM {t} WHERE {p3} GROUP BY 1;
SELECT max(time_bucket(INTERVAL 7 DAY, {ts})), max(last_day({ts})) FROM {t};
SELECT sum(epoch({ts})) FROM {t};
SELECT count(*) FROM {t} WHERE {ts} + INTERVAL 3 DAY > TIMESTAMP '2024-12-01';
SELECT {ts}::DATE AS day, count(*) FROM {t} GROUP BY 1;

--- group
SELECT {g}, count(*) FROM {t} GROUP BY ALL;
SELECT {g}, sum({n}), avg({n}), min({id}), max({ts}) FROM {t} GROUP BY ALL;
SELECT {g}, count(*) AS c FROM {t} WHERE {p0} GROUP BY ALL HAVING count(*) > 3;
SELECT {lo}, {k} % 5 AS z, count(*) FROM {t} GROUP BY ROLLUP (1, 2);
SELECT {lo}, {k} % 5 AS z, max({n}) FROM {t} GROUP BY GROUPING SETS ((1), (2), ());

--- distinct
SELECT count(DISTINCT {k}) FROM {t};
SELECT DISTINCT {k} FROM {t};
SELECT DISTINCT {hi} FROM {t};
SELECT {lo}, count(DISTINCT {k}), count(DISTINCT {k2}) FROM {t} GROUP BY 1;
SELECT count(*) FROM (SELECT DISTINCT {lo}, {k2} FROM {t});
SELECT {k2}, count(DISTINCT {lo}) FROM {t} GROUP BY 1;
SELECT DISTINCT ON ({k}) {k}, {n}, {ts} FROM {t} ORDER BY {k}, {ts} DESC, {id};
SELECT DISTINCT * FROM {t} WHERE {p0};
SELECT count(DISTINCT {ts}::DATE) FROM {t};

--- conditional_aggregate
SELECT count(*) FILTER ({p0}), count(*) FILTER ({p1}), max({n}) FILTER ({p3}) FROM {t};
SELECT {k}, count(*) FILTER ({p0}), max({n}) FILTER ({p1}) FROM {t} GROUP BY 1;
SELECT {lo}, sum(CASE WHEN {p0} THEN {n} ELSE 0 END), sum(CASE WHEN {p1} THEN 1 END) FROM {t} GROUP BY 1;
SELECT sum(CASE WHEN {p0} THEN 1 ELSE 0 END) * 1.0 / count(*) FROM {t};
SELECT sum(({p0})::INTEGER), sum(({p1})::INTEGER), count(nullif({k}, 3)) FROM {t};

--- order
SELECT {k} FROM {t} ORDER BY {o};
SELECT * FROM {t} ORDER BY {o};
SELECT * FROM {t} ORDER BY {o} LIMIT 20;
SELECT {k}, {n} FROM {t} WHERE {p1} ORDER BY {o} LIMIT 10 OFFSET 500;
SELECT {k}, {n} FROM {t} WHERE {p0} ORDER BY {o};
SELECT * FROM {t} ORDER BY {o} LIMIT 5000;

--- window
SELECT {id}, row_number() OVER (PARTITION BY {k} ORDER BY {ts}, {id}) AS w FROM {t};
SELECT {id}, sum({n}) OVER (PARTITION BY {k} ORDER BY {ts}) AS w FROM {t};
SELECT {id}, rank() OVER (ORDER BY {n}) AS w FROM {t};
SELECT {id}, lag({n}) OVER (PARTITION BY {k2} ORDER BY {ts}) AS w FROM {t};
SELECT {id}, avg({n}) OVER (ORDER BY {ts} ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS w FROM {t};
SELECT {id}, count(*) OVER (PARTITION BY {lo}) AS w FROM {t};
SELECT {id}, row_number() OVER () AS w FROM {t};
SELECT {id}, sum({n}) OVER (PARTITION BY {k} ORDER BY {ts} RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS w
  FROM {t};
SELECT {id}, first_value({n}) OVER (PARTITION BY {lo} ORDER BY {ts}) AS w FROM {t};
SELECT max(w) FROM (SELECT ntile(10) OVER (ORDER BY {n}) AS w FROM {t} WHERE {p0});
SELECT max(w) FROM (SELECT dense_rank() OVER (PARTITION BY {lo} ORDER BY {k}) AS w FROM {t} WHERE {p1});
SELECT {id}, max({n}) OVER (PARTITION BY {k}) AS w FROM {t};
SELECT max(w) FROM (SELECT median({n}) OVER (PARTITION BY {k} ORDER BY {ts} ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING) AS
  w FROM {t} WHERE {p3});
SELECT {id}, percent_rank() OVER w AS a, sum({n}) OVER w AS b, lead({n}, 2) OVER w AS c FROM {t} WINDOW w AS (PARTITION
  BY {lo} ORDER BY {n});
SELECT * FROM (SELECT {id}, {k}, {n}, row_number() OVER (PARTITION BY {k} ORDER BY {n} DESC, {id}) AS rn FROM {t}) WHERE
  rn <= 3;
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {k2} ORDER BY {ts} DESC, {id}) AS rn FROM {t}) WHERE rn = 1;
SELECT {k}, {n} FROM {t} QUALIFY {n} > avg({n}) OVER (PARTITION BY {k});
SELECT {id}, count(*) OVER (PARTITION BY {k}) AS a, sum({n}) OVER (PARTITION BY {k}, {lo}) AS b FROM {t};

--- cte
WITH c AS MATERIALIZED (SELECT {k} AS k, max({n}) AS s, count(*) AS n FROM {t} GROUP BY 1) SELECT (SELECT max(s) FROM
  c), (SELECT min(n) FROM c), (SELECT count(*) FROM c WHERE s > 5);
WITH c AS (SELECT * FROM {t} WHERE {p0}) SELECT {lo}, count(*) FROM c GROUP BY 1 UNION ALL SELECT 'all', count(*) FROM c;
WITH c AS (SELECT {k} AS k, {n} AS n FROM {t} WHERE {p1}) SELECT a.k, count(*) FROM c a JOIN (SELECT k, max(n) AS m FROM
  c GROUP BY 1) b ON a.k = b.k AND a.n = b.m GROUP BY 1;
WITH c AS MATERIALIZED (SELECT * FROM {t}) SELECT count(*) FROM c WHERE {p0};
WITH c AS MATERIALIZED (SELECT {id}, {n}, {lo} FROM {t} WHERE {p3}) SELECT (SELECT count(*) FROM c), (SELECT max({n})
  FROM c WHERE {lo} > 'm');

--- subquery
SELECT count(*) FROM {t} WHERE {n} > (SELECT avg({n}) FROM {t});
SELECT count(*) FROM {t} WHERE {k} IN (SELECT {k} FROM {t} WHERE {p3});
SELECT count(*) FROM {t} a WHERE EXISTS (SELECT 1 FROM {t} b WHERE b.{id} = a.{id} + 1 AND b.{p0});
SELECT count(*) FROM {t} WHERE {k} NOT IN (SELECT {k} FROM {t} WHERE {p1} AND {k} IS NOT NULL);
SELECT {id}, (SELECT max({n}) FROM {t} b WHERE b.{id} = a.{id} - 1) AS m FROM {t} a WHERE a.{id} < 30000;
SELECT (SELECT count(*) FROM {t} WHERE {p0}) AS a, (SELECT max({n}) FROM {t} WHERE {p1}) AS b, (SELECT min({n}) FROM {t}
  WHERE {p3}) AS c;

--- set_operation
SELECT {k} FROM {t} WHERE {p0} UNION ALL SELECT {k} FROM {t} WHERE {p1};
SELECT {k} FROM {t} WHERE {p0} UNION SELECT {k} FROM {t} WHERE {p1};
SELECT {k} FROM {t} WHERE {p0} EXCEPT SELECT {k} FROM {t} WHERE {p1};
SELECT {id}, {lo} FROM {t} WHERE {p0} INTERSECT SELECT {id}, {lo} FROM {t} WHERE {p3};
SELECT count(*) FROM (SELECT {hi}, {n} FROM {t} WHERE {p1} UNION SELECT {hi}, {n} FROM {t} WHERE {p2});
SELECT * FROM {t} WHERE {p0} EXCEPT SELECT * FROM {t} WHERE {p3};
SELECT * FROM {t} WHERE {p0} UNION SELECT * FROM {t} WHERE {p3};

--- list
SELECT {k}, len(list({id})) AS n FROM {t} GROUP BY 1;
SELECT {k}, list_sum(list({n})) AS s FROM {t} GROUP BY 1;
SELECT sum(list_sum(list_transform(range({id} % 8), lambda x: x * 2))) FROM {t};
SELECT unnest(range({id} % 5)) AS u, {id} FROM {t} WHERE {p0};
SELECT count(*) FROM (SELECT unnest(l) FROM (SELECT {lo}, list({k}) AS l FROM {t} GROUP BY 1));
SELECT {k}, list_sort(list({n}))[1:3] AS v FROM {t} GROUP BY 1;
SELECT {k}, len(list_distinct(list({lo}))) AS n FROM {t} GROUP BY 1;
SELECT sum(list_contains([1, 2, 3, {id}], 5)::INTEGER) FROM {t};
SELECT {k}, len(list_filter(list({n}), lambda x: x > 50)) AS n FROM {t} GROUP BY 1;
SELECT {k}, array_to_string(list({lo} ORDER BY {id}), ',') AS s FROM {t} GROUP BY 1;

--- join
SELECT count(*) FROM {t} a JOIN {t} b ON a.{id} = b.{id} WHERE a.{p0} AND b.{p1};
SELECT a.k, count(*) FROM (SELECT {k} AS k FROM {t} WHERE {p0}) a LEFT JOIN (SELECT {k} AS k, count(*) AS n FROM {t}
  GROUP BY 1) g ON a.k = g.k GROUP BY 1;
SELECT a.{lo}, max(b.{n}) FROM (SELECT {lo}, {id} FROM {t}) a JOIN (SELECT {id}, {n} FROM {t} WHERE {p1}) b USING ({id})
  GROUP BY 1;
SELECT count(*) FROM {t} a JOIN {t} b ON b.{id} = a.{id} + 1 AND b.{lo} = a.{lo};
