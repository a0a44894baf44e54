-- Views for isolation sql and exports to DuckDB, in the order in which they need each other.

CREATE VIEW plays AS
SELECT run, game_id, pair_id, side, agent, opponent, role, winner = side AS won,
       CASE WHEN winner <> side THEN reason END AS lost_by, plies, opening_id, orbit, colours
FROM (SELECT *, 1 AS side, agent_1 AS agent, agent_2 AS opponent FROM games
      UNION ALL SELECT *, 2, agent_2, agent_1 FROM games)
LEFT JOIN (SELECT run, agent, role FROM agents) USING (run, agent);

CREATE VIEW labels AS
SELECT run, game_id, ply, nullif(value, -1) AS value, nullif(winning, -1) AS winning, nullif(legal, -1) AS legal,
       nullif(kept, -1) AS kept
FROM (SELECT run, game_id, generate_subscripts(value, 1) AS ply, unnest(value) AS value,
             unnest(winning) AS winning, unnest(legal) AS legal, unnest(kept) AS kept FROM labelled_games);

CREATE VIEW plies AS
SELECT run, game_id, ply, side, agent, role, cell, is_opening, CASE WHEN NOT isnan(score) THEN score END AS score,
       CASE WHEN NOT is_opening THEN depth END AS depth, CASE WHEN NOT is_opening THEN nodes END AS nodes,
       CASE WHEN NOT is_opening THEN time_us END AS time_us, CASE WHEN NOT is_opening THEN exact END AS exact,
       value, winning, legal, kept
FROM (SELECT *, ply <= opening_plies AS is_opening, CASE ply % 2 WHEN 1 THEN 1 ELSE 2 END AS side,
             CASE ply % 2 WHEN 1 THEN agent_1 ELSE agent_2 END AS agent
      FROM (SELECT run, game_id, agent_1, agent_2, len(opening) AS opening_plies,
                   generate_subscripts(moves, 1) AS ply, unnest(moves) AS cell, unnest(score) AS score,
                   unnest(depth) AS depth, unnest(nodes) AS nodes, unnest(time_us) AS time_us,
                   unnest(exact) AS exact FROM games))
LEFT JOIN (SELECT run, agent, role FROM agents) USING (run, agent)
LEFT JOIN labels USING (run, game_id, ply);
