"""Plays a scenario to check_active.py, in the protocol of startProgram."""
import sys
from threading import Event, Thread
from types import SimpleNamespace

sys.path.insert(0, "..")
import check_active as code

check_active = code.check_active
waits = 0
replies = {}
last = {}  # What each event was about.

def wait(word, about):
    """Waits for a reply. Until it comes, other events happen, in this thread, too."""
    global waits
    waits += 1
    number = str(waits)
    print(word, number, about)
    while number not in replies:
        handle_event()
    return replies[number]

class SimulatedEvent(Event):
    def wait(self, seconds):
        wait("waits", seconds)

def ask(name):
    try:
        code.keep_asking(name, lambda: call("unlock"), lambda result: call(f"lock {result}"))
    except RuntimeError:
        print("error")

def call(what):
    print(what)
    does = last.pop("callback", "")
    if does == "throws":
        raise RuntimeError
    if does:
        ask(does[len("asks "):])

def handle_event():
    print(".", flush=True)
    _, wall_s, event, about = (sys.stdin.readline().rstrip("\n") or sys.exit()).split(" ", 3)
    code.time = SimpleNamespace(time=lambda: float(wall_s))
    last[event] = about
    if event == "ask":
        ask(about or None)
    if event == "check":
        print(check_active(about))
    if event == "name":
        print("name:", code.stored_name() or "")
    if event == "reply":
        number, _, result = about.split(" ", 2)
        replies[number] = result
    if event == "stop":
        code.stop_asking()

code.check_active = lambda name: wait("asks", name or "")
code.random = SimpleNamespace(uniform=lambda *_: 1)
code.threading = SimpleNamespace(Event=SimulatedEvent, Thread=Thread)
while True:
    handle_event()
