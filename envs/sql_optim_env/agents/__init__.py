"""Players: agents of known worth that demos, evaluations and tests play against the environment."""
