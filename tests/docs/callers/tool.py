"""Asks with check_active.py in the world of a test. With names, asks once about each, for real."""

import queue
import sys
import threading
from types import SimpleNamespace

sys.path.insert(0, "")
import check_active as code

if len(sys.argv) > 1:
    page = {"show_window": lambda: None, "show_activation": lambda _: None}
    exec(open("call").read(), {**vars(code), **page})
    print(*map(code.check_active, sys.argv[1:]), sep="\n")
    sys.exit()

now = 0.0
following = ""  # What the next callback does: "throw", or a name to ask about.
replies = []
running = 0
paused = threading.Semaphore(0)


def wait_for(what, about):
    """Says what this thread waits for, and waits for it."""
    reply = queue.Queue()
    replies.append(reply)
    print(what, len(replies) - 1, about)
    paused.release()
    return reply.get()


class Event(threading.Event):
    def wait(self, timeout):
        wait_for("pause", timeout)


def start(name):
    global running
    running += 1
    threading.Thread(target=ask, args=[name], daemon=True).start()


def ask(name):
    def call_back(what):
        global following
        print(what)
        does, following = following, ""
        if does == "throw":
            raise RuntimeError
        if does:
            start(does)

    try:
        code.keep_asking(name, lambda: call_back("unlock"), lambda result: call_back(f"lock {result}"))
    except RuntimeError:
        print("error")
    finally:
        paused.release()


code.check_active = lambda name: wait_for("ask", name)
code.threading = SimpleNamespace(Event=Event)
code.time = SimpleNamespace(time=lambda: now)
code.stop_asking()

for line in sys.stdin:
    second, word, *rest = line.rstrip("\n").split(" ", 3)
    now = float(second)
    if word == "ask":
        start(" ".join(rest))
    elif word in ("new", "next"):
        following = " ".join(rest)
    elif word == "stop":
        code.stop_asking()
    elif word == "reply":
        running += 1
        replies[int(rest[0])].put(rest[1])
    while running > 0:
        paused.acquire()
        running -= 1
    print(".", flush=True)
