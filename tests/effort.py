"""How much the tests do of what is random.

`SKEIN_TEST_EFFORT=10 packaging/test` does ten times as much.
"""

import os

EFFORT = int(os.environ.get("SKEIN_TEST_EFFORT", "1"))
