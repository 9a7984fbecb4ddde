"""A cluster whose replicas are found by host names, as those of a headless Kubernetes service are.

    with NamedCluster() as cluster:
        cluster["svc-search"][0].restart()

Two replicas of each process run. Each listens on an address of its own (127.0.0.1, 127.0.0.2, ...), and the host name of the process
has the addresses of them all.
"""

import itertools

from lib.system.cluster import Cluster
from lib.system.fake_names import FakeNames
from lib.system.process import Process
from lib.system.servers import free_port


class NamedCluster(Cluster):
    has_balancers = False

    def __init__(self, **settings):
        """`settings` are those of every process that differ from the usual ones."""
        super().__init__(replicas=2)
        self.changes = settings
        self.names = FakeNames(self)
        self.service_ports = {name: free_port() for name in self.processes}
        self.hosts = {name: itertools.count(1) for name in self.processes}
        self.numbers = itertools.count()

    def url(self, name):
        return f"http://{name}.test:{self.service_ports[name]}"

    @property
    def gateway_url(self):
        return self["gateway"][0].url

    def add(self, name, **changes):
        """Start a replica with an address of its own. Does not wait until it is ready."""
        number = f"node-{next(self.numbers)}"
        listen = f"127.0.0.{next(self.hosts[name])}:{self.service_ports[name]}"
        settings = {"LISTEN": listen, **self.names.settings(), **self.changes, **changes}
        log_path = self.servers.base / f"{name}-{number}.log"
        process = Process(name, self.binary(name), self.settings(name, number, **settings), log_path)
        self.processes[name].append(process)
        self.publish(name)
        process.start()
        return process

    def publish(self, name):
        """Let the host name of a process have the addresses of its replicas."""
        self.names.set(f"{name}.test", [process.env["LISTEN"].partition(":")[0] for process in self[name]])
