/** The same user: a key of `a` makes `b` active if, and only if, they are the same string. */
import fc from "fast-check";
import { ACTIVE, NOT_FOUND } from "../support/contract.ts";
import { assertResponse } from "../support/requests.ts";
import * as service from "../support/service_under_test.ts";

const test = service.isReadOnly ? Deno.test.ignore : Deno.test;

// Pieces of names that comparisons get wrong. Non-ASCII is escaped: editors normalise it.
const PIECES = [
  // Case and compatibility: kinds of i, s, K and sigma; ligatures, superscript, circled, wide.
  ..."aAzZiI\u0130\u0131\u00df\u1e9es\u017fkK\u212a\u00e5\u00c5\u212b",
  ..."\u03a3\u03c3\u03c2\ufb01\ufb00\u00b2\u2460\uff21\uff41",
  // Composed and decomposed, and what ß is folded to.
  ..."ss e\u0301 \u00e9 i\u0307 A\u030a \uac01 \u1100\u1161\u11a8".split(" "),
  // Zero width, direction, variation, joiners.
  ..."\u200b\u200c\u200d\u2060\ufeff\u00ad\u202a\u202e\u2066\u2069\ufe0f\u034f\u180e",
  // White space of every kind.
  ..." \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
  // URL and PostgREST syntax.
  ..."*%,\"\\+&=?/;:.()[]{}<>|!~^$@`'",
  ...'eq. in.( not. is.null like.* %20 %00 %2 \\" ::text ->>'.split(" "),
  // SQL and JSON.
  ...`-- /* '; $$ E'\\ null NULL true {} [] "" undefined NaN 0 1e3`.split(" "),
  // The edges of Unicode, and an aeroplane.
  ..."\u0001\u001f\u007f\u0080\ud7ff\ue000\ufffd\ufffe\uffff\u{10000}\u{10ffff}\u{1f6e9}",
];

// Others are rejected by the contract. (fast-check makes no lone surrogates.)
const isName = (text: string) => text !== "" && !text.includes("\0");

const anyPiece = fc.constantFrom(...PIECES);
const anyCodePoint = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
const unit = fc.oneof(anyPiece, anyCodePoint); // Of which names consist.
const anyName = fc.string({ unit, minLength: 1, maxLength: 12 }).filter(isName);

// Each turns a name into a similar one. Some remove the code point at an index, or put another in.
const EDITS: ((name: string, at: number, added: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  (name) => name.normalize("NFC"),
  (name) => name.normalize("NFD"),
  (name) => name.trim(),
  (name) => name.replaceAll(/["\\]/g, "\\$&"),
  (name, at) => [...name].toSpliced(at, 1).join(""),
  (name, at, added) => [...name].toSpliced(at, 1, added).join(""),
  (name, at, added) => [...name].toSpliced(at, 0, added).join(""),
];

const anyPair = fc.tuple(anyName, fc.constantFrom(...EDITS), fc.nat(12), anyPiece)
  .map(([a, edit, at, added]) => [a, edit(a, at, added)] as const)
  .filter(([, b]) => isName(b));

/** Names, each with others that a careless comparison would take for the same user. */
const LOOK_ALIKES: { name: string; others: string[] }[] = [
  // Accents, case, Unicode forms, and URL encoding.
  { name: "Zo\u00eb", others: ["Zoe", "zo\u00eb", "ZO\u00cb", "Zoe\u0308", "Zo%C3%AB"] },
  // Blanks.
  { name: " a", others: ["a", "a ", "  a", "+a", "%20a", "\u00a0a", "\ta"] },
  // What PostgREST and PostgreSQL read in a filter: null, Booleans, arrays, quotation, patterns.
  { name: "null", others: ["NULL", `"null"`, "undefined", "is.null"] },
  { name: "true", others: ["TRUE", "t", "1"] },
  { name: "{a}", others: ["a", "{ a }", `{"a"}`, "(a)"] },
  { name: `a,b.c:d(e)"f"\\g`, others: ["a", `a,b.c:d(e)\\"f\\"\\\\g`, `"a,b.c:d(e)"f"\\g"`] },
  { name: "100%_*", others: ["100", "1000_*", "100%__", "100%_%", "100abc"] },
  // A byte order mark, which readers of files cut off.
  { name: "\ufeffa", others: ["a", "\ufeff\ufeffa"] },
  // A line break, and what URLs cut off behind a #.
  { name: "a\nb#1", others: ["ab#1", "a\r\nb#1", "a\\nb#1", "a\nb", "a\nb\u{ff03}1"] },
];

test("exactness: of two similar names, a key of one makes the other active if and only if they are equal", async () => {
  const property = fc.asyncProperty(anyPair, ([a, b]) => assertExact(a, b));
  // The names above come first, in both directions.
  const examples = LOOK_ALIKES.flatMap(({ name, others }) =>
    others.flatMap((other): [[string, string]][] => [[[name, other]], [[other, name]]])
  );
  const numRuns = examples.length + Number(Deno.env.get("FUZZ_RUNS") ?? 200);
  await fc.assert(property, { examples, numRuns });
});

/** Fails unless a key of `a` makes `a` active, and `b` only if both are the same. */
async function assertExact(a: string, b: string) {
  await using product = await service.issueKeys([a]);
  await Promise.all([
    assertResponse(service.ask(product.project_id, a), ACTIVE),
    assertResponse(service.ask(product.project_id, b), a === b ? ACTIVE : NOT_FOUND),
  ]);
}
