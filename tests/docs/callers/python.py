"""Runs the Python code.

python3 python.py ask <times> <user>
python3 python.py keep <pauses>      runs the file `call`; the stored time is in `active-at.txt`
"""

import os
import pathlib
import sys

sys.path.insert(0, os.getcwd())
import check

mode, count = sys.argv[1:3]
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
        print(check.check_active(sys.argv[3]))
else:
    names = {
        "keep_asking": check.keep_asking,
        "show_window": lambda: print("unlock"),
        "show_activation": lambda result: print("lock", result),
    }
    exec(pathlib.Path("call").read_text(), names)
