"""The program that is killed: fetches the order it is given as JSON, into the folder it is given."""

import asyncio
import sys
from pathlib import Path

from app.models import download
from app.models.order import Order

if __name__ == "__main__":
    download.BATCH_BYTES = 16 * 1024
    asyncio.run(download.Fetch(Order.model_validate_json(sys.argv[1]), Path(sys.argv[2])).run())
