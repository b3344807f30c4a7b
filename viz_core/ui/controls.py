"""Draw the controls of a scene and keep their values in the link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from viz_core.i18n import Lang, has, t
from viz_core.model.notes import shown
from viz_core.ui import link, uploads
from viz_core.ui.hosted import limits
from viz_core.ui.params import Amount, Choice, Filler, Fixed, Line, Live, Param, Part, Switch, Upload, Whole
from viz_core.ui.scene import Bench

ROW = 3  # controls side by side
FEW, ROOM = 5, 44  # as many options, and letters in them, stand side by side; more go into a list


def value_of(param: Fixed) -> Any:
    """The current value of a control: link → session → default."""
    return link.get(param.name, param.default, param.parse)


def fixed(params: tuple[Param, ...], bench: Bench) -> tuple[Fixed, ...]:
    """The controls with their bounds for this workbench."""
    return tuple(p.of(bench) if isinstance(p, Live) else p for p in params)


def choose(param: Fixed, value: Any) -> None:
    """Write what the reader chose into the link, the default too: other scenes may have another. Of texts not it."""
    link.put(param.name, value, param.default if isinstance(param, Line) else None)


def _keep(param: Fixed, key: str) -> None:
    value = st.session_state[key]
    choose(param, param.default if value is None else value)


def _choice(param: Choice, lang: Lang, common: Mapping[str, Any]) -> Any:
    def shown(code: str) -> str:
        key = f"option.{param.name}.{code}"
        return t(key, lang) if has(key) else code

    if param.sliding:
        return st.select_slider(options=param.options, format_func=shown, **common)
    letters = sum(2 if ord(c) > 0x2E7F else 1 for code in param.options for c in shown(code))
    if not param.listed and len(param.options) <= FEW and letters <= ROOM:
        return st.segmented_control(options=param.options, format_func=shown, required=True, **common)
    return st.selectbox(options=param.options, format_func=shown, **common)


def _file(param: Upload | Filler, lang: Lang, key: str, taken: Callable[[], None]) -> None:
    """The field for a file, and what was wrong with the last one."""
    label = t(f"control.{param.name}", lang)
    st.file_uploader(label, list(param.endings), key=key, max_upload_size=limits().upload_mib, on_change=taken)
    problem = uploads.refused(param.name)
    if problem is not None:
        st.warning(problem.text(lang), icon=":material/error:")


def _filler(filler: Filler, lang: Lang, key: str) -> None:
    """The field for a file that fills a text, and what there is to say on what it put there."""
    _file(filler, lang, key, lambda: uploads.fill(filler, st.session_state[key]))
    note = uploads.said_of(filler.name)
    if note is not None:
        st.info(t(note.key, lang, **note.params), icon=":material/info:")


def _upload(param: Upload, lang: Lang, key: str) -> None:
    """The field for a file, and which one is in use until it is dropped."""
    key = f"{key}.{uploads.turn(param.name)}"
    _file(param, lang, key, lambda: uploads.take(param, st.session_state[key]))
    kept = uploads.kept(param.name, value_of(param))
    if kept is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(t("shell.upload_kept", lang, name=shown(kept.name)), width="content")
            st.button(t("shell.upload_drop", lang), key=f"{key}.drop", icon=":material/close:",
                      on_click=uploads.drop, args=(param,))


def _common(name: str, lang: Lang, key: str) -> dict[str, Any]:
    """What every widget gets: its label, its help where there is one, its key."""
    label, help_key = f"control.{name}", f"control.{name}_help"
    return {"label": t(label, lang), "key": key, "help": t(help_key, lang) if has(help_key) else None}


def draw(param: Fixed, lang: Lang, scope: str) -> Any:
    """One control; its new value is in the link before the scene runs again."""
    key = f"{scope}.{param.name}"
    if isinstance(param, Upload):  # its widget takes no value
        _upload(param, lang, key)
        return value_of(param)
    st.session_state[key] = value_of(param)
    common = _common(param.name, lang, key) | {"on_change": _keep, "args": (param, key)}
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


def _write(part: Part, key: str) -> None:
    """Put the new value into the text."""
    line = part.line
    link.put(line.name, part.write(value_of(line), st.session_state[key])[: line.longest], line.default)


def draw_part(part: Part, lang: Lang, scope: str) -> None:
    """A control of a part of a text, as the text has it now."""
    control, value = part.control, part.read(value_of(part.line))
    key = f"{scope}.part.{control.name}"
    st.session_state[key] = control.default if value is None else value
    common = _common(control.name, lang, key) | {
        "on_change": _write, "args": (part, key), "disabled": value is None,
    }  # fmt: skip
    match control:
        case Choice():
            _choice(control, lang, common)
        case Switch():
            st.toggle(**common)
        case Amount():
            st.number_input(step=control.step, format="%g" if isinstance(control.step, float) else None, **common)


def draw_all(
    params: tuple[Fixed, ...], lang: Lang, scope: str, parts: tuple[Part | Filler, ...] = ()
) -> dict[str, Any]:
    """All controls of a scene, side by side where there is room, as {name: value}; a long text in full width."""
    out = {param.name: value_of(param) for param in params}
    asked = [param for param in params if _asked(param, out)]
    beside: list[Fixed | Part] = [param for param in asked if not _long(param)]
    beside += [part for part in parts if isinstance(part, Part)]
    for start in range(0, len(beside), ROW):  # row by row, so that a phone stacks them in their order
        columns = st.columns(min(len(beside), ROW), gap="medium")
        for param, column in zip(beside[start : start + ROW], columns, strict=False):
            with column:
                if isinstance(param, Part):
                    draw_part(param, lang, scope)
                else:
                    out[param.name] = draw(param, lang, scope)
    for filler in parts:
        if isinstance(filler, Filler):
            _filler(filler, lang, f"{scope}.{filler.name}")
    return out | {param.name: draw(param, lang, scope) for param in asked if _long(param)}


def _long(param: Fixed) -> bool:
    return isinstance(param, Line) and param.rows > 1


def _asked(param: Fixed, values: Mapping[str, Any]) -> bool:
    """Whether a control has anything to ask while the others have these values."""
    if not isinstance(param, Choice | Whole | Upload) or param.when is None:
        return True
    name, wanted = param.when
    meant = values[name] == wanted if isinstance(wanted, str) else values[name] in wanted
    return meant and (not isinstance(param, Choice) or len(param.options) > 1)
