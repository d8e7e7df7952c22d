from __future__ import annotations

from sql_optim_env.server.metrics import Metrics


def test_what_happened_is_counted_and_shown_as_text() -> None:
    metrics = Metrics()
    metrics.steps.labels("rewrite", "submit").inc()
    metrics.errors.labels("infra", "InfraError").inc(2)
    metrics.sessions.inc()
    text = metrics.render().decode()
    assert 'sql_optim_steps_total{family="rewrite",kind="submit"} 1.0' in text
    assert 'sql_optim_errors_total{code="InfraError",whose="infra"} 2.0' in text
    assert "sql_optim_sessions 1.0" in text


def test_the_sandbox_is_asked_at_every_scrape() -> None:
    metrics = Metrics()
    counters = {"calls": 1.0}
    metrics.watch_sandbox(lambda: counters)
    assert "sql_optim_sandbox_calls 1.0" in metrics.render().decode()
    counters["calls"] = 5.0
    assert "sql_optim_sandbox_calls 5.0" in metrics.render().decode()


def test_two_servers_in_one_process_count_apart() -> None:
    one, two = Metrics(), Metrics()
    one.sessions.inc()
    assert two.registry.get_sample_value("sql_optim_sessions") == 0
