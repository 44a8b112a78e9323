"""`python -m app.engine.llama.about` prints llama.cpp's version and the hardware features it uses here.

In a bundle: `skein --run-module app.engine.llama.about`.
"""

import sys

from app.engine.llama.native_library import library, library_info
from app.system.llama_library import llama_patches


def main() -> None:
    library()
    info = library_info()
    sys.stdout.write(f"ggml {info.version}\nfeatures: {' '.join(info.features)}\n")
    sys.stdout.write(f"patches: {' '.join(llama_patches()) or 'none'}\n")
    for device in info.devices:
        memory = f"{device.free_bytes >> 20:,} of {device.total_bytes >> 20:,} MiB free"
        sys.stdout.write(f"device: {device.name} ({device.kind}): {device.description}, {memory}\n")


if __name__ == "__main__":
    main()
