/**
 * `deno task bench`: measures the function against baselines in the same run. Compare ratios, not
 * figures of different machines.
 */
import { cpus } from "node:os";
import { run } from "../command.ts";
import { benchColdStart } from "./cold_start.ts";
import { benchLoad } from "./load.ts";
import { prepareSubjects } from "./subjects.ts";

await using subjects = await prepareSubjects();
const { stdout } = await run(subjects.deno, ["--version"]);
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${
    cpus()[0]?.model
  }, functions on ${stdout.split("\n")[0]}`,
);
await benchLoad(subjects);
await benchColdStart(subjects);
