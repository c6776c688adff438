"""Overview of a project: how many labels are right, progress, forecast, charts, and what to do next."""
