"""Two results beside each other: `side` reads one, `alike` says what differs, `model` matches and judges,
`tables` and `render` show."""
