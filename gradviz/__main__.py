"""`python -m gradviz`: the same as the command `gradviz`."""

import os
import sys

# `-m` puts the current folder first on the path. A sqlite3.py or random.py there is the script's, whose process finds
# it by itself; here it would run in the place of Python's own. The installed command has no such entry.
if sys.path[:1] == [os.getcwd()] and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

from gradviz.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
