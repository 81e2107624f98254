# mypy: ignore-errors
# The first code that Wayhop gives an interpreter: it takes the package from the pipe that is standard
# input. It has to run on any Python 3, to say which one is needed.
import json, os, sys, types  # noqa: E401

fd = os.dup(0)
null = os.open(os.devnull, os.O_RDONLY)
os.dup2(null, 0)
os.close(null)


def read(count):
    data = b""
    while len(data) < count:
        more = os.read(fd, count - len(data))
        if not more:
            os._exit(0)
        data += more
    return data


start = json.loads(read(int.from_bytes(read(4), "little")).decode())
if sys.version_info < (3, 9):
    what = "needs Python 3.9 or later, and this is Python %d.%d; install a newer one, or set WAYHOP_PYTHON to it" % sys.version_info[:2]
    body = json.dumps({"what": what, "place": "", "traceback": ""}).encode()
    os.write(fd, (len(body) + 5).to_bytes(4, "little") + b"\1\0\0\0\0" + body)
    os._exit(1)
package = types.ModuleType("wayhop")
package.__path__ = []
sys.modules["wayhop"] = package
for name, source in start["sources"]:
    module = sys.modules.setdefault(name, types.ModuleType(name))
    module.__package__ = "wayhop"
    exec(compile(source, "<%s>" % name, "exec"), module.__dict__)
    if name != "wayhop":
        setattr(package, name.split(".")[1], module)
sys.modules["wayhop.host"].serve(fd, start)
