import type { PGlite } from "@electric-sql/pglite";
import { openDatabase } from "../stack/database.ts";
import { median, printTable } from "./table.ts";

const SIZES = [1_000, 100_000, 1_000_000];
const LOOKUPS = 25;

/** Measures blocks read and time of the lookup as the table grows, two thirds of the keys used. */
export async function benchLookup(): Promise<void> {
  await using database = await openDatabase();
  // Else a scan would begin where the last one ended.
  await database.exec("set synchronize_seqscans = off");

  const rows = [];
  let keys = 0;
  for (const size of SIZES) {
    console.error(`Lookup, ${size} keys ...`);
    await database.query(
      `insert into public.activation_keys (project_id, curr_user)
       select md5((number % 50)::text)::uuid, case when number % 3 > 0 then 'Pilot ' || number end
       from generate_series($1::int, $2::int) as number`,
      [keys + 1, size],
    );
    keys = size;
    await database.exec("vacuum analyze public.activation_keys");
    const bytes = await indexBytes(database);
    const indexed = await measure(database, size);

    await database.exec("begin; drop index public.activation_keys_lookup_idx");
    const scanned = await measure(database, size);
    await database.exec("rollback");

    rows.push([
      size.toLocaleString("en"),
      indexed.blocks,
      indexed.ms.toFixed(3),
      (bytes / size).toFixed(0),
      scanned.blocks,
      scanned.ms.toFixed(3),
      Math.round(scanned.ms / indexed.ms),
    ]);
  }
  printTable(`Lookup in PGlite, medians of ${LOOKUPS}`, [
    [
      "keys",
      "blocks",
      "ms",
      "index bytes/key",
      "blocks without index",
      "ms without",
      "ratio",
    ],
    ...rows,
  ]);
}

async function measure(database: PGlite, size: number) {
  const blocks = [];
  const ms = [];
  for (let lookup = 1; lookup <= LOOKUPS; lookup++) {
    const number = 3 * Math.floor((size * lookup) / (3 * LOOKUPS + 3)) + 1;
    const { rows } = await database.query<{ "QUERY PLAN": Plan[] }>(
      `explain (analyze, buffers, format json)
       select project_id from public.activation_keys
       where project_id = md5('${
        number % 50
      }')::uuid and curr_user = 'Pilot ${number}' limit 1`,
    );
    const explained = rows[0]?.["QUERY PLAN"][0];
    if (explained?.Plan["Actual Rows"] !== 1) {
      throw new Error(`Pilot ${number} is missing`);
    }
    const { Plan: plan, "Execution Time": time } = explained;
    blocks.push(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]);
    ms.push(time);
  }
  return { blocks: median(blocks), ms: median(ms) };
}

interface Plan {
  Plan: {
    "Actual Rows": number;
    "Shared Hit Blocks": number;
    "Shared Read Blocks": number;
  };
  "Execution Time": number;
}

async function indexBytes(database: PGlite): Promise<number> {
  const { rows } = await database.query<{ bytes: number }>(
    "select pg_relation_size('public.activation_keys_lookup_idx')::int as bytes",
  );
  return rows[0]?.bytes ?? NaN;
}
