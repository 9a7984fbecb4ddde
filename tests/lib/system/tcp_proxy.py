"""A TCP proxy that tests put in front of a server, to take the network between it and its clients away.

    proxy = TcpProxy(cluster.postgres.port)     # clients connect to proxy.port
    proxy.swallow()                             # a silent partition: connections stay open, nothing arrives
    proxy.reset()                               # every connection is reset, new ones too
    proxy.restore()                             # bytes flow again, those that were swallowed included
    proxy.close()

A swallowed connection behaves as one whose packets are dropped and sent again: nothing is lost after restore(), but the
other end cannot know that. The proxy's own side of it still acknowledges bytes, so TCP's time-outs do not see it.
"""

import asyncio
import threading

from lib.system.servers import free_port

PIECE_BYTES = 65536


class TcpProxy:
    def __init__(self, target_port, port=None):
        self.target_port, self.port = target_port, port or free_port()
        self.is_reset = False
        self.writers = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self._run(self._listen())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def swallow(self):
        self._run(self._set(flows=False, is_reset=False))

    def reset(self):
        self._run(self._set(flows=True, is_reset=True))

    def restore(self):
        self._run(self._set(flows=True, is_reset=False))

    def close(self):
        self.reset()
        self._run(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    async def _listen(self):
        self.flow = asyncio.Event()
        self.flow.set()
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _set(self, flows, is_reset):
        self.is_reset = is_reset
        if is_reset:
            for writer in list(self.writers):
                writer.transport.abort()
        if flows:
            self.flow.set()
        else:
            self.flow.clear()

    async def _end(self):
        self.server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        self.writers.add(writer)
        try:
            await self.flow.wait()
            if self.is_reset:
                raise ConnectionResetError
            target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            writer.transport.abort()
            self.writers.discard(writer)
            return
        self.writers.add(target_writer)
        await asyncio.gather(self._copy(reader, target_writer), self._copy(target_reader, writer))
        self.writers -= {writer, target_writer}

    async def _copy(self, reader, writer):
        """Copy bytes until the end of the stream, or until either connection breaks."""
        try:
            while piece := await reader.read(PIECE_BYTES):
                await self.flow.wait()
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        finally:
            await self.flow.wait()  # the end of the stream is swallowed, too
            writer.close()
