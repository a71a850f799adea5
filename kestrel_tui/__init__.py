"""The `kestrel-chat` command."""
