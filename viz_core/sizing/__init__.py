"""KV bytes, weight bytes, hardware and the roofline."""
