"""Ways of undoing rejected drafts on a hybrid model, ours and the field's, side by side."""
