// Runs the panel's code in an engine that has what Coherent GT has, and no more.
//
//     node panel.mjs ask <times> <user>
//     node panel.mjs keep <pauses>      runs the file `call`; the stored time is in `active-at.txt`
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import vm from "node:vm";

const [mode, count, user] = process.argv.slice(2);
const TIMEOUT_MS = 10_000;
const code = readFileSync("panel.js", "utf8")
  .replace(/(?<=const SERVICE = )".*"/, JSON.stringify(process.env.SERVICE));

let pauses = 0;
const panel = vm.createContext({
  console,
  fetch,
  clearTimeout,
  setTimeout(next, ms) {
    // A fifth of the time is enough for a loopback address.
    if (ms === TIMEOUT_MS) return setTimeout(next, ms / 5);
    console.log("pause", ms / 1000);
    if (++pauses < Number(count)) setTimeout(next);
  },
  GetStoredData: () =>
    existsSync("active-at.txt") ? readFileSync("active-at.txt", "utf8") : null,
  SetStoredData: (_key, text) => writeFileSync("active-at.txt", text),
  // What the call on the page names.
  showPanel: () => console.log("unlock"),
  showActivation: (result) => console.log("lock", result),
});
for (const name of ["AbortController", "AbortSignal"]) {
  if (vm.runInContext(`typeof ${name}`, panel) !== "undefined") {
    throw new Error(`The engine has ${name}`);
  }
}

vm.runInContext(code, panel);
if (mode === "ask") {
  const { checkActive } = vm.runInContext("({ checkActive })", panel);
  for (let i = 0; i < Number(count); i++) console.log(await checkActive(user));
  // A question that got no response in time is still under way.
  process.exit();
}
vm.runInContext(readFileSync("call", "utf8"), panel);
