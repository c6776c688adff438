"""`python -m crowdpilot` is the command line."""

from crowdpilot.cli import main

if __name__ == "__main__":
    main()
