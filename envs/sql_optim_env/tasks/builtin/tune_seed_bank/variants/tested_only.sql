WITH t AS MATERIALIZED (SELECT id, taxon FROM accession),
     s AS MATERIALIZED (SELECT id, seeds FROM accession),
     g AS MATERIALIZED (SELECT id, germinated FROM accession WHERE germinated >= 0)
SELECT t.taxon AS taxon, COUNT(*) AS accessions, SUM(s.seeds) AS seeds, COUNT(g.germinated) AS tested, MIN(g.germinated) AS weakest
FROM t
JOIN s ON s.id = t.id
JOIN g ON g.id = t.id
GROUP BY t.taxon
ORDER BY t.taxon
