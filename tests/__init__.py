"""Tests of gradviz; the folders mirror its packages."""
