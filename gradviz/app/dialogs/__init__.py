"""Questions and choices: trust, run options, export, the command palette."""
