"""OpenEnv's face of the environment: settings, application, sessions."""
