"""Asks whether a user has an active key, from a tool or an installer. Python 3.8 or later.

Copy it whole and change SERVICE and PROJECT_ID. README.md, beside this file, shows how to call it.
"""

import json
import logging
import os
import pathlib
import queue
import random
import re
import threading
import time
import urllib.request

SERVICE = "https://<ref>.supabase.co/functions/v1/check-username-active"
PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4"

# The product's file has the second of the last 200, a space, and the name.
FOLDER = pathlib.Path(
    os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "check-username-active"
)
FILE = FOLDER / (PROJECT_ID + ".txt")
DAY_S = 24 * 60 * 60
TIMEOUT_S = 10

_lock = threading.RLock()  # Held while a callback runs, so that stop_asking() waits for its end.
_ended = threading.Event()  # Of the last call of start_asking().
_log = logging.getLogger(__name__)


class _EveryStatus(urllib.request.HTTPErrorProcessor):
    """Raises no error for a status, and follows no redirect."""

    def http_response(self, request, response):
        return response

    https_response = http_response


def check_active(username):
    """Asks once, and stores nothing. Returns "active", "inactive", "mistake" or "no answer"."""
    body = json.dumps({"username": username, "project_id": PROJECT_ID}).encode()
    results = queue.Queue()
    # In a thread, because urllib has a timeout for each read only, and none for DNS.
    threading.Thread(target=_ask, args=(body, results), daemon=True).start()
    try:
        return results.get(timeout=TIMEOUT_S)
    except queue.Empty:
        return "no answer"


def _ask(body, results):
    """Puts the result first. Nobody reads what comes after it, or after the timeout."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "check-username-active",
    }
    try:
        opener = urllib.request.build_opener(_EveryStatus)
        request = urllib.request.Request(SERVICE, body, headers)
        with opener.open(request, timeout=TIMEOUT_S) as response:
            if response.status == 200:
                results.put("active")
            elif response.status == 499:
                results.put("inactive")
            elif response.status in (400, 405, 413):
                _log.error("check-username-active: status %d", response.status)
                results.put("mistake")
    except Exception as error:
        _log.info("check-username-active: %s", error)  # No network, or a bad response.
    finally:
        results.put("no answer")


def start_asking(username, unlock, lock):
    """In a thread of its own, calls unlock() at once if this name's last 200 is recent. Asks, and
    calls unlock() or lock(result). While there is no answer, it asks again after a pause, and calls
    one of them again. Calling it anew replaces the earlier call. What unlock or lock raises ends it,
    too, and gets to threading.excepthook. They must not wait for another thread.
    """
    args = (stop_asking(), username, unlock, lock)
    threading.Thread(target=_keep_asking, args=args, daemon=True).start()


def _keep_asking(ended, username, unlock, lock):
    with _lock:
        if not ended.is_set() and _has_recent_200(username):
            unlock()
    pause_s = 5
    while not ended.is_set():
        result = check_active(username)
        with _lock:
            if ended.is_set():
                return
            is_active = result == "active" or (
                result != "inactive" and _has_recent_200(username)
            )
            if result == "active":
                _store(f"{int(time.time())} {username}")
            elif result == "inactive" and stored_name() == username:
                _store("")
            if is_active:
                unlock()
            else:
                lock(result)
        if result != "no answer":
            return
        ended.wait(pause_s * random.uniform(0.5, 1.5))
        pause_s = min(2 * pause_s, 600)


def stop_asking():
    """Ends the asking. From its return on, no callback runs, and nothing is stored."""
    global _ended
    with _lock:
        _ended.set()
        _ended = threading.Event()
        return _ended


def stored_name():
    """The name of the last 200. None if there is none, or it cannot be read."""
    return _stored()[1]


def _has_recent_200(username):
    """Whether this name's last 200 is less than 14 days old. Clocks differ by up to a day."""
    second, name = _stored()
    is_recent = -DAY_S <= int(time.time()) - second < 14 * DAY_S
    return name == username and is_recent


def _stored():
    try:
        text = FILE.read_bytes().decode()
    except (OSError, ValueError):
        text = ""
    entry = re.fullmatch("([1-9][0-9]{0,11}) (.+)", text, re.DOTALL)
    return (int(entry[1]), entry[2]) if entry else (0, None)


def _store(text):
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        written = FILE.with_suffix(".new")
        with written.open("wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())  # To the disk, before it replaces the old entry.
        os.replace(written, FILE)
    except (OSError, ValueError):
        pass  # What was there stays. The next 200 tries again.
