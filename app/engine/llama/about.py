"""`python -m app.engine.llama.about` prints what llama.cpp is on this machine: its version, and what it uses.

Of a bundle: `skein --run-module app.engine.llama.about`.
"""

import sys

from app.engine.llama.library import library, library_info


def main() -> None:
    library()
    info = library_info()
    sys.stdout.write(f"ggml {info.version}\nfeatures: {' '.join(info.features)}\n")
    sys.stdout.writelines(f"device: {device}\n" for device in info.devices)


if __name__ == "__main__":
    main()
