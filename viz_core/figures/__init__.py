"""The only Plotly room: arrays in, figure out."""
