/** Which secret keys the function takes from its environment, and when it does not start. */
import { assertEquals } from "@std/assert";
import { readEnvironment } from "../../supabase/functions/check-username-active/environment.ts";

const NO_URL = "SUPABASE_URL is missing.";
const NO_KEY = "neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY has a secret key.";
const MALFORMED = "SUPABASE_SECRET_KEYS is not a JSON object whose values are texts or null.";
const UNUSABLE = "SUPABASE_SECRET_KEYS has a secret key that no HTTP header can carry.";
const LEGACY_UNUSABLE = "SUPABASE_SERVICE_ROLE_KEY has a secret key that no HTTP header can carry.";

type Environment = { list?: string; legacy?: string; url?: "" | null; gives: string[] | string };
/**
 * SUPABASE_SECRET_KEYS, SUPABASE_SERVICE_ROLE_KEY and SUPABASE_URL (null is not set). Then the
 * secret keys that result, in the order of their use, or the error. No error quotes a value.
 */
const ENVIRONMENTS: Environment[] = [
  { list: '{"b":"B","default":"A","c":"C"}', legacy: "L", gives: ["A", "B", "C"] },
  { list: '{"b":"B"}', legacy: "L", gives: ["B"] },
  { list: '{"default":null,"b":"","c":"C"}', legacy: "L", gives: ["C"] },
  { list: '{"default":""}', legacy: "L", gives: ["L"] }, // As self-hosted Supabase sets it.
  { list: "", legacy: "L", gives: ["L"] },
  { legacy: "L", gives: ["L"] },
  // White space at the ends of a key is cut off, and then empty keys are left out.
  { list: '{"default":" ","b":"\\tB\\r\\n"}', legacy: "L", gives: ["B"] },
  { gives: NO_KEY },
  { list: '{"default":""}', gives: NO_KEY },
  { list: "sb_secret_1", legacy: "L", gives: MALFORMED },
  { list: '"sb_secret_1"', legacy: "L", gives: MALFORMED },
  { list: '["sb_secret_1"]', legacy: "L", gives: MALFORMED },
  { list: '{"sb_secret_1":2}', legacy: "L", gives: MALFORMED },
  { list: "null", legacy: "L", gives: MALFORMED },
  { list: '{"default":"A","b":"sb secret"}', legacy: "L", gives: UNUSABLE },
  { list: '{"b":"sb_\\nsecret"}', legacy: "L", gives: UNUSABLE },
  { list: '{"b":"sb_é"}', legacy: "L", gives: UNUSABLE },
  { legacy: "a b", gives: LEGACY_UNUSABLE },
  { list: '{"default":"A"}', url: "", gives: NO_URL },
  { list: '{"default":"A"}', url: null, gives: NO_URL },
];

for (const { gives, ...given } of ENVIRONMENTS) {
  Deno.test(`environment: ${Deno.inspect(given, { breakLength: Infinity })} → ${Array.isArray(gives) ? gives : "no start"}`, () => {
    const { list, legacy, url = "https://x.supabase.co" } = given;
    const variables = {
      SUPABASE_URL: url,
      SUPABASE_SECRET_KEYS: list,
      SUPABASE_SERVICE_ROLE_KEY: legacy,
    };
    for (const [name, value] of Object.entries(variables)) {
      if (typeof value === "string") Deno.env.set(name, value);
      else Deno.env.delete(name);
    }
    const error = `check-username-active cannot start: ${gives}`;
    assertEquals(readOrMessage(), Array.isArray(gives) ? { url, secretKeys: gives } : error);
  });
}

/** Returns what is read, or the message of the error that is thrown. */
function readOrMessage() {
  try {
    return readEnvironment();
  } catch (error) {
    return (error as Error).message;
  }
}
