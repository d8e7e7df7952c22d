"""Schemathesis over the HTTP surface: whatever fits the published schema, or breaks it, is answered and never by a crash."""

from __future__ import annotations

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.schemas import APIOperation

OURS = ("/health", "/ready", "/metrics", "/schema", "/metadata", "/state", "/reset", "/step", "/tasks")
# The stateless model context protocol and the web pages are OpenEnv's own and speak no JSON schema.
LEFT_OUT = ("/mcp", "/web")
DRAWN = settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def api(server):
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


def statuses(operation: APIOperation, mode: GenerationMode) -> set[int]:
    """What the server answered requests of one operation with."""
    seen: set[int] = set()

    @DRAWN
    @given(operation.as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        answer = case.call(timeout=60)
        assert answer.status_code < 500, (case.as_curl_command(), answer.text[:500])
        seen.add(answer.status_code)

    ask()
    return seen


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fits", "breaks"])
def test_every_request_is_answered_and_not_by_a_crash(api, mode: GenerationMode) -> None:
    operations = [found.ok() for found in api.get_all_operations()]
    # A GET without parameters has nothing that could break its schema.
    asked = [
        each for each in operations if not each.path.startswith(LEFT_OUT) and (mode is GenerationMode.POSITIVE or each.method == "post")
    ]
    tried = {f"{each.method} {each.path}": statuses(each, mode) for each in asked}
    assert len(tried) >= 5
    assert [name for name, seen in tried.items() if not seen] == []


def test_the_schema_describes_every_route_of_ours(server) -> None:
    status, document = server.request("/openapi.json")
    assert status == 200
    assert [path for path in OURS if path not in document["paths"]] == [], json.dumps(sorted(document["paths"]))


def test_the_server_still_plays_after_all_that(server) -> None:
    with server.session() as wire:
        assert wire.reset(task_id="type_repair")["type"] == "observation"
