SELECT player_id, name, game_id, event, moves
FROM (
    SELECT p.id AS player_id, p.name, g.id AS game_id, g.event, g.moves,
           ROW_NUMBER() OVER (PARTITION BY p.id ORDER BY g.id DESC) AS newest
    FROM player p
    JOIN (SELECT white AS who, id, event, moves FROM game
          UNION ALL
          SELECT black AS who, id, event, moves FROM game) g ON g.who = p.id
    WHERE p.club = 'Rook'
)
WHERE newest <= 3
ORDER BY player_id, game_id DESC
