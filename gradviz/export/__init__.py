"""Pictures and animations as files.

`export(recording, output, ExportOptions(...), progress=None, cancelled=None) -> ExportResult` is all that a caller
needs; `EXPORTERS` is the table of formats. `progress(done, of)` is called often, `cancelled()` asked as often; a
cancelled or failed export leaves no file. The picture comes from `gradviz.render`, painted by `paint_frame` or written
from the display list.
"""

from gradviz.export.options import ExportCancelledError, ExportOptions, ExportResult
from gradviz.export.pipeline import EXPORTERS, check_output, export, format_of
from gradviz.export.story import Story, StoryScene, read_story

__all__ = [
    "EXPORTERS",
    "ExportCancelledError",
    "ExportOptions",
    "ExportResult",
    "Story",
    "StoryScene",
    "check_output",
    "export",
    "format_of",
    "read_story",
]
