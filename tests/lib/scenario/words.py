"""Words for tests of search."""

import secrets

CONSONANTS = "bcdfghjkmnpqrtvx"


def new_word():
    """A random word that no other test uses and that the English stemmer does not change. It contains a vowel, so that
    its plural is recognised. It ends in `k`, so that neither it nor a longer word that begins with it has a suffix that
    the stemmer removes."""
    return "zaq" + "".join(CONSONANTS[int(digit, 16)] for digit in secrets.token_hex(6)) + "k"
