"""The texts of gradviz and their translations: found in the sources, read from the files, compiled.

`python -m tests.app.translations` brings `resources/translations` up to date: texts that are new are added to the
gettext file without a translation, those that are gone are removed, both binary files are compiled. It says what is
still untranslated. (The window's own texts are in the Qt file, which is edited by hand or with Qt Linguist.)
"""

from __future__ import annotations

import ast
import re
import struct
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

from gradviz.app.examples import bundled
from gradviz.cli.commands import COMMANDS, load
from gradviz.explain.table import ROWS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources" / "translations"
TS, QM = FOLDER / "gradviz_zh_CN.ts", FOLDER / "gradviz_zh_CN.qm"
PO = FOLDER / "zh_CN" / "LC_MESSAGES" / "gradviz.po"
MO = PO.with_suffix(".mo")
HEAD = "Language: zh_CN\nContent-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=1; plural=0;\n"
# What argparse says of its own in `--help` and of wrong words; it asks the catalogue for these.
ARGPARSE = (
    *("usage: ", "options", "positional arguments", "show this help message and exit", "unrecognized arguments: %s"),
    *("the following arguments are required: %s", "argument %(argument_name)s: %(message)s", "expected one argument"),
    *("expected at least one argument", "invalid %(type)s value: %(value)r"),
    "invalid choice: %(value)r (choose from %(choices)s)",
)

Forms = tuple[str, ...]
"""(text,) or (one, many)."""


def window_texts() -> set[str]:
    """All texts of `gradviz.app`, both forms of those with a number."""
    marked = {text for forms in _texts(ROOT.glob("gradviz/app/**/*.py"), ("tr", "trn", "N")) for text in forms}
    return marked | {example.words for example in bundled()}


def other_texts() -> set[Forms]:
    """The texts of everything else: findings and their pages, messages, pictures, the help of the commands."""
    others = [path for path in ROOT.glob("gradviz/**/*.py") if "app" not in path.relative_to(ROOT).parts]
    pages = [
        (text,)
        for row in ROWS
        for text in (row.page.title, row.page.cause, row.page.remedy, *(says for _, says in row.page.errors))
    ]
    helps = [(str(type(load(name)).__doc__),) for name in COMMANDS]
    return {*_texts(others, ("tr", "trn", "N")), *pages, *helps, *((text,) for text in ARGPARSE)}


def window_translations() -> dict[str, str]:
    """Text -> translation, from the Qt file; unfinished ones are left out."""
    found = {}
    for message in ElementTree.parse(TS).getroot().iter("message"):
        translation = message.find("translation")
        if translation is not None and translation.text and translation.get("type") is None:
            found[message.findtext("source", "")] = translation.text
    return found


def other_translations() -> dict[Forms, str]:
    """Forms -> translation, from the gettext file; without the head, and without those that have none yet."""
    return {forms: text for forms, text in read_po(PO.read_text("utf-8")).items() if text and forms != ("",)}


def read_po(text: str) -> dict[Forms, str]:
    """The entries of a `.po` file (GNU gettext manual, "The Format of PO Files"), long ones in several lines too."""
    found: dict[Forms, str] = {}
    for block in re.split(r"\n\s*\n", text):
        parts: dict[str, str] = {}
        key = ""
        for line in block.splitlines():
            match = re.fullmatch(r'(?:(msg\w+(?:\[0\])?) )?"(.*)"', line.strip())
            if match is not None:
                key = match[1] or key
                parts[key] = parts.get(key, "") + _plain(match[2])
        if "msgid" in parts:
            forms = tuple(parts[name] for name in ("msgid", "msgid_plural") if name in parts)
            found[forms] = parts.get("msgstr", parts.get("msgstr[0]", ""))
    return found


def po_text(translations: Mapping[Forms, str]) -> str:
    """A `.po` file, its entries in order of their texts."""
    blocks = [f'msgid ""\nmsgstr ""\n{_lines(HEAD)}']
    for forms, text in sorted(translations.items()):
        many = f"msgid_plural {_quoted(forms[1])}\n" if len(forms) == 2 else ""
        blocks.append(f"msgid {_quoted(forms[0])}\n{many}msgstr{'[0]' if many else ''} {_quoted(text)}")
    return "\n\n".join(blocks) + "\n"


def catalogue(translations: Mapping[Forms, str]) -> bytes:
    """The binary form of a gettext catalogue (GNU gettext manual, "The Format of GNU MO Files")."""
    pairs = {"": HEAD} | {"\0".join(forms): text for forms, text in translations.items()}
    rows = sorted((key.encode(), value.encode()) for key, value in pairs.items())
    start = 28 + 16 * len(rows)
    keys, values, tables = b"", b"", ([], [])
    for key, _ in rows:
        tables[0].append((len(key), start + len(keys)))
        keys += key + b"\0"
    for _, value in rows:
        tables[1].append((len(value), start + len(keys) + len(values)))
        values += value + b"\0"
    numbers = [number for table in tables for pair in table for number in pair]
    header = struct.pack("<7I", 0x950412DE, 0, len(rows), 28, 28 + 8 * len(rows), 0, start)
    return header + struct.pack(f"<{len(numbers)}I", *numbers) + keys + values


def fields(text: str) -> list[str]:
    """The `{name}` and `%(name)s` fields of a text."""
    return sorted(set(re.findall(r"\{[^}]*\}|%\(\w+\)\w|%%?\w", text)))


def code(text: str) -> list[str]:
    """What stands between backticks in a text: names and code, which no translation may change."""
    return sorted(set(re.findall(r"`[^`]*`", text)))


def _texts(paths: Iterable[Path], names: tuple[str, ...]) -> set[Forms]:
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                given = node.args[: 2 if node.func.id == "trn" else 1]
                forms = tuple(a.value for a in given if isinstance(a, ast.Constant) and isinstance(a.value, str))
                if forms:
                    found.add(forms)
    return found


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _lines(text: str) -> str:
    return "\n".join(_quoted(line) for line in text.splitlines(keepends=True))


def main() -> int:
    """Bring the files up to date; the exit status is 1 when something is untranslated."""
    known, texts = other_translations(), other_texts()
    PO.write_text(po_text({forms: known.get(forms, "") for forms in texts}), encoding="utf-8")
    MO.write_bytes(catalogue({forms: known[forms] for forms in texts & known.keys()}))
    lrelease = Path(sys.executable).parent / "pyside6-lrelease"
    subprocess.run([str(lrelease), str(TS), "-qm", str(QM), "-silent"], check=True)
    missing = [*(window_texts() - window_translations().keys()), *(texts - known.keys())]
    for text in missing:
        print(f"untranslated: {text!r}")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
