/**
 * `deno task bench`: measures the function against a baseline in the same run. Compare ratios, not
 * figures of different machines.
 */
import { cpus } from "node:os";
import { run } from "../run.ts";
import { benchColdStart } from "./cold_start.ts";
import { benchCpu } from "./cpu.ts";
import { prepareSubjects } from "./subjects.ts";
import { benchThroughput } from "./throughput.ts";

await using subjects = await prepareSubjects();
const { stdout } = await run(subjects.deno, ["--version"]);
const [runtime] = stdout.split("\n");
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${
    cpus()[0]?.model
  }, ${Deno.build.target}, functions on ${runtime}`,
);
await benchThroughput(subjects);
await benchCpu(subjects);
await benchColdStart(subjects);
