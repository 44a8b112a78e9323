"""GET /metrics: Prometheus text."""

import psutil
from aiohttp import web

from app.api.state import CLIENT, require_monitoring

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_started_at = psutil.Process().create_time()


def add_routes(router: web.UrlDispatcher) -> None:
    router.add_get("/metrics", metrics)


async def metrics(request: web.Request) -> web.Response:
    require_monitoring(request)
    client = request.app[CLIENT]
    client.require_model()
    headers = {"Content-Type": CONTENT_TYPE, "Process-Start-Time-Unix": str(int(_started_at))}
    return web.Response(text=client.metrics.text(client.num_waiting), headers=headers)
