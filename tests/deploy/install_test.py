"""What `cmake --install` puts together for an image, and what of Debian's it needs beside.

    python -m tests.deploy.install_test BUILD_DIR
"""

import functools
import pathlib
import re
import tempfile
import unittest

from tests.deploy.built import ROOT, Build, main, run

# Every Debian system has these, or the server's other packages bring them.
ALWAYS_THERE = {"libc6", "libstdc++6", "libgcc-s1", "zlib1g"}


def runtime_packages():
    """The packages that docker/Dockerfile installs for running."""
    words = re.search(r"apt-get install --yes --no-install-recommends \\\n(.*?)\n &&",
                      (ROOT / "docker/Dockerfile").read_text(), re.S)[1]
    return set(words.replace("\\", "").split())


@functools.cache
def package_of(library):
    """Of Debian's library at a path that the loader found."""
    # Where /lib is a link to /usr/lib, dpkg knows the file by either path.
    path = pathlib.Path(library)
    for candidate in (path, path.resolve(), pathlib.Path("/usr" + str(path)),
                      pathlib.Path(str(path.resolve()).removeprefix("/usr"))):
        code, said, _ = run("dpkg", "-S", candidate)
        if code == 0:
            return said.split(":")[0]
    raise AssertionError(f"{library} is of no package")


def depends(package):
    code, said, problem = run("dpkg-query", "-W", "-f", "${Depends}", package)
    if code != 0:
        raise AssertionError(problem)
    return {re.split(r"[\s:(|]", word.strip())[0] for word in said.split(",") if word.strip()}


def with_dependencies(packages):
    found, left = set(), set(packages)
    while left:
        package = left.pop()
        found.add(package)
        left |= {name for name in depends(package) if name.startswith("lib") or name == "zlib1g"} - found
    return found


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = pathlib.Path(folder.name)
        for component in ("sinkd", "sinkctl"):
            code, said, problem = run("cmake", "--install", Build.folder, "--component", component,
                                      "--prefix", cls.prefix)
            if code != 0:
                raise AssertionError(said + problem)
        cls.sinkd = cls.prefix / "bin/sinkd"

    def libraries(self):
        """{name: path} of all that the installed server loads."""
        code, said, problem = run("ldd", self.sinkd, environment={"LD_LIBRARY_PATH": ""})
        self.assertEqual(code, 0, problem)
        self.assertNotIn("not found", said)
        return dict(re.findall(r"^\s*(\S+) => (/\S+) \(", said, re.M))

    def test_both_programs_run_from_where_they_are(self):
        for program in ("sinkd", "sinkctl"):
            command = (self.prefix / "bin" / program, "--version" if program == "sinkd" else "version")
            code, said, problem = run(*command)
            self.assertEqual(code, 0, problem)
            self.assertTrue(said.startswith(program), said)

    def test_libtorch_and_what_it_links_are_those_installed(self):
        ours = {name for name, path in self.libraries().items() if path.startswith(str(self.prefix))}
        self.assertEqual(ours, {"libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libcudart.so.13",
                                "libcupti.so.13"})
        installed = {file.name for file in self.prefix.rglob("*.so*")}
        self.assertEqual(installed, ours)

    def test_the_image_has_every_package_whose_library_is_loaded(self):
        loaded = {package_of(path) for path in self.libraries().values()
                  if not path.startswith(str(self.prefix))}
        there = with_dependencies(runtime_packages()) | ALWAYS_THERE
        self.assertEqual(loaded - there, set())

    def test_the_image_has_no_package_that_the_server_does_not_link(self):
        code, said, problem = run("readelf", "--dynamic", self.sinkd)
        self.assertEqual(code, 0, problem)
        libraries = self.libraries()
        linked = {package_of(libraries[name]) for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said)
                  if name in libraries and not libraries[name].startswith(str(self.prefix))}
        self.assertEqual(runtime_packages() - linked, set())


if __name__ == "__main__":
    main()
