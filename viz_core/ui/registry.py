"""The pages that exist, in the order of the navigation. A page enters here when it works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageInfo:
    """One page: id (catalogue table `page.<id>`), script, ASCII url path and icon; the first is the default."""

    id: str
    script: str
    url: str
    icon: str


def _page(name: str, icon: str) -> PageInfo:
    return PageInfo(name, f"pages/{name}.py", name, f":material/{icon}:")


PAGES: tuple[PageInfo, ...] = (
    _page("home", "home"),
    _page("kv_cache", "cached"),
    _page("attention", "grid_on"),
    _page("flash_attention", "view_comfy"),
    _page("paged_attention", "view_module"),
    _page("quantization", "straighten"),
)


def page_of(script: str) -> PageInfo:
    """The page whose script this path ends with; KeyError for a script that is no page."""
    for page in PAGES:
        if script.replace("\\", "/").endswith(page.script):
            return page
    raise KeyError(script)


def path_of(page: str) -> str:
    """Where a page answers: its url path, "" for the default page."""
    return "" if page == PAGES[0].id else next(p.url for p in PAGES if p.id == page)
