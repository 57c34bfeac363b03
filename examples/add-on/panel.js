// Asks whether a user has an active key, from an in-game panel of Microsoft Flight Simulator, and
// keeps a user unlocked who is offline. This is a classic script, in the ES2017 of the simulator's
// engine. Copy it without a change, and load it after /JS/common.js and /JS/dataStorage.js, which
// has GetStoredData and SetStoredData. panel.md, beside this file, shows how to call it, and
// README.md has the rules that the comments name.

// Makes the asking of one add-on. `service` is the address of the function, and `projectId` is the
// UUID of the product. (A function, because several add-ons on a page may load this file.)
function createActivation(service, projectId) {
  // Rule 2: one entry for the product. It has the time of the last 200, in seconds since 1970, a
  // space, and the name, URL-encoded: nobody knows whether the storage keeps more than ASCII.
  const ENTRY = "check-username-active." + projectId;
  const DAY_S = 24 * 60 * 60;
  let latest = {}; // The latest asking.

  // Asks until it gets 200 or 499. Calls unlock(), lock("inactive") or lock("no answer") at the
  // first result and whenever it changes. What they throw ends the asking, and rejects the promise.
  async function keepAsking(username, unlock, lock) {
    // Rule 1: this asking replaces the one before, which ends when it sees another `latest`.
    const asking = latest = {};
    const logged = [];
    let shown;
    const show = (result) => {
      if (result === shown) return;
      shown = result;
      if (result === "active") unlock();
      else lock(result);
    };
    // Rule 3: a valid 200 unlocks before the question is sent.
    if (hasValid200(username)) show("active");
    let pauseS = 5;
    while (asking === latest) {
      const result = await askOnce(username, logged);
      if (asking !== latest) return;
      // Rule 3: first store or clear, then unlock or lock.
      if (result === "active") store(nowS() + " " + encodeURIComponent(username));
      if (result === "inactive" && storedName() === username) store("");
      show(result === "no answer" && hasValid200(username) ? "active" : result);
      if (result !== "no answer") return;
      // Rule 3: pauses grow from 5 s to 10 min. Each is multiplied by a random number, 0.5 to 1.5.
      const pauseMs = 1000 * pauseS * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseS = Math.min(2 * pauseS, 600);
    }
  }

  // Ends the asking: nothing is called back any more.
  function stopAsking() {
    latest = {};
  }

  // Asks once, and stores nothing. Resolves to "active", "inactive" or "no answer". A status that
  // is in `logged` is not logged again.
  async function askOnce(username, logged) {
    const status = await post(username);
    if (status === 200) return "active";
    if (status === 499) return "inactive";
    // Rule 6: a mistake of the add-on shows here. Each status is logged once an asking.
    if (!logged.includes(status)) console.error("check-username-active: " + status);
    logged.push(status);
    return "no answer";
  }

  // Sends the question. Resolves to the status of the response, or to a text that says why there is
  // none.
  function post(username) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest(); // Not fetch, which cannot be ended in this engine.
      const end = (status, why = "no response") => {
        request.onreadystatechange = null;
        clearTimeout(timer);
        resolve(status || why);
        request.abort();
      };
      // Rule 4: wait 10 s at most, and not for the body's end. The status is 0 until it is there.
      const timer = setTimeout(() => end(request.status), 10000);
      request.onreadystatechange = () => request.readyState >= 2 && end(request.status);
      try {
        // Throws for a lone surrogate, which an old engine would send as another character.
        encodeURIComponent(username);
        // No header is set, because with one the engine would send a preflight first.
        request.open("POST", service);
        request.send(JSON.stringify({ username, project_id: projectId }));
      } catch (error) {
        end(0, error.message); // For instance because `service` is not an address.
      }
    });
  }

  // Rules 2 and 3: this name's last 200 is under 14 days old, and at most a day in the future.
  function hasValid200(username) {
    const { name, second } = stored();
    const ageS = nowS() - second;
    return name === username && -DAY_S <= ageS && ageS < 14 * DAY_S;
  }

  // The name of the last 200. Undefined if there is none.
  const storedName = () => stored().name;
  const nowS = () => Math.floor(Date.now() / 1000);

  function stored() {
    try {
      const entry = /^(\d+) (.+)$/.exec(GetStoredData(ENTRY));
      return { second: Number(entry[1]), name: decodeURIComponent(entry[2]) };
    } catch (error) {
      return {}; // Rule 5: what cannot be read counts as empty.
    }
  }

  function store(text) {
    try {
      SetStoredData(ENTRY, text);
    } catch (error) {
      // Rule 5: the next 200 or 499 tries again.
    }
  }

  return { keepAsking, stopAsking, storedName };
}
