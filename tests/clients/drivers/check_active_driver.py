"""Reads events, a line each, and prints what check_active.py does, as `play` describes."""
import os
import sys
from threading import Event, Thread
from types import SimpleNamespace
from urllib.parse import quote

sys.path.insert(0, "..")
import check_active as code

check_active, address = code.check_active, code.SERVICE
service = "200"
answers = []  # What a silent service sent in the end, in this order.
now_s = until_s = 0
clock_s = 2_000_000  # At second 0.

def wait_until(is_over):
    """Lets time pass, and handles events, until is_over(). An ask runs to its end in here."""
    global now_s
    while not is_over():
        if now_s < until_s:
            now_s = round(now_s + 0.1, 1)
        else:
            handle_event()

def simulated_check(name):
    """Waits while the service is silent. Then gets the status from the service of the test."""
    print("asks", name)
    status, answers_before, end_s = service, len(answers), now_s + 10
    if status == "silent":
        wait_until(lambda: now_s >= end_s or len(answers) > answers_before)
        status = answers[answers_before] if len(answers) > answers_before else status
    code.SERVICE = f"{address}?{status}&{quote(name)}"
    return check_active(name)

class SimulatedEvent(Event):
    def wait(self, seconds):
        end_s = now_s + seconds
        wait_until(lambda: now_s >= end_s)

class SimulatedThread(Thread):
    def start(self):  # Only a request has a thread of its own here.
        super().start() if self._target is code._ask else self.run()

def ask(name):
    def call(what):
        print(f"{what}:", code.FILE.read_text() if code.FILE.is_file() else "")
        if name.endswith("!"):
            raise RuntimeError

    try:
        code.start_asking(name, lambda: call("unlock"), lambda result: call(f"lock {result}"))
    except RuntimeError:
        print("error")

def handle_event():
    global service, until_s, clock_s
    event, _, about = (sys.stdin.readline().rstrip("\n") or sys.exit()).partition(" ")
    if event == "until":
        until_s = float(about)
    if event == "print":
        print(about)
    if event == "sh":
        os.system(about)
    if event == "ask":
        ask(about)
    if event == "stop":
        code.stop_asking()
    if event == "service":
        service = about
    if event == "answer":
        answers.append(about)
    if event == "clock":
        clock_s += int(about)

code.check_active = simulated_check
code.time = SimpleNamespace(time=lambda: clock_s + now_s)
code.random = SimpleNamespace(uniform=lambda *bounds: {(0.5, 1.5): 1}[bounds])  # Others fail.
code.threading = SimpleNamespace(Event=SimulatedEvent, Thread=SimulatedThread)
wait_until(lambda: False)
