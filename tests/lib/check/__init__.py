"""Checks of what is not an answer: secrets that leak, manifests, alerts, promises."""
