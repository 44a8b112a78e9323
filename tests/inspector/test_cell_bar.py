from hypothesis import given
from hypothesis import strategies as st

from app.engine.types import CellUsage
from app.inspector.cell_bar import parts_of


def test_shared_cells_are_counted_once() -> None:
    own, shared, free = parts_of(CellUsage(num_total=4096, num_used=823, num_shared=196))
    assert (own.num_cells, shared.num_cells, free.num_cells) == (627, 196, 3273)


@given(st.data())
def test_the_parts_are_the_whole(data: st.DataObject) -> None:
    total = data.draw(st.integers(1, 2**20))
    used = data.draw(st.integers(0, total))
    shared = data.draw(st.integers(0, used))
    assert sum(part.num_cells for part in parts_of(CellUsage(total, used, shared))) == total
