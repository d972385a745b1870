"""Whether a command printed what its page shows."""

ANY = "..."  # alone on a line: any lines, or none
TOLERANCE = 0.01  # relative; what pages show is rounded, and processors round differently


def as_shown(shown, printed):
    """Whether these lines are those that the page shows."""
    if not shown:
        return not printed
    if shown[0].strip() == ANY:
        return any(as_shown(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and _same(shown[0], printed[0]) and as_shown(shown[1:], printed[1:])


def _same(shown, printed):
    shown, printed = shown.split(), printed.split()
    return len(shown) == len(printed) and all(map(_same_word, shown, printed))


def _same_word(shown, printed):
    if shown == printed:
        return True
    try:
        wanted, found = (float(each.strip("(,)").replace(",", "")) for each in (shown, printed))
    except ValueError:
        return False
    return abs(wanted - found) <= TOLERANCE * abs(wanted)
