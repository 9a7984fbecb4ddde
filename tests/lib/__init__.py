"""The test harness: private servers, the processes of a run, clients, and the check of answers against the API's description."""
