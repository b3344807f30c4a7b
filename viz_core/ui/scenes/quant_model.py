"""What a format does to a model: the bundled one, on text it never saw."""

from __future__ import annotations

from collections.abc import Mapping

from viz_core import units
from viz_core.figures.bars import Bar, bars
from viz_core.figures.scales import Scale
from viz_core.ui import cached, quantizing_model
from viz_core.ui.params import Choice, Whole
from viz_core.ui.quantizing_model import TEXT, ModelRow, NextToken
from viz_core.ui.scene import Context, Number, Plate, Scene, View

MODEL = "bundled"  # its weights were never quantized before
SHOWN = ("FP16", "Q8_0", "int8 row", "E4M3", "Q6_K", "Q5_K", "Q4_K", "Q4_0", "NF4", "NVFP4", "MXFP4", "int4 g64",
         "uint3 g64", "Q2_K", "uint2 g64")  # fmt: skip
WHICH = Choice("model_format", SHOWN, "Q4_0")
PLACE, TAIL = Whole("place", 0, 199, 40), 90  # the place in the texts; characters that are shown before it
MEASURE = Choice("damage", ("kl", "added", "flips"), "kl", listed=True)


def next_tokens(context: Context, found: NextToken, name: str) -> Plate:
    """The likeliest tokens, each before (pale) and after."""
    named = cached.labels(MODEL, found.ids)
    rows = [Bar(f"{token} · {context.t('quant.original') if pale else name}", float(p), units.percent(float(p), 1),
                "A" if pale else "B", pale=pale)
            for token, *both in zip(named, found.before, found.after, strict=True)
            for pale, p in zip((True, False), both, strict=True)]
    top = 1.2 * max(row.value for row in rows)
    return Plate(bars(context.look, rows, Scale(context.t("quant.next_p"), range=(0, top))))


def formats(context: Context, rows: list[ModelRow]) -> Plate:
    """Every format's damage, cut where the worst one runs off; its number stands at its bar."""
    measure = context.values["damage"]
    lengths = [max(0.0, getattr(row.damage, measure)) for row in rows]
    top = sorted(lengths)[-2] * 1.25
    shown = [Bar(context.t("quant.named_bits", name=row.name, bits=f"{row.bits:.3g}"), min(length, top),
                 _written(measure, getattr(row.damage, measure)), pale=row.stand_in > 0,
                 detail=context.t("quant.perplexity", value=f"{row.damage.perplexity:.2f}"), cut=length > top)
             for row, length in zip(rows, lengths, strict=True)]
    return Plate(bars(context.look, shown, Scale(context.t(f"quant.damage_{measure}"), range=(0, top * 1.12))))


def signed(value: float) -> str:
    """A change of the loss with its sign, which what rounds to 0 does not get."""
    text = units.fixed(value, 3)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"


def silent(rows: list[ModelRow]) -> list[str]:
    """The formats whose loss says nothing: within two standard errors of none, a change of exactly 0 included."""
    return [row.name for row in rows if abs(row.damage.added) <= 2 * row.damage.noise]


def build(context: Context) -> View:
    """Each format's damage on the held-out text of one language, and one place of it before and after."""
    lang, name = context.values[TEXT.name], context.values[WHICH.name]
    rows = [quantizing_model.model_row(MODEL, shown, lang) for shown in SHOWN]
    base = quantizing_model.original(MODEL, lang)
    place = context.values[PLACE.name] % len(base.target)
    here = quantizing_model.next_token(MODEL, name, lang, place)
    by_name = {row.name: row for row in rows}
    one = by_name[name]
    return View(
        plates=(next_tokens(context, here, name), formats(context, rows)),
        beside=True,
        quote=tail(here.so_far) or None,
        numbers=(
            Number("quant_kl_here", units.fixed(here.kl, 4), {"name": name}),
            Number("quant_kl_all", units.fixed(one.damage.kl, 4), {"name": name, "n": len(base.target)}),
            Number("quant_flips_of", units.percent(one.damage.flips, 1), {"name": name}),
            Number("quant_ppl", f"{base.perplexity:.2f} → {one.damage.perplexity:.2f}"),
        ),
        facts={**_worse(by_name), "n": len(base.target),
               "silent": context.listed(silent(rows)) or "–", "noise": f"{one.damage.noise:.3f}",
               "added": signed(one.damage.added), "name": name, "place": place + 1,
               "first": context.t("quant.changed" if here.flipped else "quant.kept")},
        table=_table(rows),
    )


def tail(text: str) -> str:
    """The end of a text, marked where it was cut."""
    return text if len(text) <= TAIL else "…" + text[-TAIL:].lstrip()


def _worse(rows: Mapping[str, ModelRow]) -> dict[str, str]:
    """For the message: how many first choices three formats change, and their bits."""
    named = {"eight": rows["Q8_0"], "four": rows["Q4_0"], "two": rows["uint2 g64"]}
    flips = {word: units.percent(row.damage.flips, 1) for word, row in named.items()}
    return flips | {f"{word}_bits": f"{row.bits:.3g}" for word, row in named.items()}


def _table(rows: list[ModelRow]) -> dict[str, list[object]]:
    return {"format": [row.name for row in rows], "bits a weight": [round(row.bits, 3) for row in rows],
            "perplexity": [round(row.damage.perplexity, 3) for row in rows],
            "loss added": [round(row.damage.added, 5) for row in rows],
            "± standard error": [round(row.damage.noise, 5) for row in rows],
            "KL": [round(row.damage.kl, 5) for row in rows],
            "first choice changed": [round(row.damage.flips, 4) for row in rows],
            "stored by a stand-in": [round(row.stand_in, 3) for row in rows]}


def _written(measure: str, value: float) -> str:
    return units.percent(value, 1) if measure == "flips" else units.fixed(value, 4)


SCENE = Scene("quantization", "model", build, params=(WHICH, PLACE, TEXT, MEASURE))
