"""Draw a scene from top to bottom: message, figure, player, numbers, proofs, controls, details (LOOK: anatomy)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from viz_core.figures.layout import Look, config
from viz_core.figures.theme import theme
from viz_core.i18n import Lang, Problem, has
from viz_core.proofs import Proof
from viz_core.ui import controls, exports, link, style, watch
from viz_core.ui.player import player
from viz_core.ui.scene import Bench, Context, Number, Plate, Question, Scene, View
from viz_core.units import bound

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler
    from streamlit.delta_generator import DeltaGenerator


BESIDE = 2  # plates in a row where they stand side by side


@st.fragment
def body(scene: Scene, lang: Lang, bench: Bench) -> None:
    """Everything below the heading, in one fragment: a control reruns only this."""
    above, numbers, proofs = st.container(), st.container(), st.container(key="proofs", gap="small")
    params = controls.fixed(scene.params, bench)
    values = controls.draw_all(params, lang, scene.table, scene.parts)
    fault = st.container() if scene.parts else above  # what is wrong with a text stands under the text
    context = Context(_look(lang), bench, values)
    with above:
        view = _built(scene, context, fault)
        if view is None:
            return
        _picture(scene, view, context)
    with numbers:
        _numbers(view.numbers, context)
        if has(f"{scene.table}.said"):
            st.markdown(context.t(f"{scene.table}.said", **view.facts))
    with proofs:
        for proof in view.proofs:
            st.markdown(proof_line(proof, context))
    _details(scene, view, context)


def _look(lang: Lang) -> Look:
    return Look(theme(watch.mode()), lang, 360 if watch.narrow() else 1100, 1.5 if style.presenting() else 1.0)


def _built(scene: Scene, context: Context, fault: DeltaGenerator) -> View | None:
    """The scene's view; with bad values the last view that worked, and in `fault` the sentence that says so."""
    memory = f"good.{scene.table}"
    try:
        with st.spinner(context.t("shell.computing"), show_time=True):
            view = scene.build(context)
    except Problem as problem:
        said = problem.text(context.lang)
        fault.warning(said, icon=":material/error:")
        return _again(scene, context, st.session_state.get(memory), said if scene.parts else "")
    st.session_state[memory] = (context.bench, context.values)
    return view


def _again(scene: Scene, context: Context, good: tuple[Bench, dict[str, Any]] | None, said: str) -> View | None:
    """The last view that worked, else the usual one; `said` is repeated above it where it stands far below."""
    usual = {param.name: param.default for param in controls.fixed(scene.params, context.bench)}
    try:
        view = scene.build(Context(context.look, *(good or (context.bench, usual))))
    except Problem:
        return None
    shown = context.t("shell.last_good" if good else "shell.usual_shown")
    notice = context.t("shell.fault_above", fault=said, shown=shown) if said else shown
    return replace(view, notice=notice)  # its own notice speaks of other data


def _picture(scene: Scene, view: View, context: Context) -> None:
    st.markdown(bound(context.t(f"{scene.table}.message", **view.facts)))
    if view.notice:
        st.info(bound(view.notice), icon=":material/info:")
    if view.quote:
        with st.container(key="quote"):
            st.code(view.quote, language=None, wrap_lines=True)
    if view.trace is not None:
        player(view.trace, lang=context.lang, key=f"player.{scene.table}", start=link.step(view.start),
               on_step=link.put_step)
    wide = view.beside and not context.look.phone
    places = [place for start in range(0, len(view.plates), BESIDE if wide else 1)
              for place in st.columns(min(BESIDE if wide else 1, len(view.plates) - start), gap="medium")]
    for i, (plate, place) in enumerate(zip(view.plates, places, strict=True)):
        with place:
            _plate(scene, plate, i, context)
    if view.question is not None:
        _question(scene, view.question, context)


def _plate(scene: Scene, plate: Plate, i: int, context: Context) -> None:
    key = f"plate.{scene.table}.{i}"
    common: dict[str, Any] = {"width": "stretch", "key": key, "alt": plate.alt, "theme": None,
                              "config": config(f"infersight-{scene.id}", "svg")}
    if plate.on_click:
        st.plotly_chart(plate.figure, on_select=lambda: _clicked(scene, plate, key, context.bench),
                        selection_mode="points", **common)
    else:
        st.plotly_chart(plate.figure, **common)
    if plate.undo:
        st.button(context.t(f"{scene.table}.undo"), key=f"undo.{key}", icon=":material/undo:",
                  on_click=_set, args=(scene, plate.on_click, plate.undo, context.bench))


def _clicked(scene: Scene, plate: Plate, key: str, bench: Bench) -> None:
    """Write what a clicked point stands for into the controls it names."""
    points = st.session_state[key]["selection"]["points"]
    if not points:
        return
    _set(scene, plate.on_click, points[0]["customdata"], bench)


def _set(scene: Scene, names: Sequence[str], values: Sequence[object], bench: Bench) -> None:
    """Give controls of a scene new values, as a link would; what they cannot mean is dropped."""
    known = {p.name: p for p in controls.fixed(scene.params, bench)}
    for name, raw in zip(names, values, strict=False):
        value = known[name].parse(str(raw))
        if value is not None:
            controls.choose(known[name], value)


def _question(scene: Scene, question: Question, context: Context) -> None:
    """Predict first: the answer is said only after a choice."""
    key = f"question.{scene.table}"
    picked = st.segmented_control(context.t(f"{scene.table}.question", **question.params),
                                  range(len(question.options)), key=key,
                                  format_func=lambda i: question.options[i])
    if picked is None:
        return
    verdict = "right" if picked == question.right else "wrong"
    answer = context.t(f"{scene.table}.answer", right=question.options[question.right], **question.params)
    st.markdown(bound(f"{context.t(f'shell.{verdict}')} {answer}"))


def _numbers(numbers: tuple[Number, ...], context: Context) -> None:
    """The numbers that matter, side by side; on a phone one line each."""
    named = [(bound(context.t(f"number.{n.key}", **n.params)), bound(n.value)) for n in numbers]
    if context.look.phone:
        for label, value in named:
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                st.caption(label, width="stretch")  # breaks in its own column, and the number stays at the right
                st.text(value, width="content")
    elif named:
        with st.container(horizontal=True, gap="large"):
            for label, value in named:
                st.metric(label, value, width="content")


def proof_line(proof: Proof, context: Context) -> str:
    """Verdict, claim, measured beside its tolerance; a claim that fails, or is about nothing, is shown as plainly."""
    told = {key: context.listed(value) if isinstance(value, tuple) else value for key, value in proof.params.items()}
    claim = context.t(f"proof.{proof.name}", **told)
    if proof.empty:
        return f":gray[:material/remove:] {context.t('shell.nothing_left')} {claim}"
    mark = ":green[:material/check:]" if proof.holds else ":red[:material/close:]"
    verdict = context.t("shell.holds" if proof.holds else "shell.fails")
    return f"{mark} {verdict} {claim} `{_measured(proof, context)}`"


def _measured(proof: Proof, context: Context) -> str:
    sign, key = "≤" if proof.measured <= proof.tolerance else ">", f"measured.{proof.name}"
    if has(key):  # in a unit of its own
        measured = f"{proof.measured:.3g}".replace("inf", "∞")
        return context.t(key, measured=measured, sign=sign, tolerance=f"{proof.tolerance:.3g}")
    if proof.measured == proof.tolerance == 0:
        return context.t("shell.equal")
    return f"max |Δ| {proof.measured:.2g} {sign} {proof.tolerance:.2g}".replace("inf", "∞")


def written(frame: pd.DataFrame) -> pd.DataFrame | Styler:
    """A table whose infinite numbers read as ∞, and still sort as numbers."""
    numbers = frame.select_dtypes("number")
    if not np.isinf(numbers.to_numpy(np.float64)).any():
        return frame
    return frame.style.format(_digits, subset=list(numbers), na_rep="")


def _digits(value: float) -> str:
    return (f"{value:.6g}" if isinstance(value, float) else str(value)).replace("-", "−").replace("inf", "∞")


def _details(scene: Scene, view: View, context: Context) -> None:
    if has(f"{scene.table}.notes"):
        with st.expander(context.t("shell.details")):
            st.markdown(bound(context.t(f"{scene.table}.notes", **view.facts)))
    if view.table is not None:
        with st.expander(context.t("shell.table"), expanded=view.opened):
            frame = pd.DataFrame(view.table).rename(columns=context.column)
            st.dataframe(written(frame), hide_index=True, width="stretch", key=f"table.{scene.table}")
    if view.code:
        with st.expander(context.t("shell.code")):
            for function in view.code:
                st.code(inspect.getsource(function), language="python")
    with st.expander(context.t("shell.export")):
        exports.offer(scene, view, context)
