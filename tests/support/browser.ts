import { type Browser, chromium } from "playwright-core";

/**
 * Finds the Chromium, Chrome or Edge of this machine, or the one that `CHROMIUM` names.
 *
 * @returns Path of its executable.
 * @throws {Error} When there is none.
 */
export function findBrowser(): string {
  const candidates = [
    Deno.env.get("CHROMIUM"),
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
  ];
  for (const path of candidates) {
    try {
      if (path && Deno.statSync(path).isFile) return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  throw new Error(
    `There is no Chromium here: looked for ${
      candidates.join(", ")
    }. On Debian: ` +
      "apt-get install chromium. Elsewhere, name its executable in the variable CHROMIUM.",
  );
}

/** Starts that browser, without a window and without requests of its own. Close it after use. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findBrowser(),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
}
