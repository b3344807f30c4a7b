"""All scenes of the app, and contexts to build them in."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from viz_core.figures.layout import Look
from viz_core.figures.theme import theme
from viz_core.i18n import Lang, t
from viz_core.ui import scenes
from viz_core.ui.controls import fixed
from viz_core.ui.scene import Bench, Context, Scene


@cache
def all_scenes() -> tuple[Scene, ...]:
    """Every SCENE in `viz_core.ui.scenes`."""
    found = [importlib.import_module(f"{scenes.__name__}.{m.name}") for m in pkgutil.iter_modules(scenes.__path__)]
    return tuple(m.SCENE for m in found if hasattr(m, "SCENE"))


def context(scene: Scene, lang: Lang, *, dark: bool = False, narrow: bool = False, **values: object) -> Context:
    """The scene's context as a reader finds it, with some controls moved."""
    bench = Bench("bundled", t("workbench.prompt", lang), 0, lang)
    defaults = {p.name: p.default for p in fixed(scene.params, bench)}
    look = Look(theme("dark" if dark else "light"), lang, 360 if narrow else 1100)
    return Context(look, bench, defaults | values)
