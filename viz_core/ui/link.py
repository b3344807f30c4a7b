"""State that a link carries: `st.query_params` → session → default, and back again.

Navigation clears the query, widgets lose their state when their page is left, and `bind="query-params"` would write
translated labels into the link; so every shared value is held here by hand. The link wins, so that Back works.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

T = TypeVar("T")
KEPT, LONG, SAID, LINKED = "link.", "link.long.", "link.said.", "link.linked"
MARK = "lang"  # the parameter that every address of the app carries
MOST = 100_000  # bytes that a link value may unfold to
LONGEST = 1500  # characters of one value; the whole link stays below 2,000
STEP = "step"
STREAMLIT = ("embed", "embed_options")  # parameters that belong to Streamlit itself


def pack(text: str) -> str | None:
    """A text for the link: plain while short, else compressed with the prefix `z:`; None when it does not fit."""
    if len(quote(text)) <= 600 and not text.startswith("z:"):
        return text
    if len(text.encode("utf-8", "replace")) > MOST:
        return None  # `unpack` would refuse it
    packed = "z:" + base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")
    return packed if len(packed) <= LONGEST else None


def unpack(raw: str) -> str | None:
    """The text of a link value; None when it was damaged or would grow beyond 100,000 bytes."""
    if not raw.startswith("z:"):
        return raw
    try:
        engine = zlib.decompressobj()
        data = engine.decompress(base64.urlsafe_b64decode(raw[2:].encode("ascii")), MOST)
        return data.decode("utf-8") if engine.eof else None
    except (ValueError, zlib.error):
        return None


def begin() -> None:
    """Start a whole run: note whether the address carries a link, or was cleared by a change of page.

    The app writes the language into every address; so where it stands, what else is absent has its default (Back
    undoes a control), and where it does not, the session knows.
    """
    st.session_state[LINKED] = MARK in st.query_params


def end() -> None:
    """End a whole run: what reruns until the next one has a link of its own."""
    st.session_state[LINKED] = True


def get(name: str, default: T, parse: Callable[[str], T | None]) -> T:
    """The value of `name` from the link, else the session, else the default; what the link cannot mean is dropped.

    What the link says stays in it even where it is the default, which another scene may not share.
    """
    said = value = _read(text(name), parse)
    if value is None and (not st.session_state.get(LINKED) or st.session_state.get(LONG + name)):
        value = _read(st.session_state.get(KEPT + name), parse)  # bounds may have changed with the model
    if value is None:
        value = default
    put(name, value, default if said is None else None)
    return value


def _read(raw: object, parse: Callable[[str], T | None]) -> T | None:
    return None if raw is None else parse(str(raw))


def text(name: str) -> str | None:
    """What the link says of `name`, unpacked; None when it says nothing usable."""
    raw = st.query_params.get(name)
    return None if raw is None else unpack(raw)


def put(name: str, value: T, default: T) -> None:
    """Keep a value for the session and write it into the link, unless it is the default or too long for one."""
    st.session_state[KEPT + name] = value
    packed = None if value == default else pack(str(value))
    st.session_state[LONG + name] = packed is None and value != default
    st.session_state[SAID + name] = packed
    if packed is None:
        if name in st.query_params:
            del st.query_params[name]
    elif st.query_params.get(name) != packed:
        st.query_params[name] = packed


def forget(name: str) -> None:
    """Let a value be its default again, whatever that is where it is asked for next."""
    st.session_state.pop(KEPT + name, None)
    st.session_state.pop(LONG + name, None)
    st.session_state.pop(SAID + name, None)
    if name in st.query_params:
        del st.query_params[name]


def pin(name: str) -> None:
    """Write a value into the link even where it is the default, because the default is about to change."""
    if KEPT + name in st.session_state:
        put(name, st.session_state[KEPT + name], None)


def step(default: int) -> int:
    """The player's step that the link names; it belongs to one frame, so no session keeps it."""
    raw = text(STEP)
    return int(raw) if raw is not None and raw.isascii() and raw.isdigit() and len(raw) < 8 else default


def put_step(number: int) -> None:
    """Write the step on which the reader rests into the link."""
    st.query_params[STEP] = str(number)


def drop_step() -> None:
    """Forget the step: another scene is shown."""
    if STEP in st.query_params:
        del st.query_params[STEP]


def prune(allowed: Iterable[str]) -> None:
    """Remove from the link what the shown scene does not know."""
    known = {*allowed, STEP, *STREAMLIT}
    for name in [n for n in st.query_params if n not in known]:
        del st.query_params[name]


def carry(names: Iterable[str]) -> None:
    """Hold controls that scenes of a page share, shown or not: what the link says of them is kept for the session, and
    written into it again where a change of page has cleared it.
    """
    for name in names:
        if st.session_state.get(LINKED):
            st.session_state[SAID + name] = st.query_params.get(name)
        elif name not in st.query_params and st.session_state.get(SAID + name) is not None:
            st.query_params[name] = st.session_state[SAID + name]


def address(path: str) -> str:
    """The link to what is on screen now, on the page at `path` ("" for the default page).

    Streamlit's own `st.context.url` cuts off whatever page name the path ends with, so only its origin is taken.
    """
    return joined(st.context.url or "", st.get_option("server.baseUrlPath"), path, st.query_params.to_dict())


def joined(url: str, base: str, path: str, query: dict[str, str]) -> str:
    """An address from the origin of `url`, the server's base path, a page and its query."""
    parts = urlsplit(url)
    place = "/".join(p.strip("/") for p in (base, path) if p.strip("/"))
    return f"{parts.scheme}://{parts.netloc}/{place}?{urlencode(query, quote_via=quote)}"
