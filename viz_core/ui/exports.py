"""What the reader may take away: the link to this frame, the figure, the animation, the numbers."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from viz_core.figures.layout import config
from viz_core.ui import link
from viz_core.ui.player import trace_html
from viz_core.ui.registry import path_of
from viz_core.ui.scene import Context, Download, Plate, Scene, View


def csv(table: Mapping[str, list[Any]]) -> bytes:
    """The numbers as CSV in UTF-8 with a mark that spreadsheets need for Hanzi."""
    buffer = io.StringIO()
    pd.DataFrame(table).to_csv(buffer, index=False)
    return buffer.getvalue().encode("utf-8-sig")


def _page(plate: Plate) -> bytes:
    html: str = plate.figure.to_html(include_plotlyjs=True, config=config("infersight", "png"))
    return html.encode("utf-8")


def files(scene: Scene, view: View, context: Context) -> list[Download]:
    """Every file of a view; the large ones are made only when asked for."""
    out = list(view.downloads)
    trace, table = view.trace, view.table
    if trace is not None:
        out.append(Download(f"{scene.id}.animation.html", "text/html",
                            lambda: trace_html(trace, context.lang, start=view.start).encode()))
    for i, plate in enumerate(view.plates):
        out.append(Download(f"{scene.id}.figure{i + 1}.html", "text/html", partial(_page, plate)))
    if table is not None:
        out.append(Download(f"{scene.id}.csv", "text/csv", lambda: csv(table)))
    return out


def offer(scene: Scene, view: View, context: Context) -> None:
    """The link and a button a file."""
    too_long = link.pack(context.bench.prompt) is None
    st.caption(context.t("shell.long_link" if too_long else "shell.link"))
    st.code(link.address(path_of(scene.page)), language=None, wrap_lines=True)
    with st.container(horizontal=True):
        for file in files(scene, view, context):
            st.download_button(file.name, file.data, file.name, file.mime, key=f"file.{scene.table}.{file.name}",
                               on_click="ignore", icon=":material/download:")
