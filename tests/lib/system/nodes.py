"""A cluster whose replicas run as on nodes of their own, which can fail, vanish or be cut off from the servers.

    with NodeCluster() as cluster:
        cluster.vanish(cluster["svc-search"][0])

Each replica reaches Postgres and Redis by proxies of its own.
"""

import time

from lib.system.named_cluster import NamedCluster
from lib.system.tcp_proxy import TcpProxy

LOST_SECONDS = 40  # for which the connections of a lost node stay open


class Links:
    """What connects one node with the servers."""

    def __init__(self, cluster):
        self.postgres, self.redis = TcpProxy(cluster.postgres.port), TcpProxy(cluster.redis.port)

    def settings(self, cluster, name):
        role = "expops_" + name.removeprefix("svc-")
        return {
            "DATABASE_URL": cluster.postgres.url(role).replace(f":{cluster.postgres.port}/", f":{self.postgres.port}/"),
            "REDIS_URL": cluster.redis.url(name).replace(f":{cluster.redis.port}/", f":{self.redis.port}/"),
        }

    def swallow(self):
        self.postgres.swallow()
        self.redis.swallow()

    def restore(self):
        self.postgres.restore()
        self.redis.restore()

    def close(self):
        self.postgres.close()
        self.redis.close()


class NodeCluster(NamedCluster):
    def __init__(self):
        super().__init__()
        self.links = {}  # process -> Links
        self.lost = []   # (time, process, links), oldest first

    def __exit__(self, *error):
        self.remove_lost(0)
        super().__exit__(*error)
        for links in self.links.values():
            links.close()

    def add(self, name, **changes):
        """Start a replica on a new node. Does not wait until it is ready."""
        links = Links(self)
        process = super().add(name, **links.settings(self, name), **changes)
        self.links[process] = links
        return process

    def vanish(self, process):
        """Let a node vanish: nobody sees its connections closed. Another one takes its place."""
        links = self.links.pop(process)
        links.swallow()
        process.pause()
        self.processes[process.name].remove(process)
        self.lost.append((time.monotonic(), process, links))
        self.add(process.name)

    def remove_lost(self, seconds=LOST_SECONDS):
        """Close the connections of nodes that vanished so long ago."""
        while self.lost and self.lost[0][0] + seconds <= time.monotonic():
            _, process, links = self.lost.pop(0)
            process.kill9()
            links.close()
            self.retired.append(process)
