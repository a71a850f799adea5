"""The live screen: the Textual application behind `kestrel-chat`. Only `run` may be imported without textual."""
