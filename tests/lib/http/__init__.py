"""Clients and their checks: requests, keys and identities, and the published description."""
