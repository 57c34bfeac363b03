"""An add-on with check_active.py, for startProgram."""
import queue
import sys
import threading
from types import SimpleNamespace

sys.path.insert(0, "")
import simulated as code

check_active = code.check_active
wall_s = 0.0
callback = ""
said = []
replies = {}
running = 0
stopping = []
rests = threading.Semaphore(0)  # Released when a thread ends, or waits for a reply.

def wait_for(word, about):
    reply = queue.Queue()
    replies[str(id(reply))] = reply
    said.append(f"{word} {id(reply)} {about}")
    rests.release()
    return reply.get()

def start(name):
    global running
    running += 1
    threading.Thread(target=ask, args=[name], daemon=True).start()

def ask(name):
    try:
        code.keep_asking(name, lambda: call("unlock"), lambda result: call(f"lock {result}"))
    except Exception as error:  # That of a callback has no text.
        said.append(f"error{error}")
    while stopping:
        stopping.pop().join()
    rests.release()

def call(what):
    global callback
    said.append(f"calls {what}")
    does, callback = callback, ""
    if does == "stops":
        stopping.append(threading.Thread(target=code.stop_asking))
        stopping[0].start()
        stopping[0].join(0.1)
        said.extend([] if stopping[0].is_alive() else ["stopped early"])
    if does in ("stops", "throws"):
        raise RuntimeError
    if does:
        code.stop_asking()
        start(does[len("asks "):])

code.check_active = lambda name: wait_for("asks", name or "")
code.sleep = lambda seconds: wait_for("pauses", seconds)
code.time = SimpleNamespace(time=lambda: wall_s)

for line in sys.stdin:
    _, wall, event, about = line.rstrip("\n").split(" ", 3)
    wall_s = float(wall)
    if event == "ask":
        start(about or None)
    if event == "callback":
        callback = about
    if event == "check":
        said.append(check_active(about))
    if event == "name":
        said.append(f"name {code.stored_name() or ''}")
    if event == "reply":
        number, _, result = about.split(" ", 2)
        running += 1
        replies[number].put(result)
    if event == "stop":
        code.stop_asking()
    while running > 0:
        rests.acquire()
        running -= 1
    print(*said, ".", sep="\n", flush=True)
    said.clear()
