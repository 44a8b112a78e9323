"""Old faults still fit today's code. `python -m tests.faults` shows that the tests find each."""

import pytest

from tests.faults.faults import ROOT, Fault, all_faults

FAULTS = all_faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_fits(fault: Fault) -> None:
    assert fault.times_found() == 1, f"{fault.file} has another text now: bring tests/faults up to date"
    assert fault.new != fault.old
    assert all((ROOT / test.partition("::")[0]).is_file() for test in fault.tests)


def test_names_differ() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
