"""A tool with check_active.py, in tkinter."""

import threading
import tkinter
import urllib.parse
import urllib.request

from check_active import keep_asking, stop_asking, stored_name

MESSAGES = {
    "checking": "Checking the key …",
    "new": "Type your name and your key.",
    "active": "Active",
    "inactive": "There is no active key for this name. Is it right?",
    "mistake": "The key cannot be checked. If that stays so, please update this tool.",
    "no answer": "The key could not be checked yet. Are you online?",
}
state = "new"  # What any thread sets. Only draw() touches the window.


def show(new_state):
    global state
    state = new_state


def start(username, code=""):
    """Activates the key, if there is one, and asks."""
    stop_asking()  # Its result would replace the one of the activation.
    show("checking")  # Hides the form, so that nobody activates twice.
    threading.Thread(target=activate_and_ask, args=(username, code), daemon=True).start()


def activate_and_ask(username, code):
    try:
        if code:
            body = urllib.parse.urlencode({"name": username, "key": code}).encode()
            urllib.request.urlopen("https://shop.example/activate", body, timeout=10).close()
    except Exception as error:
        return show(f"The key could not be activated: {error}")
    keep_asking(username, lambda: show("active"), show)


def submit():
    if name.get().strip():
        start(name.get().strip(), key.get().strip())


def draw():
    message["text"] = MESSAGES.get(state, state)
    if state in ("checking", "active"):
        form.pack_forget()
    else:
        form.pack()
    window.after(200, draw)


window = tkinter.Tk()
message = tkinter.Label(window)
message.pack()
form = tkinter.Frame(window)
name, key = tkinter.Entry(form), tkinter.Entry(form)
for part in (
    tkinter.Label(form, text="Name"),
    name,
    tkinter.Label(form, text="Key, if it is not activated yet"),
    key,
    tkinter.Button(form, text="Activate", command=submit),
):
    part.pack()

stored = stored_name()
if stored:
    name.insert(0, stored)
    start(stored)
draw()
window.mainloop()
stop_asking()  # The window has closed.
