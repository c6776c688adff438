"""Pages of the dashboard for requesters."""
