"""`python -m zank` is the `zank` command."""

from zank.cli import main

main(prog_name="zank")
