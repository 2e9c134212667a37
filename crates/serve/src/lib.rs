//! The server: HTTP, WebSocket, and the conductor that runs a simulation against the clock.
