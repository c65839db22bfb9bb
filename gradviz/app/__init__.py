"""The window: everything that can be seen and pressed. Adapts the packages that know no Qt to Qt signals.

`open_window(paths, python=None, script_args=())` is all that others need.

How it is built: one `Session` a tab is the only mutable object; it holds the recording, the frozen `ViewState` and the
`Player`. Everything in `panels/` and `graph/` is a thin view on it. `Background` runs what takes long in threads;
`Drawing` keeps planning and painting in one thread of their own. `Running` and `RunAdapter` run the script.
`actions.py` is the table of all actions, `commands.py` what they do.
"""

from gradviz.app.main import open_window

__all__ = ["open_window"]
