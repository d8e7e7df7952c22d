WITH t AS MATERIALIZED (SELECT id, taxon FROM accession),
     r AS MATERIALIZED (SELECT id, seeds, germinated FROM accession)
SELECT t.taxon AS taxon, COUNT(*) AS accessions, SUM(r.seeds) AS seeds, COUNT(r.germinated) AS tested, MIN(r.germinated) AS weakest
FROM t
JOIN r ON r.id = t.id
GROUP BY t.taxon
ORDER BY t.taxon
