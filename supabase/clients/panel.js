// Asks whether a user has an active key, from an in-game panel. A classic script, in the ES2017 of
// the simulator's engine. Copy it whole, change SERVICE and PROJECT_ID, give `activation` a name of
// your own (other add-ons may share the page), and load it after /JS/dataStorage.js, which has
// GetStoredData and SetStoredData. README.md, beside this file, shows how to call it.
const activation = (() => {
  const SERVICE =
    "https://<ref>.supabase.co/functions/v1/check-username-active";
  const PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

  // The storage has one entry for the product: the second of the last 200, a space, and the name.
  const ENTRY = "check-username-active." + PROJECT_ID;
  const DAY_S = 24 * 60 * 60;
  let endLatest = () => {}; // Ends the last call of keepAsking.

  /** Asks once, and stores nothing. Resolves to "active", "inactive", "mistake" or "no answer". */
  function checkActive(username) {
    return new Promise((resolve) => {
      // Not fetch, which cannot be ended in this engine.
      const request = new XMLHttpRequest();
      const end = (result) => {
        request.onreadystatechange = null;
        clearTimeout(timer);
        resolve(result);
        request.abort();
      };
      const timer = setTimeout(() => end("no answer"), 10000);
      try {
        const address = new URL(SERVICE).href;
        request.onreadystatechange = () => {
          // From 2 on, the status is there. It is 0 without a response.
          if (request.readyState < 2) return;
          const isOwn = (request.responseURL || address) === address;
          end(isOwn ? resultOf(request.status) : "no answer"); // Not if redirected.
        };
        request.open("POST", address);
        request.send(JSON.stringify({ username, project_id: PROJECT_ID }));
      } catch (error) {
        console.error("check-username-active: " + error);
        end("no answer");
      }
    });
  }

  function resultOf(status) {
    if (status === 200) return "active";
    if (status === 499) return "inactive";
    if (![400, 405, 413].includes(status)) return "no answer";
    console.error("check-username-active: status " + status);
    return "mistake";
  }

  /**
   * Calls unlock() at once if this name's last 200 is recent. Asks, and calls unlock() or
   * lock(result). While there is no answer, it asks again after a pause, and calls one of them
   * again. Calling it anew replaces the earlier call. What unlock or lock throws ends the asking,
   * and rejects the promise. A promise that they return is not waited for.
   */
  async function keepAsking(username, unlock, lock) {
    stopAsking();
    let isOver = false;
    const end = new Promise((resolve) => {
      endLatest = () => {
        isOver = true;
        resolve();
      };
    });
    if (hasRecent200(username)) unlock();
    for (let pauseS = 5; !isOver; pauseS = Math.min(2 * pauseS, 600)) {
      const result = await Promise.race([end, checkActive(username)]);
      if (isOver) return;
      const isActive = result === "active" ||
        (result !== "inactive" && hasRecent200(username));
      if (result === "active") store(nowS() + " " + username);
      if (result === "inactive" && storedName() === username) store("");
      if (isActive) unlock();
      else lock(result);
      if (result !== "no answer") return;
      const pauseMs = pauseS * (500 + 1000 * Math.random());
      const pause = new Promise((resolve) => setTimeout(resolve, pauseMs));
      await Promise.race([end, pause]);
    }
  }

  /** Ends keepAsking, whose promise then resolves. No callback begins any more. */
  function stopAsking() {
    endLatest();
  }

  /** The name of the last 200. Undefined if there is none, or it cannot be read. */
  function storedName() {
    return stored().name;
  }

  /** Whether this name's last 200 is less than 14 days old. Clocks differ by up to a day. */
  function hasRecent200(username) {
    const { name, second } = stored();
    const ageS = nowS() - second;
    return name === username && -DAY_S <= ageS && ageS < 14 * DAY_S;
  }

  function nowS() {
    return Math.floor(Date.now() / 1000);
  }

  function stored() {
    try {
      const entry = /^([1-9][0-9]{0,11}) ([^]+)$/.exec(GetStoredData(ENTRY));
      return { second: Number(entry[1]), name: entry[2] };
    } catch (error) {
      return {};
    }
  }

  function store(text) {
    try {
      SetStoredData(ENTRY, text);
    } catch (error) {
      // The next 200 tries again.
    }
  }

  return { checkActive, keepAsking, stopAsking, storedName };
})();
