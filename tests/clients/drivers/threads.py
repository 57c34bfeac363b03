"""Fails unless stop_asking() of check_active.py waits for the callback that another thread runs."""
import time
import check_active as code

code.SERVICE += "?200&A"
did = []

def unlock():
    did.append("begins")
    time.sleep(0.3)
    did.append("ends")

for asking in 1, 2:  # The second has a recent 200.
    code.start_asking("A", unlock, None)
    while len(did) < 2 * asking - 1:
        time.sleep(0.01)
    code.stop_asking()
    assert did[-1] == "ends"
