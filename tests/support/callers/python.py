"""Runs the Python code.

python3 python.py ask <times> <user>
python3 python.py keep <pauses> <user>      the stored time is in the file `stored`
"""

import os
import pathlib
import sys

sys.path.insert(0, os.getcwd())
import check

mode, count, user = sys.argv[1:]
check.SERVICE = os.environ["SERVICE"]

# A fifth of the time is enough for a loopback address.
open_in_time = check.OPENER.open
check.OPENER.open = lambda request, timeout: open_in_time(request, timeout=timeout / 5)

pauses = 0


def sleep(seconds):
    global pauses
    pauses += 1
    print("pause", seconds)
    if pauses == int(count):
        sys.exit()


check.time.sleep = sleep

if mode == "ask":
    for _ in range(int(count)):
        print(check.check_active(user))
else:
    check.keep_asking(
        user,
        pathlib.Path("stored"),
        lambda: print("unlock"),
        lambda result: print("lock", result),
    )
