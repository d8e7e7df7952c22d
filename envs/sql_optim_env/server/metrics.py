"""What ``/metrics`` shows: sessions, steps, errors and the sandbox, in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_STEP_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The counters of one server. They live in a registry of their own, so that two apps in one process do not share them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.sessions = Gauge("sql_optim_sessions", "Sessions that hold an episode", registry=self.registry)
        self.resets = Counter("sql_optim_resets", "Episodes started, by family", ["family"], registry=self.registry)
        self.steps = Counter("sql_optim_steps", "Steps taken, by family and kind of action", ["family", "kind"], registry=self.registry)
        self.errors = Counter(
            "sql_optim_errors", "Errors by whose they are (agent, caller, infra) and by code", ["whose", "code"], registry=self.registry
        )
        self.step_seconds = Histogram(
            "sql_optim_step_seconds", "Wall time of a step in the server", ["kind"], buckets=_STEP_BUCKETS_S, registry=self.registry
        )

    def watch_sandbox(self, counters: Callable[[], Mapping[str, float]]) -> None:
        """Show what ``counters()`` returns as gauges ``sql_optim_sandbox_<name>``, asked at every scrape."""
        self.registry.register(_Counters("sql_optim_sandbox_", counters))

    def render(self) -> bytes:
        """Everything, as a scraper wants it."""
        return generate_latest(self.registry)


class _Counters(Collector):
    def __init__(self, prefix: str, counters: Callable[[], Mapping[str, float]]) -> None:
        self._prefix = prefix
        self._counters = counters

    def collect(self) -> list[GaugeMetricFamily]:
        """One gauge a counter."""
        return [GaugeMetricFamily(self._prefix + name, name.replace("_", " "), value=value) for name, value in self._counters().items()]
