"""Groups of options of `crowdpilot serve`: sign-in, and the mail server."""
