"""``sql-optim serve``: the server in the foreground."""

from __future__ import annotations

import typer

__all__ = ["serve"]


def serve(context: typer.Context) -> None:
    """Run the server in the foreground. Takes the same flags as the ``server`` command; see ``server --help``."""
    from sql_optim_env.server.app import main

    main(context.args)
