"""Makes llama_cpp for kinds of processors, plain and patched: `kernel_libraries.py FOLDER LLAMA [KIND…]`.

They differ in llama.cpp's CPU code alone, and come into FOLDER/<kind>-plain and FOLDER/<kind>-patched, as
`python -m tests.benchmarks kernels FOLDER` wants them. LLAMA is a folder made by `packaging/series.py open`.
"""

import sys
import tempfile
from pathlib import Path

from llama_cpp_sources import libraries
from plain_library import build
from series import git

AVX2 = ("-msse4.2", "-mf16c", "-mfma", "-mavx2", "-mbmi2")  # as llama.cpp's variants of a bundle
AVX512 = ("f", "cd", "vl", "dq", "bw", "vbmi", "vnni", "bf16")
KINDS = {
    "avx2": AVX2,
    "avx-vnni": (*AVX2, "-mavxvnni"),
    "avx-512": (*AVX2, *(f"-mavx512{part}" for part in AVX512)),
}
# A processor with AVX-512 runs what is made for AVX-VNNI, if its instructions are in the encoding of AVX-512.
ASSEMBLER = """#!/bin/sh
for source; do case $source in *.s) sed -i 's/{vex} vpdp/{evex} vpdp/' "$source" ;; esac; done
exec as "$@"
"""


def main(made: Path, llama: Path, kinds: list[str]) -> None:
    patched = git(llama, "rev-parse", "HEAD").strip()
    with tempfile.TemporaryDirectory() as work:
        assembler = Path(work, "as")
        assembler.write_text(ASSEMBLER)
        assembler.chmod(0o755)
        for state, commit in (("patched", patched), ("plain", "pinned")):
            sources = Path(work, state)
            git(llama, "worktree", "add", "--detach", str(sources), commit)
            for kind in kinds or KINDS:
                build(made / f"{kind}-{state}", sources, libraries(), ("-O3", f"-B{work}", *KINDS[kind]))
            git(llama, "worktree", "remove", "--force", str(sources))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
