WITH p AS MATERIALIZED (SELECT id, name FROM player WHERE club = 'Rook')
SELECT p.id AS player_id, p.name, g.id AS game_id, g.event, g.moves
FROM p
CROSS JOIN game g ON g.id IN (
    SELECT id FROM (SELECT id FROM game WHERE white = p.id ORDER BY id DESC LIMIT 3)
    UNION
    SELECT id FROM (SELECT id FROM game WHERE black = p.id ORDER BY id DESC LIMIT 3)
)
ORDER BY player_id, game_id DESC
