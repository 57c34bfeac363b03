// Asks whether a user has an active key, from an in-game panel. A classic script, in the ES2017 of
// the simulator's engine. Copy it whole, change the first three lines (other add-ons may share the
// page, so give `activation` a name of your own), and load it after /JS/dataStorage.js, which has
// GetStoredData and SetStoredData. Then, at each start, once the storage is ready:
//
//   RegisterViewListener("JS_LISTENER_DATASTORAGE", () => {
//     activation.keepAsking("CaptainKirin#0417", showPanel, showActivation).catch(console.error);
//   });
//
// For a second product, copy it again.
const activation = (() => {
  const SERVICE =
    "https://<ref>.supabase.co/functions/v1/check-username-active";
  const PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

  // The storage has one entry for the product: the second of the last 200, a space, and the name.
  const ENTRY = "check-username-active." + PROJECT_ID;
  const GRACE_S = 14 * 24 * 60 * 60;
  let latest;

  /** Asks once, and stores nothing. Resolves to "active", "inactive", "mistake" or "no answer". */
  function checkActive(username) {
    return new Promise((resolve) => {
      // fetch cannot be ended in this engine, and would keep a silent connection.
      const request = new XMLHttpRequest();
      const address = new URL(SERVICE).href;
      const end = (result) => {
        request.onreadystatechange = null;
        clearTimeout(timer);
        resolve(result);
        request.abort();
      };
      const timer = setTimeout(() => end("no answer"), 10000);
      request.onreadystatechange = () => {
        // From 2 on, the status is there. It is 0 without a response.
        if (request.readyState < 2) return;
        const status = request.status;
        const url = request.responseURL || address;
        if (url !== address) end("no answer"); // Redirected.
        else if (status === 200) end("active");
        else if (status === 499) end("inactive");
        else if (![400, 405, 413].includes(status)) end("no answer");
        else {
          console.error("check-username-active: status " + status);
          end("mistake");
        }
      };
      request.open("POST", SERVICE);
      request.send(
        JSON.stringify({ username: username, project_id: PROJECT_ID }),
      );
    });
  }

  /**
   * Asks, and calls unlock() or lock(result). While there is no answer, it asks again after a pause,
   * and calls one of them again. Calling it anew replaces the earlier call. What unlock or lock
   * throws rejects the promise.
   */
  async function keepAsking(username, unlock, lock) {
    const own = {};
    latest = own;
    for (let pauseS = 5; latest === own; pauseS = Math.min(2 * pauseS, 600)) {
      const result = await checkActive(username);
      if (latest !== own) return;
      const nowS = Math.floor(Date.now() / 1000);
      const ageS = nowS - storedS(username);
      if (result === "active") store(nowS + " " + username);
      if (result === "inactive" && !isNaN(ageS)) store("");
      const isRecent = 0 <= ageS && ageS < GRACE_S;
      if (result === "active" || (result !== "inactive" && isRecent)) {
        await unlock();
      } else await lock(result);
      if (result !== "no answer") return;
      const pauseMs = pauseS * (500 + 1000 * Math.random());
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** The second of this name's last 200. NaN if there is none, or it cannot be read. */
  function storedS(username) {
    try {
      const text = GetStoredData(ENTRY);
      const second = parseInt(text, 10);
      return text === second + " " + username ? second : NaN;
    } catch (error) {
      return NaN;
    }
  }

  function store(text) {
    try {
      SetStoredData(ENTRY, text);
    } catch (error) {
      // The next 200 tries again.
    }
  }

  return { checkActive, keepAsking };
})();
