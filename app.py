"""The app: `streamlit run app.py`."""

from viz_core.ui.shell import main

main()
