"""The tasks that come with the package: one folder a task, read by ``tasks/loader.py``."""
