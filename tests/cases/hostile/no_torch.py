"""Has nothing to do with torch."""
import sys

print(sys.version_info[0])
