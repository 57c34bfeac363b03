/** What `supabase functions deploy` uploads, and that it runs as it was uploaded. */
import { assertEquals } from "@std/assert";
import {
  FUNCTION_FOLDER,
  FUNCTION_FOLDER_PATH as FOLDER,
} from "../../tools/project.ts";
import { VERSIONS } from "../../tools/versions.ts";
import { TOO_LARGE } from "../support/contract.ts";
import { PAGES, readPage } from "../support/pages.ts";
import { assertResponse, sendTo } from "../support/requests.ts";
import { startUploadedService } from "../support/uploaded_service.ts";

const service = await startUploadedService();
Deno.test.afterAll(() => service[Symbol.asyncDispose]());

Deno.test("upload: exactly the function's files, and callers need no token", () => {
  const { files, metadata } = service;
  const source = Array.from(Deno.readDirSync(FUNCTION_FOLDER), (it) => it.name)
    .filter((name) => /\.ts$|^deno\.json$/.test(name));
  assertEquals(files.toSorted(), source.map((name) => FOLDER + name).sort());
  assertEquals(metadata.entrypoint_path, `${FOLDER}index.ts`);
  assertEquals(metadata.import_map_path, `${FOLDER}deno.json`);
  assertEquals(metadata.verify_jwt, false, "fix supabase/config.toml");
});

Deno.test("upload: through the main worker, whoever goes on sending gets the 413", async () => {
  // In KiB: sizes that break the connection of a function that does not discard the rest.
  for (const size of [17, 200]) {
    const bytes = new Uint8Array(size * 1_024);
    await Promise.all(Array.from({ length: 20 }, (_, nth) => {
      const body = nth % 2 === 0 ? bytes : new Blob([bytes]).stream();
      const response = sendTo(service.workerUrl, { body });
      return assertResponse(response, TOO_LARGE, `${size} KiB`);
    }));
  }
});

for (const page of [...PAGES, ".github/workflows/ci.yml", ".ci/run"]) {
  Deno.test(`versions: ${page} names those that the tests run`, async () => {
    const npx = /npx (?:-\S+ )?(deno|supabase)@?(\S*)/g;
    for (
      const [command, name, version] of (await readPage(page)).matchAll(npx)
    ) {
      assertEquals(
        version,
        name === "deno" ? VERSIONS.deno : VERSIONS.supabase,
        command,
      );
    }
  });
}
