/** What runs a package of npm. */
export const NPX = Deno.build.os === "windows" ? "npx.cmd" : "npx";
