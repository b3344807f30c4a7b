"""A Llama-family decoder in NumPy, its readers, tokenizer, caches and probes."""
