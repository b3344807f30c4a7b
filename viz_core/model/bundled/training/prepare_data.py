"""Turn the two public sources into clean training and held-out documents.

Sources
-------
* Tang poems: the folder 御定全唐诗 of the npm package ``chinese-poetry`` 2.0.1 (MIT). A poem is one document: its
  couplets one after another, traditional characters converted to simplified ones with OpenCC.
* King James text: what the Debian tool ``bible`` prints (text: copyright expired). A chapter is one document: a
  verse a line.

Usage
-----
    npm pack chinese-poetry@2.0.1
    bible -f gen1:1-rev22:21 > kjv.txt                     # Debian packages bible-kjv, bible-kjv-text
    python viz_core/model/bundled/training/prepare_data.py --poetry chinese-poetry-2.0.1.tgz --bible kjv.txt --out data

Writes ``data/{en,zh}.{train,val}.json``: lists of documents, a document being a list of lines (verses, couplets).

The split is fixed by a hash of each document's own identity (chapter name, poem text), so it never depends on order
or on a random state. A training poem that shares two lines or more with a held-out poem (the collection prints some
poems twice, under two poets) is dropped. Parallel chapters of the Bible (Psalms 14 and 53, say) are left alone."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tarfile
from collections import defaultdict
from pathlib import Path

POETRY_FOLDER = "package/dist/yudingquantangshi/json/"
POEM = re.compile(r"[\u3400-\u9fff，。？！；：、]+")  # anything else (□, brackets, notes, digits) drops the poem
LINE = re.compile(r"[^。？！；]+[。？！；]?")
VERSE = re.compile(r"((?:\d ?)?[A-Za-z]+ ?\d+):(\d+) +(.*)")


def held_out(identity: str, per_mille: int) -> bool:
    """Whether a document belongs to the validation split: a stable hash of its identity, not a random draw."""
    return int(hashlib.sha256(identity.encode()).hexdigest(), 16) % 1000 < per_mille


def read_bible(path: Path) -> dict[str, list[str]]:
    """Chapter name (``Ge1``) → its verses, in order."""
    chapters: dict[str, list[str]] = defaultdict(list)
    for row in path.read_text(encoding="utf-8").splitlines():
        if match := VERSE.fullmatch(row.strip()):
            chapters[match[1]].append(" ".join(match[3].split()))
        elif row.strip():
            raise SystemExit(f"unexpected line in {path}: {row[:80]!r}")
    return dict(chapters)


def read_poems(path: Path) -> list[list[str]]:
    """Every clean poem of the archive as a list of lines, in simplified characters; exact duplicates once."""
    from opencc import OpenCC

    simplify = OpenCC("t2s").convert
    poems: dict[str, list[str]] = {}
    with tarfile.open(path) as archive:
        members = sorted((m for m in archive if m.name.startswith(POETRY_FOLDER)), key=lambda m: m.name)
        for member in members:
            for record in json.load(archive.extractfile(member)):
                text = "".join(record["paragraphs"]).replace(" ", "")
                if len(text) >= 10 and POEM.fullmatch(text):
                    text = simplify(text)
                    poems.setdefault(text, LINE.findall(text))
    return list(poems.values())


def split_poems(poems: list[list[str]], per_mille: int) -> tuple[list[list[str]], list[list[str]]]:
    """(train, val), without the training poems that share two or more lines with a held-out poem."""
    val = [p for p in poems if held_out("".join(p), per_mille)]
    seen = {line for poem in val for line in poem}
    train = [p for p in poems if not held_out("".join(p), per_mille) and sum(line in seen for line in p) < 2]
    return train, val


def main() -> None:
    """Read the arguments and do the work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poetry", type=Path, required=True, help="the npm archive chinese-poetry-2.0.1.tgz")
    parser.add_argument("--bible", type=Path, required=True, help="the text that `bible -f gen1:1-rev22:21` prints")
    parser.add_argument("--out", type=Path, default=Path("data"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    chapters = read_bible(args.bible)
    en_train = [v for name, v in chapters.items() if not held_out(name, 40)]
    en_val = [v for name, v in chapters.items() if held_out(name, 40)]
    zh_train, zh_val = split_poems(read_poems(args.poetry), 15)
    for name, docs in {"en.train": en_train, "en.val": en_val, "zh.train": zh_train, "zh.val": zh_val}.items():
        (args.out / f"{name}.json").write_text(json.dumps(docs, ensure_ascii=False), encoding="utf-8")
        characters = sum(len(line) for doc in docs for line in doc)
        print(f"{name}: {len(docs):,} documents, {characters:,} characters")


if __name__ == "__main__":
    main()
