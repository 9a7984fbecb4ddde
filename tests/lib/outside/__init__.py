"""Stand-ins for the services outside: the code host, OAuth, models, and who listens to what is sent out."""
