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
 * Starts the browser that `CHROMIUM` names. If it names none: Edge on Windows, Chrome on macOS,
 * Debian's Chromium on Linux. It has no window, and sends no requests of its own.
 *
 * @throws {Error} When there is none.
 */
async function launchBrowser(): Promise<Browser> {
  const { os } = Deno.build;
  const executablePath = Deno.env.get("CHROMIUM") ??
    (os === "linux" ? "/usr/bin/chromium" : undefined);
  if (executablePath) {
    await Deno.stat(executablePath).catch(() => {
      const hint = "apt-get install chromium, or name another in CHROMIUM";
      throw new Error(`There is no ${executablePath}: ${hint}`);
    });
  }
  return await chromium.launch({
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
