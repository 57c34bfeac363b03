"""Fails unless stop_asking() of check_active.py waits for the callback that another thread runs."""
import threading
import time
import check_active as code

code.SERVICE += "?200&A"
begun = threading.Event()
ended = threading.Event()

def unlock():
    begun.set()
    time.sleep(0.3)
    ended.set()

for asking in 1, 2:  # The second has a recent 200.
    begun.clear()
    ended.clear()
    code.start_asking("A", unlock, None)
    begun.wait(10)
    code.stop_asking()
    assert ended.is_set()
