"""An add-on with check_active.py, for startProgram. With names, it asks once about each, for real."""
import queue
import sys
import threading
from types import SimpleNamespace

sys.path.insert(0, "")
import check_active as code

if len(sys.argv) > 1:
    print(*map(code.check_active, sys.argv[1:]), sep="\n")
    sys.exit()

wall_s = 0.0
callback = ""
replies = []
running = 0
waits = threading.Semaphore(0)  # Released when a thread ends, or waits for a reply.

def wait_for(word, about):
    replies.append(queue.Queue())
    reply = replies[-1]
    print(word, len(replies) - 1, about)
    waits.release()
    return reply.get()

class Event(threading.Event):
    def wait(self, timeout):
        wait_for("pauses", timeout)

def start(name):
    global running
    running += 1
    threading.Thread(target=ask, args=[name], daemon=True).start()

def ask(name):
    try:
        code.keep_asking(name, lambda: call("unlock"), lambda result: call(f"lock {result}"))
    except RuntimeError:
        print("error")
    finally:
        waits.release()

def call(what):
    global callback
    does, callback = callback, ""
    print("calls", what)
    if does == "throws":
        raise RuntimeError
    if does:
        start(does[len("asks "):])

code.check_active = lambda name: wait_for("asks", name)
code.threading = SimpleNamespace(Event=Event)
code.time = SimpleNamespace(time=lambda: wall_s)

for line in sys.stdin:
    _, second, word, about = (line.rstrip("\n") + " ").split(" ", 3)
    about = about[:-1]
    wall_s = float(second)
    if word == "ask":
        start(about)
    if word in ("new", "callback"):
        callback = about
    if word in ("new", "stop"):
        code.stop_asking()
    if word == "name":
        print("name:", code.stored_name() or "nothing")
    if word == "reply":
        running += 1
        replies[int(about.split()[0])].put(about.split(" ", 1)[1])
    while running > 0:
        waits.acquire()
        running -= 1
    print(".", flush=True)
