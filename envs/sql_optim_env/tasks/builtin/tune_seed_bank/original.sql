SELECT taxon,
       COUNT(*) AS accessions,
       SUM(seeds) AS seeds,
       COUNT(germinated) AS tested,
       MIN(germinated) AS weakest
FROM accession
GROUP BY taxon
ORDER BY taxon
