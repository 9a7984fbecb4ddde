"""A cluster whose replicas run as on nodes of their own, which can fail, vanish or be cut off from the servers.

    with NodeCluster() as cluster:
        cluster.vanish(cluster["svc-search"][0])

Two replicas of each process run. Each listens on an address of its own (127.0.0.1, 127.0.0.2, ...), where the others find it by
a host name, and reaches Postgres and Redis by proxies of its own.
"""

import itertools
import time

from lib.cluster import Cluster
from lib.fake_names import FakeNames
from lib.process import Process
from lib.servers import free_port
from lib.tcp_proxy import TcpProxy

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


class NodeCluster(Cluster):
    has_balancers = False

    def __init__(self):
        super().__init__(replicas=2)
        self.names = FakeNames(self)
        self.service_ports = {name: free_port() for name in self.processes}
        self.hosts = {name: itertools.count(1) for name in self.processes}
        self.numbers = itertools.count()
        self.links = {}  # process -> Links
        self.lost = []   # (time, process, links), oldest first

    def __exit__(self, *error):
        self.remove_lost(0)
        super().__exit__(*error)
        for links in self.links.values():
            links.close()

    def url(self, name):
        return f"http://{name}.test:{self.service_ports[name]}"

    @property
    def gateway_url(self):
        return self["gateway"][0].url

    def add(self, name, **changes):
        """Start a replica on a new node. Does not wait until it is ready."""
        links, number = Links(self), f"node-{next(self.numbers)}"
        listen = f"127.0.0.{next(self.hosts[name])}:{self.service_ports[name]}"
        settings = {"LISTEN": listen, **self.names.settings(), **links.settings(self, name), **changes}
        log_path = self.servers.base / f"{name}-{number}.log"
        process = Process(name, self.binary(name), self.settings(name, number, **settings), log_path)
        self.processes[name].append(process)
        self.links[process] = links
        self.publish(name)
        process.start()
        return process

    def publish(self, name):
        """Let the host name of a process have the addresses of its nodes."""
        self.names.set(f"{name}.test", [process.env["LISTEN"].partition(":")[0] for process in self[name]])

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
