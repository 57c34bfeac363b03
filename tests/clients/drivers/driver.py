"""Plays a scenario to check_active.py, in the protocol of startProgram."""
import sys
from threading import Event, Thread
from types import SimpleNamespace

sys.path.insert(0, "..")
import check_active as code

check_active = code.check_active
replies = []  # To each question and pause, in their order.

def wait(word, about):
    """Waits for a reply. Until it comes, other events happen, in this thread, too."""
    number = len(replies)
    replies.append(None)
    print(word, number, about)
    while replies[number] is None:
        handle_event()
    return replies[number]

class SimulatedEvent(Event):
    def wait(self, seconds):
        wait("waits", seconds)

def ask(name):
    def call(what):
        print(what)
        if name.endswith("!"):
            raise RuntimeError

    try:
        code.keep_asking(name, lambda: call("unlock"), lambda result: call(f"lock {result}"))
    except RuntimeError:
        print("error")

def handle_event():
    print(".", flush=True)
    _, wall_s, event, about = (sys.stdin.readline().rstrip("\n") or sys.exit()).split(" ", 3)
    code.time = SimpleNamespace(time=lambda: float(wall_s))
    if event == "ask":
        ask(about)
    if event == "check":
        print(check_active(about))
    if event == "reply":
        number, _, result = about.split(" ", 2)
        replies[int(number)] = result
    if event == "stop":
        code.stop_asking()

code.check_active = lambda name: wait("asks", name)
code.random = SimpleNamespace(uniform=lambda *_: 1)
code.threading = SimpleNamespace(Event=SimulatedEvent, Thread=Thread)
while True:
    handle_event()
