"""Generated assistant dialogues."""
