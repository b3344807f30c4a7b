"""What a link carries survives the journey, and damage to it is harmless."""

from __future__ import annotations

from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from viz_core.ui.link import LONGEST, joined, pack, unpack
from viz_core.ui.params import Switch
from viz_core.ui.registry import PAGES, path_of
from viz_core.ui.scenes.pa_waste import COUNT

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=300)


@given(TEXT)
def test_round_trip(text: str) -> None:
    packed = pack(text)
    assert packed is not None and unpack(packed) == text


@given(st.text(max_size=60))
def test_damage_is_harmless(raw: str) -> None:
    assert unpack("z:" + raw) is None or isinstance(unpack("z:" + raw), str)


def test_never_longer_than_a_link_may_be() -> None:
    random = "".join(chr(0x4E00 + (i * 7919) % 20000) for i in range(10_000))
    assert pack(random) is None
    assert all(len(quote(p)) <= LONGEST for n in (1, 60, 150, 400) if (p := pack(random[:n])) is not None)


def test_what_would_unfold_too_far_is_not_packed() -> None:
    assert pack("我" * 33_400) is None and unpack(pack("我" * 33_000) or "") == "我" * 33_000


def test_a_bomb_does_not_unfold() -> None:
    import base64
    import zlib

    assert unpack("z:" + base64.urlsafe_b64encode(zlib.compress(b"0" * 10_000_000)).decode()) is None


def test_a_text_that_looks_packed_is_packed() -> None:
    assert unpack(pack("z:hello") or "") == "z:hello"


def test_address_of_every_page() -> None:
    """The origin, the base path and the page's own path; page names that end alike do not eat each other."""
    query = {"lang": "zh", "prompt": "a b"}
    for page in PAGES:
        for url in ("http://h:8501/paged_/x", "http://h:8501/", "http://h:8501"):
            path = "" if page is PAGES[0] else page.url
            assert joined(url, "", path_of(page.id), query) == f"http://h:8501/{path}?lang=zh&prompt=a%20b"
    assert joined("https://h/app/y", "app", path_of("attention"), {}) == "https://h/app/attention?"


def test_a_number_between_two_stops_of_its_slider_is_dropped() -> None:
    assert [COUNT.parse(raw) for raw in ("40", "41", "60", "160", "180")] == [40, None, 60, 160, None]


def test_a_switch_reads_every_usual_spelling() -> None:
    switch = Switch("all")
    for on in ("True", "true", "1", "on", "Yes"):
        assert switch.parse(on) is True
    for off in ("False", "false", "0", "off", "no "):
        assert switch.parse(off) is False
    assert switch.parse("2") is None and switch.parse("") is None
    assert switch.parse(str(True)) is True and switch.parse(str(False)) is False, "as the link itself writes it"
