"""Runs of agents for the tests of svc-fleet."""

REPO = "acme/ranker"
SCOPES = ["fleet:report", "fleet:read"]
