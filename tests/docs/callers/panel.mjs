// Runs the panel's code in an engine that has what Coherent GT has, and no more.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import vm from "node:vm";

const users = process.argv.slice(2);
const TIMEOUT_MS = 10_000;
let pauses = 0;
const panel = vm.createContext({
  console,
  fetch,
  clearTimeout,
  setTimeout(next, ms) {
    // A fifth of the time is enough for a loopback address.
    if (ms === TIMEOUT_MS) return setTimeout(next, ms / 5);
    console.log("pause", ms / 1000);
    if (++pauses < 9) setTimeout(next);
  },
  GetStoredData: () =>
    existsSync("active-at.txt") ? readFileSync("active-at.txt", "utf8") : null,
  SetStoredData: (_key, text) => writeFileSync("active-at.txt", text),
  // What the call on the page names.
  showPanel: () => console.log("unlock"),
  showActivation: (result) => console.log("lock", result),
});
const code = readFileSync("code", "utf8")
  .replace("http://127.0.0.1:54321", process.env.ORIGIN);
vm.runInContext(code, panel);
if (users.length === 0) vm.runInContext(readFileSync("call", "utf8"), panel);
for (const user of users) console.log(await panel.checkActive(user));
// A question that got no response in time is still under way.
if (users.length > 0) process.exit();
