"""What the tests of svc-evalenv share."""

import base64

SPEC = {"image": "registry.example.com/ranker:1", "command": ["evaluate", "--all"], "metrics": ["recall"]}
SECRET_BYTES = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(SECRET_BYTES).decode()
