"""The only Streamlit room: shell, scenes, player, cached calls."""
