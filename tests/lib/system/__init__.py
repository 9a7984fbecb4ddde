"""What a test runs against: private servers, the processes, and what can happen to them."""
