"""The harness: servers and processes of a run, clients, and what every answer is held against."""
