"""Which layers of a model are computed here, and which on devices and other machines.

As llama.cpp splits them (llama_model::load_tensors): the last layers go to the devices, in proportion to
their free memory, and the output counts as one more layer. Any thread.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.protocol.model import Device, DeviceKind

HERE = 0  # the number of the first device is 1


@dataclass(frozen=True, slots=True)
class Room:
    """Free memory: of this machine, its GPUs, and workers."""

    here_bytes: int
    gpus: tuple[Device, ...] = ()
    workers: tuple[Device, ...] = ()  # each is named by its address

    @property
    def devices(self) -> tuple[Device, ...]:
        """In the order in which they are given to the library."""
        return self.workers + self.gpus

    @property
    def total_bytes(self) -> int:
        return self.here_bytes + sum(
            device.free_bytes for device in self.devices if device.kind is not DeviceKind.INTEGRATED
        )

    def free_bytes(self, place: int) -> int:
        return self.devices[place - 1].free_bytes if place else self.here_bytes

    def is_known(self, place: int) -> bool:
        """False if a device does not report its memory."""
        return not place or self.devices[place - 1].total_bytes > 0


def places(num_layers: int, num_there: int, room: Room) -> list[int]:
    """For each layer, then the output: HERE, or the number of a device. `num_there` are on devices."""
    # A device that does not report its memory counts as large as this machine.
    shares = [device.free_bytes or room.here_bytes or 1 for device in room.devices]
    num_there = min(num_there, num_layers + 1) if shares else 0
    ends = [end / sum(shares) for end in accumulate(shares)]
    there = [1 + bisect_right(ends, index / num_there) for index in range(num_there)]
    return [HERE] * (num_layers + 1 - num_there) + there


def usual_num_there(num_layers: int, room: Room) -> int:
    """How many layers go to devices that have room: all if there is a GPU.

    Workers alone get a share in proportion to all free memory, and one each at least.
    """
    if room.gpus or not room.workers:
        return num_layers + 1
    elsewhere = sum(worker.free_bytes for worker in room.workers)
    share = round((num_layers + 1) * elsewhere / max(elsewhere + room.here_bytes, 1))
    return min(max(share, len(room.workers)), num_layers + 1)


def nums_to_try(usual: int, least: int, most: int) -> Sequence[int]:
    """From `least` to `most`, those next to `usual` first."""
    return sorted(range(least, most + 1), key=lambda number: abs(number - usual))
