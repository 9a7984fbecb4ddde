"""The last lines of a program that breaks things and checks what was promised."""


def report(broken):
    """Print each broken promise, or that there is none. Returns the exit status."""
    for line in broken:
        print("BROKEN:", line)
    print(f"{len(broken)} promises were broken" if broken else "every promise was kept")
    return 1 if broken else 0
