"""Reads events, a line each, and prints what check_active.py does, as `Client.run` describes."""
import os
import sys
import threading
from types import SimpleNamespace
from urllib.parse import quote

sys.path.insert(0, "..")
import check_active as code

check_active, keep_asking, address = code.check_active, code._keep_asking, code.SERVICE
world = SimpleNamespace(service="200", now_s=0, clock_s=2_000_000)
answers = []  # What a silent service sent in the end, in this order.

# One thread runs at a time: the main one, which lets time pass, or one that asks.
waiting = []  # Of each thread that waits: when its wait is over, and what resumes it.
has_paused = threading.Semaphore(0)  # Released by a thread that begins to wait, or ends.

def wait_until(is_over):
    resumed = threading.Semaphore(0)
    waiting.append((is_over, resumed))
    has_paused.release()
    resumed.acquire()

def resume_threads():
    for is_over, resumed in list(waiting):
        if is_over():
            waiting.remove((is_over, resumed))
            resumed.release()
            has_paused.acquire()

def pass_time(until_s):
    while world.now_s < float(until_s):
        world.now_s = round(world.now_s + 0.1, 1)
        resume_threads()

def simulated_keep_asking(*args):
    try:
        keep_asking(*args)
    except RuntimeError:
        print("error")
    finally:
        has_paused.release()

def simulated_check(name):
    """Waits while the service is silent. Then gets the status from the service of the test."""
    print("asks", name)
    status, next_answer, end_s = world.service, len(answers), world.now_s + 10
    if status == "silent":
        wait_until(lambda: world.now_s >= end_s or len(answers) > next_answer)
    if len(answers) > next_answer:
        status = answers[next_answer]
    code.SERVICE = f"{address}?{status}&{quote(name)}"
    return check_active(name)

class SimulatedEvent(threading.Event):
    def wait(self, seconds):
        end_s = world.now_s + seconds
        wait_until(lambda: self.is_set() or world.now_s >= end_s)

def ask(name):
    def call(what):
        print(f"{what}:", code.FILE.read_text() if code.FILE.is_file() else "")
        if name.endswith("!"):
            raise RuntimeError

    code.start_asking(name, lambda: call("unlock"), lambda result: call(f"lock {result}"))
    has_paused.acquire()

def check_threads(_):
    """Fails unless stop_asking() waits for the callback that another thread runs."""
    begun, ended = threading.Event(), threading.Event()
    code.start_asking("A", lambda: (begun.set(), threading.Event().wait(0.3), ended.set()), None)
    begun.wait(10)
    code.stop_asking()
    assert ended.is_set()
    has_paused.acquire()  # The thread has ended, too.

code.check_active = simulated_check
code._keep_asking = simulated_keep_asking
code.time = SimpleNamespace(time=lambda: world.clock_s + world.now_s)
code.random = SimpleNamespace(uniform=lambda *bounds: {(0.5, 1.5): 1}[bounds])  # Others fail.
code.threading = SimpleNamespace(Event=SimulatedEvent, Thread=threading.Thread)

happens = {
    "until": pass_time,
    "print": print,
    "sh": os.system,
    "ask": ask,
    "stop": lambda _: code.stop_asking(),
    "service": lambda status: setattr(world, "service", status),
    "answer": answers.append,
    "clock": lambda seconds: setattr(world, "clock_s", world.clock_s + int(seconds)),
    "threads": check_threads,
}
for line in sys.stdin:
    event, _, about = line.rstrip("\n").partition(" ")
    happens[event](about)
    resume_threads()
