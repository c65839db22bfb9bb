"""Places and stacks of the user's code, interned to small integers while the script runs, spelled out when asked."""

from __future__ import annotations

from types import CodeType

from gradviz.model import Place
from gradviz.worker.frames import STACK_LIMIT, path_of
from gradviz.worker.lines import CodeInfo, code_info


class Sites:
    """Tables that all threads share. Row 0 of each table means "none".

    A Ctrl-C can come between any two lines here: a row is appended before it is looked up, so that at worst one is
    never used.
    """

    def __init__(self) -> None:
        self._codes: list[CodeInfo | None] = [None]
        self._code_rows: dict[int, CodeInfo] = {}  # id(code) -> row; the row keeps the code alive
        self._stacks: list[tuple[int, int, int]] = [(0, 0, 0)]
        self._stack_rows: dict[tuple[int, int, int], int] = {}
        self._sites: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)]
        self._site_rows: dict[tuple[int, int, int, int], int] = {}
        self._names: list[str] = [""]
        self._name_rows: dict[str, int] = {}
        self._modules: list[tuple[str, str]] = [("", "")]
        self._module_rows: dict[tuple[str, str], int] = {}

    def code(self, code: CodeType) -> CodeInfo:
        """What is known of a code object of the user's."""
        info = self._code_rows.get(id(code))
        if info is None:
            info = code_info(len(self._codes), code)
            self._codes.append(info)
            self._code_rows[id(code)] = info
        return info

    def stack(self, parent: int, code: int, line: int) -> int:
        """The row of a stack: the caller's stack and the line at which the caller stands."""
        key = (parent, code, line)
        row = self._stack_rows.get(key)
        if row is None:
            self._stacks.append(key)
            row = self._stack_rows[key] = len(self._stacks) - 1
        return row

    def site(self, stack: int, code: int, line: int, module: int) -> int:
        """The row of a line, with the callers' stack and the innermost module that was running."""
        key = (stack, code, line, module)
        row = self._site_rows.get(key)
        if row is None:
            self._sites.append(key)
            row = self._site_rows[key] = len(self._sites) - 1
        return row

    def name(self, text: str) -> int:
        """The row of a variable's name."""
        row = self._name_rows.get(text)
        if row is None:
            self._names.append(text)
            row = self._name_rows[text] = len(self._names) - 1
        return row

    def module(self, path: str, kind: str) -> int:
        """The row of a module's path and class."""
        row = self._module_rows.get((path, kind))
        if row is None:
            self._modules.append((path, kind))
            row = self._module_rows[path, kind] = len(self._modules) - 1
        return row

    def text(self, name: int) -> str | None:
        """The name in a row of `name`."""
        return self._names[name] or None

    def module_text(self, module: int) -> tuple[str, str]:
        """Path and class in a row of `module`."""
        return self._modules[module]

    def module_of(self, site: int) -> tuple[str | None, str | None]:
        """Path and class of the module that ran at `site`."""
        path, kind = self._modules[self._sites[site][3]]
        return path or None, kind or None

    def places(self, site: int) -> tuple[Place, ...]:
        """The stack of a site, innermost first, at most `STACK_LIMIT`; the first one is the line itself.

        Without a limit a recursion that makes a node in each of n frames would take n * n steps.
        """
        stack, code, line, _ = self._sites[site]
        found = [self.place(code, line)]
        while stack and len(found) < STACK_LIMIT:
            stack, code, line = self._stacks[stack]
            found.append(self.place(code, line))
        return tuple(found)

    def place(self, code: int, line: int) -> Place:
        """A line of a code object."""
        info = self._codes[code]
        assert info is not None  # rows of codes begin at 1
        return Place(path_of(info.code.co_filename), line, qualified_name(info.code))


def qualified_name(code: CodeType) -> str:
    """`Class.method` where Python tells it (3.11 and newer), else the bare name."""
    name: str = getattr(code, "co_qualname", code.co_name)
    return name
