"""The llama.cpp that is installed here is the one that packaging makes."""

import sys
from pathlib import Path

from app.system.llama_library import llama_patches

SERIES = Path(__file__).parents[2] / "packaging" / "llama_cpp"


def test_llama_cpp_has_each_patch_that_packaging_gives_it() -> None:
    """Or none, after `packaging/run --plain-llama`."""
    wants_none = Path(sys.prefix, "plain-llama").exists()
    wanted = [] if wants_none else sorted(SERIES.glob("*.patch"))
    assert llama_patches() == tuple(patch.stem.partition("-")[2] for patch in wanted)
