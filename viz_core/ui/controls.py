"""Draw the controls of a scene and keep their values in the link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from viz_core.i18n import Lang, has, t
from viz_core.model.notes import shown
from viz_core.ui import link, uploads
from viz_core.ui.hosted import limits
from viz_core.ui.params import Choice, Fixed, Line, Live, Param, Switch, Upload, Whole
from viz_core.ui.scene import Bench

ROW = 3  # controls side by side
FEW, ROOM = 5, 44  # as many options, and letters in them, stand side by side; more go into a list


def value_of(param: Fixed) -> Any:
    """The current value of a control: link → session → default."""
    return link.get(param.name, param.default, param.parse)


def fixed(params: tuple[Param, ...], bench: Bench) -> tuple[Fixed, ...]:
    """The controls with their bounds for this workbench."""
    return tuple(p.of(bench) if isinstance(p, Live) else p for p in params)


def _keep(param: Fixed, key: str) -> None:
    value = st.session_state[key]
    link.put(param.name, param.default if value is None else value, param.default)


def _choice(param: Choice, lang: Lang, common: Mapping[str, Any]) -> Any:
    def shown(code: str) -> str:
        key = f"option.{param.name}.{code}"
        return t(key, lang) if has(key) else code

    letters = sum(2 if ord(c) > 0x2E7F else 1 for code in param.options for c in shown(code))
    if not param.listed and len(param.options) <= FEW and letters <= ROOM:
        return st.segmented_control(options=param.options, format_func=shown, required=True, **common)
    return st.selectbox(options=param.options, format_func=shown, **common)


def _upload(param: Upload, lang: Lang, key: str) -> None:
    """The field for a file, what was wrong with the last one, and which one is in use."""
    st.file_uploader(t(f"control.{param.name}", lang), list(param.endings), key=key,
                     max_upload_size=limits().upload_mib,
                     on_change=lambda: uploads.take(param, st.session_state[key]))
    problem, kept = uploads.refused(param.name), uploads.kept(param.name, value_of(param))
    if problem is not None:
        st.warning(problem.text(lang), icon=":material/error:")
    if kept is not None:
        st.text(t("shell.upload_kept", lang, name=shown(kept.name)))


def draw(param: Fixed, lang: Lang, scope: str) -> Any:
    """One control; its new value is in the link before the scene runs again."""
    key = f"{scope}.{param.name}"
    if isinstance(param, Upload):  # its widget takes no value
        _upload(param, lang, key)
        return value_of(param)
    st.session_state[key] = value_of(param)
    name = f"control.{param.name}"
    common: dict[str, Any] = {
        "label": t(name, lang), "key": key, "on_change": _keep, "args": (param, key),
        "help": t(f"{name}_help", lang) if has(f"{name}_help") else None,
    }
    match param:
        case Choice():
            _choice(param, lang, common)
        case Whole():
            st.slider(min_value=param.low, max_value=max(param.high, param.low + param.step), step=param.step,
                      disabled=param.high <= param.low, **common)
        case Switch():
            st.toggle(**common)
        case Line(rows=1):
            st.text_input(max_chars=param.longest, **common)
        case Line():
            st.text_area(max_chars=param.longest, height=28 + 24 * param.rows, **common)
    return value_of(param)


def draw_all(params: tuple[Fixed, ...], lang: Lang, scope: str) -> dict[str, Any]:
    """All controls of a scene, side by side where there is room, as {name: value}."""
    if not params:
        return {}
    out = {param.name: value_of(param) for param in params}
    asked = [param for param in params if _asked(param, out)]
    for start in range(0, len(asked), ROW):  # row by row, so that a phone stacks them in their order
        columns = st.columns(min(len(asked), ROW), gap="medium")
        for param, column in zip(asked[start : start + ROW], columns, strict=False):
            with column:
                out[param.name] = draw(param, lang, scope)
    return out


def _asked(param: Fixed, values: Mapping[str, Any]) -> bool:
    """Whether a control has anything to ask while the others have these values."""
    if not isinstance(param, Choice | Upload) or param.when is None:
        return True
    name, value = param.when
    return values[name] == value and (isinstance(param, Upload) or len(param.options) > 1)
