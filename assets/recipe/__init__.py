"""How kestrel-nano is made: tokenizer, corpus, dialogues, model, training, evaluation."""
