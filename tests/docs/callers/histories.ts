/** The histories of histories.txt, and how a panel and a model go through one. */

/** The second at which a history begins. */
export const START_S = 2_000_000;

/** The lines of each history of the file. */
export const HISTORIES = (await Deno.readTextFile(
  new URL("histories.txt", import.meta.url),
)).split(/^## .*\n/m).slice(1).map((text) => text.trim().split("\n"));

/** Where a history happens. A word of it that names a state sets that here. */
export class World {
  service = "200";
  storage = "fine";
  stored = "";
  anew?: string;
  throw?: string;
  readonly #said: string[][] = [];

  say(what: string) {
    this.#said.at(-1)?.push(what);
  }

  /** What each callback of the add-on does. */
  callBack(what: string, ask: (name: string) => void) {
    this.say(`${what}: ${this.stored || "nothing"}`);
    if (this.throw !== undefined) {
      delete this.throw;
      throw new Error("Of the add-on");
    }
    const { anew } = this;
    delete this.anew;
    if (anew !== undefined) ask(anew);
  }

  /** Goes through the lines of a history. Gives them with what was said after each. */
  async play(
    lines: string[],
    passTo: (second: number) => void | Promise<void>,
    events: Record<string, (what: string) => unknown>,
  ): Promise<string[]> {
    let second = 0;
    for (const line of lines) {
      const [time, ...inputs] = line.split(/(?<=^[\d.]+) |; /);
      await passTo(second = Number(time));
      this.#said.push([]);
      for (const input of inputs) {
        const [word = "", ...rest] = input.split(" ");
        const event = events[word] ??
          ((what) => Object.assign(this, { [word]: what }));
        if (word === "look") this.say(`stored: ${this.stored || "nothing"}`);
        else await event(rest.join(" "));
      }
    }
    await passTo(second);
    return lines.map((line, index) =>
      [line, this.#said[index]?.join("; ")].filter(Boolean).join(" -> ")
    );
  }
}
