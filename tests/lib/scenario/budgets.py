"""Budgets that stop runs, and starts that they are about."""

TRIGGER = "/fleet/trigger"
OBEYS = {"agent": "agent_three", "provider": "openai"}  # AGENT_COMMANDS of the tests say so
BUDGET = {"scope": "account", "period": "month", "usd": 20, "action": "stop"}
