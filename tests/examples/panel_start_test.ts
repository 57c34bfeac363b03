/** The code on `examples/add-on/panel.md`, which starts a panel, and calls `panel.js`. */
import { assertEquals } from "@std/assert";
import { type Listener, load } from "../support/simulator.ts";

const CHECKING = "shows: Checking the key …";
const NO_KEY = "shows: There is no active key for this name.";

/** When the code on the page asks, in seconds after its start. It asks once. */
const STARTS: { listener: Listener; asksAfterS: number }[] = [
  { listener: "calls", asksAfterS: 0 },
  { listener: "never calls", asksAfterS: 5 },
  { listener: "throws", asksAfterS: 5 },
];

for (const { listener, asksAfterS } of STARTS) {
  Deno.test(`panel page: RegisterViewListener ${listener} → the panel asks after ${asksAfterS} s`, async () => {
    const panel = load({ listener });
    panel.startPage();
    const asks = [CHECKING, "asks about Amelia"];
    await panel.pass(4.9);
    assertEquals(panel.happened(), asksAfterS === 0 ? asks : [], "at first");
    await panel.pass(0.1);
    assertEquals(panel.happened(), asksAfterS === 5 ? asks : [], "after 5 s");
    await panel.respond(499);
    assertEquals(panel.happened(), [NO_KEY]);
  });
}

// Before the simulator calls the listener, the storage keeps nothing.
Deno.test("panel page: when the storage is ready after 8 s, the panel asks again, and stores the 200", async () => {
  const panel = load({ listener: "calls late" });
  panel.startPage();
  await panel.pass(5);
  await panel.respond(200);
  const asks = [CHECKING, "asks about Amelia"];
  assertEquals(panel.happened(), [...asks, "shows the add-on"]);
  await panel.pass(3);
  await panel.respond(200);
  assertEquals(panel.happened(), [...asks, "stores 2000008 Amelia", "shows the add-on"]);
});

Deno.test("panel page: without a name at first, the panel asks after 5 s about the one that is there", async () => {
  const panel = load({ name: "" });
  panel.startPage();
  await panel.pass(4);
  panel.setName("Amelia");
  assertEquals(panel.happened(), []);
  await panel.pass(1);
  assertEquals(panel.happened(), [CHECKING, "asks about Amelia"]);
});

Deno.test("panel page: the panel asks once about a typed name, and locks when the name is emptied", async () => {
  const panel = load({ name: "", listener: "never calls" });
  panel.startPage();
  panel.setName("Amelia");
  panel.askAgain();
  await panel.pass(5);
  assertEquals(panel.happened(), [CHECKING, "asks about Amelia"]);
  panel.setName("");
  panel.askAgain();
  await panel.respond(200); // Of the asking that was ended.
  assertEquals(panel.happened(), ["shows: Enter your name."]);
});
