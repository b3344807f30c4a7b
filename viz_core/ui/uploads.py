"""Files of the reader's own. The session keeps the last good one; a link carries a digest of it, never its bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import streamlit as st

from viz_core.i18n import Problem
from viz_core.ui import link
from viz_core.ui.hosted import limits

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from viz_core.trace import Text
    from viz_core.ui.params import Filler, Upload

KEPT, REFUSED, SAID, TURN = "upload.kept.", "upload.refused.", "upload.said.", "upload.turn."


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that was read without complaint."""

    name: str
    data: bytes
    digest: str


def kept(param: str, digest: str | None = None) -> Kept | None:
    """The file in use, if its digest is that one (any, where none is asked for)."""
    found: Kept | None = st.session_state.get(KEPT + param)
    return found if found is not None and digest in (None, found.digest) else None


def refused(param: str) -> Problem | None:
    """What was wrong with the last file, if it was not taken."""
    found: Problem | None = st.session_state.get(REFUSED + param)
    return found


def take(param: Upload, file: UploadedFile | None) -> None:
    """Keep a file and put its digest into the link; a bad one, or none, leaves the good one in use."""
    st.session_state.pop(REFUSED + param.name, None)
    if file is None:  # also what the widget says for a moment while one file replaces another
        return
    try:
        found = checked(param.check, file.name, file.getvalue())
    except Problem as problem:
        st.session_state[REFUSED + param.name] = problem
        return
    st.session_state[KEPT + param.name] = found
    link.put(param.name, found.digest, param.default)


def fill(filler: Filler, file: UploadedFile | None) -> None:
    """Put what a file holds into the text that it fills; a bad one leaves the text as it is."""
    for kind in (REFUSED, SAID):
        st.session_state.pop(kind + filler.name, None)
    if file is None:
        return
    data = file.getvalue()
    try:
        small_enough(data)
        text, note = filler.read(file.name, data)
    except Problem as problem:
        st.session_state[REFUSED + filler.name] = problem
        return
    st.session_state[SAID + filler.name] = note
    link.put(filler.line.name, text, filler.line.default)


def said_of(filler: str) -> Text | None:
    """The sentence on the last file that filled a text."""
    found: Text | None = st.session_state.get(SAID + filler)
    return found


def small_enough(data: bytes) -> None:
    """A Problem for a file larger than this server takes."""
    if len(data) > limits().upload_mib << 20:
        raise Problem("upload_large", mib=-(-len(data) // (1 << 20)), most=limits().upload_mib)


def drop(param: Upload) -> None:
    """Take the file out of use, its widget emptied; the control that asked for a file goes back to its default."""
    for kind in (KEPT, REFUSED):
        st.session_state.pop(kind + param.name, None)
    st.session_state[TURN + param.name] = turn(param.name) + 1
    for name in (param.name, *(param.when or ())[:1]):
        link.forget(name)


def turn(param: str) -> int:
    """How many files were dropped: a widget under a new key is an empty one."""
    return int(st.session_state.get(TURN + param, 0))


def checked(check: Callable[[str, bytes], None], name: str, data: bytes) -> Kept:
    """The file with its digest; a Problem where it is too large or `check` finds it bad."""
    small_enough(data)
    check(name, data)
    return Kept(name, data, blake2b(data, digest_size=8).hexdigest())
