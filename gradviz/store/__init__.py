"""The recording as a file: schema, writer, reader and the public JSON. Standard library only."""
