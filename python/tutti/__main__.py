"""python -m tutti: the command."""

from tutti.command import main

main()
