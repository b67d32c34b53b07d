"""What the commands do, one module each; `walkeval.cli` imports them when they are called."""
