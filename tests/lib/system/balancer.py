"""A load balancer in front of replicas, like a Kubernetes service: it passes each connection to the next ready replica."""

import asyncio
import threading

PIECE_BYTES = 65536


class Balancer:
    """Listens on `port` and distributes connections among `targets` (lib.system.process.Process); the list may change."""

    def __init__(self, port):
        self.port, self.targets, self.turn = port, [], 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self.loop).result()

    async def _listen(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def _connect(self):
        """A connection to the next ready replica, or None.

        Each replica is asked once: another connection, or a change of the list, may come between two questions.
        """
        self.turn += 1
        targets = list(self.targets)
        first = self.turn % max(len(targets), 1)
        for target in targets[first:] + targets[:first]:
            try:
                if await is_ready(target.admin_port):
                    return await asyncio.open_connection("127.0.0.1", target.port)
            except OSError:
                pass
        return None

    async def _serve(self, reader, writer):
        upstream = await self._connect()
        if upstream is None:
            writer.transport.abort()
            return
        await asyncio.gather(copy(reader, upstream[1]), copy(upstream[0], writer))


async def is_ready(admin_port):
    reader, writer = await asyncio.open_connection("127.0.0.1", admin_port)
    writer.write(b"GET /readyz HTTP/1.1\r\nHost: replica\r\nConnection: close\r\n\r\n")
    status = await reader.readline()
    writer.close()
    return b" 200 " in status


async def copy(reader, writer):
    """Copy bytes until the end of the stream, or until either connection breaks."""
    try:
        while piece := await reader.read(PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
