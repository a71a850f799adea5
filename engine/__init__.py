"""The Kestrel engine: hybrid Qwen3.5 models with bit-exact speculative decoding."""
