"""Files that were made to harm. All of them: `python -m tests.media.hostile`."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.media.hostile import FEW, FILES, outcome

NO_FILES = """
import socket
from app.media import reading_child
reading_child.shut({"AS": 1 << 30, "CPU": 20})
for call in (lambda: open("/etc/passwd"), lambda: socket.socket(), lambda: open("/dev/null", "w")):
    try:
        call()
    except OSError:
        continue
    raise SystemExit("it was opened")
"""


def test_each_is_read_or_refused_with_a_sentence():
    with ThreadPoolExecutor(2) as pool:
        outcomes = dict(zip(FEW, pool.map(outcome, FEW), strict=True))
    for name, (said, _read) in outcomes.items():
        assert FILES[name][1] in said, name
    turned = outcomes["a JPEG turned by its EXIF"][1].media
    assert (turned.width, turned.height) == (40, 60)
    bright = outcomes["16 bits"][1].thumbnail.rgb
    assert set(bright) == {255}
    assert set(outcomes["see-through"][1].thumbnail.rgb) == {255}


def test_the_child_opens_no_file_and_no_socket_once_it_reads():
    done = subprocess.run([sys.executable, "-c", NO_FILES], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
