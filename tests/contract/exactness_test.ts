/**
 * "The same user" as a property: for any two names `a` and `b`, a key of `a` makes `b` active if,
 * and only if, they are the same string.
 */
import fc from "fast-check";
import { assertProperty } from "../support/fuzz.ts";
import { ACTIVE, NOT_FOUND } from "../support/answers.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { LIMITS } from "../support/limits.ts";
import { issueKeys, testWithKeys as test } from "../support/issue_keys.ts";

// Pieces that names go wrong with.
const PIECES = [
  // Case and compatibility.
  ..."aAzZiIİıßẞſKkKåÅÅΣσςﬁﬀ²①Ａａ",
  "ss",
  "e\u0301",
  "é",
  "i\u0307",
  "각",
  "각",
  // Zero width, direction, variation, joiners.
  ..."\u200b\u200c\u200d\u2060\ufeff\u00ad\u202a\u202e\u2066\u2069\ufe0f\u034f\u180e",
  // White space of every kind.
  ..." \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
  // Look-alikes.
  ..."аеорсΑΒⅠ∕＃#ꓮ𝐀𝒜",
  // URL and PostgREST syntax.
  ..."*%,\"\\+&=?/;:.()[]{}<>|!~^$@`'",
  ...'eq. in.( not. is.null like.* %20 %00 %2 \\" ::text ->>'.split(" "),
  // SQL and JSON.
  ...`-- /* '; $$ E'\\ null NULL true {} [] "" undefined NaN 0 1e3`.split(" "),
  // The edges of Unicode.
  ..."\u0001\u001f\u007f\u0080\ud7ff\ue000\ufffd\ufffe\uffff\u{10000}\u{10ffff}🛩",
  "👩‍✈️",
];

const isName = (text: string) =>
  !text.includes("\0") && text.isWellFormed() && [...text].length >= 1 &&
  [...text].length <= LIMITS.name;

const codePoints = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
const name = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(
      fc.oneof(fc.constantFrom(...PIECES), codePoints),
      { minLength: 1, maxLength: 12 },
    ).map((pieces) => pieces.join("")),
  },
  {
    weight: 2,
    arbitrary: fc.string({ unit: "binary", maxLength: LIMITS.name }),
  },
  {
    // Around the longest name.
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom("a", "é", "🛩", " ", "%"),
      fc.integer({ min: LIMITS.name - 6, max: LIMITS.name }),
    ).map(([piece, length]) => piece.repeat(length)),
  },
).filter(isName);

// What turns a name into one near it. `at` picks the place, `piece` what is put there.
const EDITS: ((name: string[], at: number, piece: string) => string)[] = [
  (name) => name.join(""),
  (name) => name.join("").toUpperCase(),
  (name) => name.join("").toLowerCase(),
  (name) => name.join("").normalize("NFC"),
  (name) => name.join("").normalize("NFD"),
  (name) => name.join("").normalize("NFKC"),
  (name) => name.join("").normalize("NFKD"),
  (name) => name.join("").trim(),
  (name) => name.join("").replaceAll(/\s+/g, " "),
  (name) => name.join("").replaceAll(" ", "+"),
  (name) => name.join("").replaceAll("ß", "ss"),
  (name) => encodeURIComponent(name.join("")),
  (name) => name.join("").replaceAll(/%(\d\d)/g, ""),
  (name) => name.join("").replaceAll(/["\\]/g, "\\$&"),
  (name) => name.join("").replaceAll(/\\(.)/g, "$1"),
  (name) => `"${name.join("")}"`,
  (name) => `eq.${name.join("")}`,
  (name) => name.slice(0, -1).join(""),
  (name) => name.toReversed().join(""),
  (name, at) => name.toSpliced(at, 1).join(""),
  (name, at) => name.toSpliced(at, 0, name.at(at) ?? "").join(""),
  (name, at, piece) => name.toSpliced(at, 1, piece).join(""),
  (name, at, piece) => name.toSpliced(at, 0, piece).join(""),
  (name, _, piece) => [...name, piece].join(""),
];

const near = fc.tuple(
  name,
  fc.constantFrom(...EDITS),
  fc.nat(),
  fc.constantFrom(...PIECES),
).map(([a, edit, at, piece]) => {
  const points = [...a];
  return { a, b: edit(points, at % points.length, piece) };
}).filter(({ b }) => isName(b));

const pairs = fc.oneof(
  { weight: 4, arbitrary: near },
  { weight: 1, arbitrary: fc.record({ a: name, b: name }) },
);

/** Plain names, each with names that a careless comparison would take for the same user. */
const LOOK_ALIKES: [name: string, ...others: string[]][] = [
  ["Zoë", "Zoe", "zoë", "ZOË", "Zoe\u0308", "Zoë ", "Zo%C3%AB", "ZoÃ«"],
  [" a", "a", "a ", "  a", "+a", "%20a", "\u00a0a", "\ta"],
  ["a b", "a+b", "a%20b", "a  b", "ab", "a\u3000b"],
  ["null", "NULL", `"null"`, "undefined", "is.null"],
  ["true", "TRUE", "t", "1"],
  ["{a}", "a", "{ a }", `{"a"}`, "(a)"],
  [`a,b.c:d(e)"f"\\g`, "a", `a,b.c:d(e)\\"f\\"\\\\g`, `"a,b.c:d(e)"f"\\g"`],
  ["100%_*", "100", "1000_*", "100%__", "100%_%", "100abc"],
  ["eq.a", "a", "eq.eq.a", "not.eq.a", "b"],
  ["in.(a,b)", "a", "b", "(a,b)"],
  ["like.*", "like.x", "x", "*"],
  ["%", "a", "%25", "%%", "_"],
  [`"a"`, "a", `'a'`, `""a""`, `\\"a\\"`],
  ["'; drop table activation_keys; --", "'", "drop"],
  ["a\\", "a", "a\\\\"],
  ["a&curr_user=eq.b", "a", "b"],
  ["a#1", "a", "a#", "a#01", "A#1", "a＃1"],
  ["a\nb", "ab", "a\r\nb", "a\\nb"],
  ["\ufeffa", "a", "\u202ea", "a\u200b"],
  ["ß", "ss", "SS", "ẞ"],
  ["İ", "i", "I", "ı", "i\u0307"],
  ["\u212a", "K", "k"],
  ["ﬁ", "fi"],
  ["а", "a", "Ａ"],
  ["🛩", "🛩\ufe0f", "\ufffd", "🛪"],
  ["👩‍✈️", "👩", "👩✈️", "👨‍✈️"],
  ["0", "00", "-0", "false"],
  ["🛩".repeat(LIMITS.name), "🛩".repeat(LIMITS.name - 1)],
];

test("exactness: a key of one name is no key of another", async () => {
  await assertProperty(
    pairs,
    async ({ a, b }) => {
      await using project = await issueKeys([a]);
      await assertAnswer(check(project.id, a), ACTIVE);
      await assertAnswer(check(project.id, b), a === b ? ACTIVE : NOT_FOUND);
    },
    LOOK_ALIKES.flatMap(([name, ...others]) =>
      others.flatMap((other) => [{ a: name, b: other }, { a: other, b: name }])
    ),
  );
});
