"""Words for tests of searching."""

import secrets

CONSONANTS = "bcdfghjkmnpqrtvx"


def new_word():
    """One that nobody else has, and that English stemming leaves alone: it holds a vowel, so that its plural is seen as
    one, and neither it nor what begins with it ends in a suffix that makes it another's stem (`...pkllate`, `...pkl`)."""
    return "zaq" + "".join(CONSONANTS[int(digit, 16)] for digit in secrets.token_hex(6)) + "k"
