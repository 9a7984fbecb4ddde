"""Host names of a cluster's processes, each with the addresses of several replicas (tests/lib/unit/fake_dns.c).

    names = FakeNames(cluster)
    names.set("svc-search.test", ["127.0.0.1", "127.0.0.2"])
    cluster.add("gateway", SEARCH_URL="http://svc-search.test:20080", **names.settings())
"""

import os
import secrets


class FakeNames:
    def __init__(self, cluster):
        self.path = cluster.servers.base / f"names-{secrets.token_hex(4)}"
        self.library = cluster.build_dir / "tests" / "lib" / "unit" / "fake_dns.so"
        assert self.library.exists(), f"build everything first: {self.library} is missing"  # else no name can be resolved
        self.addresses = {}

    def set(self, name, addresses):
        """Give a name these addresses. Processes learn of it when they look the name up again."""
        self.addresses[name] = addresses
        text = "".join(f"{one} {' '.join(several)}\n" for one, several in self.addresses.items())
        new = self.path.with_suffix(".new")
        new.write_text(text)
        os.rename(new, self.path)  # a look-up reads the old or the new file

    def settings(self):
        """The environment of a process that knows the names."""
        options = [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]
        return {
            "LD_PRELOAD": str(self.library),
            "FAKE_DNS": str(self.path),
            "ASAN_OPTIONS": ":".join(filter(None, options)),
        }
