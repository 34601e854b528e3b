"""What goes wrong, and where."""


class InputError(Exception):
    """A file or an argument is wrong."""


class ProgramError(Exception):
    """A chunk program is wrong: a verb that cannot be meant, or an end that is not what the collective wants.

    `code` is "check-failed" where the program ran but does not do what its collective wants, else "program-error"; `place` is the line of the program, if it is known.
    """

    def __init__(self, message: str, code: str = "program-error", place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.code = code
        self.place = place
