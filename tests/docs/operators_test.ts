/** The code on the pages for operators does what they say. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FUNCTION_URL_PATH, SEEDED } from "../../tools/project.ts";
import { makeTempFolder } from "../../tools/temp_folder.ts";
import { ACTIVE, type Expected, NOT_FOUND } from "../support/contract.ts";
import { CLI, readSnippet, readSnippets } from "../support/pages.ts";
import { assertResponse, checkAt } from "../support/requests.ts";
import { API_URL, runSnippet, SECRET_KEY } from "./run_snippet.ts";

const PRODUCT = SEEDED.project_id;
const NAME = "O'Brien#1937";
const KEYS = "public.activation_keys";
/** Ids of keys, without the last digit. `<key>` becomes the id that ends with 1. */
const ID = "2b7e4c80-91d5-4f36-a0c8-6e13d9f5274";

/** Values of the pages' placeholders. */
const VALUES: Record<string, string> = {
  "product": PRODUCT,
  "name": NAME,
  "key": `${ID}1`,
  "how many": "2",
  "pid": "0",
};

/** SQL that issues the keys with which each test begins, and the export that follows. */
const ISSUE_KEYS = `
  drop table if exists public.exported_keys;
  truncate ${KEYS};
  insert into ${KEYS} (id, project_id, curr_user) values
    ('${ID}1', '<product>', '<name>'), ('${ID}2', '<product>', 'lost'),
    ('${ID}3', '<product>', null), ('${ID}4', '<product>', null),
    ('${ID}5', gen_random_uuid(), '<name>');`;
const EXPORT = await readSnippet(`${CLI}db query`);

// What may happen to the keys after that export.
const MOVED = `update ${KEYS} set curr_user = 'nobody' where id = '<key>'`;
const UNUSED = `update ${KEYS} set curr_user = null where id = '<key>'`;
/** The key is unused, and of another product. */
const FOREIGN = `${UNUSED};
  update ${KEYS} set project_id = gen_random_uuid() where id = '<key>'`;
const REVOKED = `delete from ${KEYS} where id = '<key>'`;
const DENIED = `revoke all on table ${KEYS} from service_role;
  revoke usage on schema public from public, service_role`;
const SEEDED_HAS_KEY =
  `update ${KEYS} set curr_user = '${SEEDED.username}' where id = '${ID}2'`;
const SIMILAR = `${MOVED};
  update ${KEYS} set curr_user = ' O''BRIEN #8' where id = '${ID}2'`;
/** Key 1 was revoked, 2 is lost, 3 used, 4 used by the page's `<wrong name>`; one is new. */
const DAMAGED = `
  delete from ${KEYS} where id in ('<key>', '${ID}2');
  update ${KEYS} set curr_user = 'used' where id = '${ID}3';
  update ${KEYS} set curr_user = 'wrongname' where id = '${ID}4';
  insert into ${KEYS} (project_id) values ('<product>')`;

/** Beginnings of the lines that are not run here. */
const LEFT_OUT = [
  /^(cd|git (clone|switch|pull|checkout|rev-parse|diff <commit>))/, // Work in a clone.
  /^npx -y deno@\S+ task /,
  RegExp(`^${CLI}(start|functions serve|login|link)`), // Need Docker or an account.
  // tests/deploy runs these two.
  RegExp(`^${CLI}(db push --remote|functions deploy [\\w-]+ --use-api)$`),
];

/** A test: what has happened, the snippets to run, in order, and what the function then says. */
interface Case {
  /** SQL for what has happened since the export. */
  given?: string;
  /** Values of placeholders that override VALUES. */
  values?: Record<string, string>;
  /**
   * A text that finds one snippet: in it, or just before it on the page. The snippet runs once for
   * each result: how many rows it gives, or a text in its output.
   */
  run: [text: string, ...results: (number | string)[]][];
  /** The function's responses about users: by default, that NAME has a key. */
  then?: Record<string, Expected>;
}

const API_KEYS = "/v1/projects/ref/api-keys";
const DELETED = "/functions/check-username-active DELETE";
const UNLOCKED = { [NAME]: ACTIVE };
const LOCKED = { [NAME]: NOT_FOUND };

/** The tests of the snippets under each heading. */
const CASES: Record<string, Case[]> = {
  "Run it": [{ given: SEEDED_HAS_KEY, run: [["In a second", "HTTP/1.1 200"]] }],
  "Deploy": [{ run: [["a name nobody has", "HTTP/1.1 499"]] }],
  "Operate check-username-active": [{ run: [["Ask", "HTTP/1.1 200"]] }],
  "It works": [
    { run: [["Choose", '"product"'], ["Give", 1]], then: { nobody: ACTIVE } },
    { given: MOVED, run: [["Remove it", 1]], then: { nobody: NOT_FOUND } },
  ],
  "Keys": [
    { run: [["List products", '"issued":4,"activated":2']] },
    { run: [["List a product's keys", 4], ["Issue", 2]] },
    { given: UNUSED, run: [["Record the first use", 1, 0]] },
    { given: FOREIGN, run: [["Record the first use", 0]], then: LOCKED },
    { given: MOVED, run: [["Move", 1]] },
    { run: [["Release", 1]], then: LOCKED },
    { run: [["Revoke", 1]], then: LOCKED },
    { given: REVOKED, run: [["Put back", 1]] },
  ],
  "Your back end": [
    { given: UNUSED, run: [["Issue", 1], ["Record its first use", 1, 0]] },
    { given: FOREIGN, run: [["Record its first use", 0]], then: LOCKED },
  ],
  "Watch it": [{ run: [["count a day's calls", "group by status"]] }],
  "Back it up": [{
    given: REVOKED,
    run: [["Export", 4], ["in the file", "4\n"], ["in the table", '"count":4']],
    then: LOCKED,
  }],
  "Change the secret key": [{
    run: [
      ["Try it: 200", "HTTP/1.1 200"],
      ["List the keys", `${API_KEYS} GET`],
      ["Rename default", `${API_KEYS}/oldid PATCH {"name":"default_old"}`],
      ["Rename the other", `${API_KEYS}/newid PATCH {"name":"default"}`],
    ],
  }],
  "Move to another project": [
    { run: [["--remote=<old ref>", 5]] },
    { given: REVOKED, run: [["//<new ref>", "HTTP/1.1 201", "HTTP/1.1 200"]] },
  ],
  "There is no active key for this name": [
    {
      given: SIMILAR,
      // Keys 1, 2 and 5.
      run: [["Look them up", 3, '"same_product":false,"same_name":true']],
      then: LOCKED,
    },
    {
      given: SIMILAR,
      values: { key: "<key>" }, // Left as it is, as the page says.
      run: [["Look them up", 2]],
      then: LOCKED,
    },
    { given: UNUSED, run: [["record the first use", 1, 0]] },
    { given: MOVED, run: [["Move it", 1]] },
  ],
  '500, "Database error"': [{ run: [["Read the log", "'lookup_failed'"]] }],
  "The secret key leaked": [
    { run: [["Try the leaked key: 401", "HTTP/1.1 401"]] },
    { given: REVOKED, run: [["Export", 4], ["Compare", NAME]], then: LOCKED },
  ],
  "A flood": [{ run: [["List the", "by address"], ["delete the", DELETED]] }],
  "Keys are lost or wrong": [{
    given: DAMAGED,
    run: [
      ["Delete the function first", DELETED],
      ["Make a table for the export", 0],
      ["Upload the export: 201", "HTTP/1.1 201"],
      ["List what differs", '"name_then":"lost","product_now":null'],
      ["Correct the export", 1],
      ["each that was moved", 1],
      ["each that was revoked", 1],
      ["Put the rest back", 2], // Key 2, and key 4 without a user.
      ["revoke what no order has", 1],
      ["Then", 0],
    ],
    then: { ...LOCKED, lost: ACTIVE, used: ACTIVE, wrongname: NOT_FOUND },
  }],
  "A refund": [{ run: [["Revoke each key", 1]], then: LOCKED }],
  "A customer's data": [{
    run: [["To give", 1], ["To erase", 1]],
    then: LOCKED,
  }],
  "Log codes": [
    { given: DENIED, run: [["42501", 0]] },
    // Only that PostgreSQL takes them: nothing here has an old schema, or holds a lock.
    {
      run: [["PGRST205", 0], ["End what this lists", 1], ["List the locks", 0]],
    },
  ],
};

const ask = (user: string) =>
  checkAt(API_URL + FUNCTION_URL_PATH, PRODUCT, user);

const snippets = (await readSnippets())
  .filter(({ code }) => !LEFT_OUT.some((line) => line.test(code)));
const untested = new Set(snippets);

for (const [heading, cases] of Object.entries(CASES)) {
  for (const [nth, one] of cases.entries()) {
    const { given, values, run, then = UNLOCKED } = one;
    // Found here, because the last test looks at what is left.
    const toRun = run.map(([text, ...results]) => {
      const found = snippets.filter((it) =>
        it.heading === heading && (it.words + it.code).includes(text)
      );
      found.forEach((it) => untested.delete(it));
      return { text, found, results };
    });
    const name = `${heading} ${nth + 1}: ${run.map(([text]) => text)}`;
    Deno.test(`operators: ${name}`, async () => {
      await using folder = await makeTempFolder();
      const { url } = folder;
      await runSnippet(ISSUE_KEYS, url, VALUES);
      await runSnippet(EXPORT, url, VALUES);
      if (given) await runSnippet(`${given};`, url, VALUES);

      const all = { ...VALUES, ...values };
      for (const { text, found: [snippet, ...others], results } of toRun) {
        assert(snippet && others.length === 0, `No or two snippets: ${text}`);
        for (const result of results) {
          const output = await runSnippet(snippet.code, url, all);
          if (typeof result === "string") assertStringIncludes(output, result);
          else assertEquals(JSON.parse(output).length, result, output);
        }
      }
      for (const [user, response] of Object.entries(then)) {
        await assertResponse(ask(user), response, user);
      }
    });
  }
}

Deno.test("operators: every snippet has a test", () => {
  assertEquals([...untested], []);
});

Deno.test("operators: back_end.js issues a key, and records its first use", async () => {
  Deno.env.set("SUPABASE_URL", API_URL);
  Deno.env.set("SUPABASE_SECRET_KEY", SECRET_KEY);
  const backEnd = await import("../../supabase/back_end.js");
  const user = "Bessie#4821";
  const id = await backEnd.issueKey(PRODUCT);
  const record = (product: string) => backEnd.recordFirstUse(id, product, user);
  assertEquals(await record(crypto.randomUUID()), false);
  assertEquals(await record(PRODUCT), true);
  assertEquals(await record(PRODUCT), false);
  await assertResponse(ask(user), ACTIVE);
  const invalid = backEnd.recordFirstUse("AAAA", PRODUCT, user);
  assertEquals((await invalid.catch((error) => error)).code, "22P02");
});
