"""Tables of the gateway."""


def set_repo_verified(db, key, is_verified):
    """Whether the code host has said that the key's account may push to the key's repository."""
    db.execute("UPDATE api_key SET repo_verified = %s WHERE id = %s", [is_verified, key])
