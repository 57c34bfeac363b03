import { type Browser, chromium, type Page } from "playwright-core";

/** Registers a test in a real browser. It gets a tab, and a way to run steps. */
export function browserTest(
  name: string,
  fn: (given: { tab: Page; step: Step }) => Promise<void>,
): void {
  Deno.test({
    name,
    // The browser's pipes are Playwright's, which closes them a little later than it says.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn(context) {
      const browser = await launchBrowser();
      try {
        const tab = await browser.newPage();
        await fn({ tab, step: (name, fn) => context.step(name, fn) });
      } finally {
        await browser.close();
      }
    },
  });
}

type Step = (name: string, fn: () => void | Promise<void>) => Promise<boolean>;

/**
 * Starts the browser that `CHROMIUM` names, or Debian's Chromium, or else this machine's Edge or
 * Chrome: without a window, and without requests of its own.
 *
 * @throws {Error} With what Playwright says, when there is none.
 */
function launchBrowser(): Promise<Browser> {
  const { os } = Deno.build;
  const executablePath = Deno.env.get("CHROMIUM") ??
    (os === "linux" ? "/usr/bin/chromium" : undefined);
  return chromium.launch({
    ...executablePath
      ? { executablePath }
      : { channel: os === "windows" ? "msedge" : "chrome" },
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
