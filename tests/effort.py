"""How much the tests do of the same kind.

`SKEIN_TEST_EFFORT=10 packaging/test` does ten times as much of what is random, and every combination of
what is listed.
"""

import os

EFFORT = int(os.environ.get("SKEIN_TEST_EFFORT", "1"))
