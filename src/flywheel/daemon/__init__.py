"""The long-running process: serves the socket, holds the clock and the watcher, and runs no job itself."""
