/** "The same user": equal code point for code point. */
import { ACTIVE, NOT_FOUND } from "../support/answers.ts";
import { LIMITS } from "../support/limits.ts";
import { assertAnswer, check } from "../support/requests.ts";
import { issueKeys, testWithKeys as test } from "../support/issue_keys.ts";

// Plain names, each with names that a careless comparison would take for the same user.
const NAMES: Record<string, string[]> = {
  "Zoë": ["Zoe", "zoë", "ZOË", "Zoe\u0308", "Zoë ", " Zoë", "Zo%C3%AB", "ZoÃ«"],
  "Zoe\u0308": ["Zoë", "Zoe"],
  " a": ["a", "a ", " a ", "  a", "+a", "%20a", "\u00a0a", "\ta"],
  "a b": ["a+b", "a%20b", "a  b", "ab", "a\u00a0b", "a\u3000b"],
  "a+b": ["a b", "a%2Bb"],
  "null": ["NULL", "Null", "nul", `"null"`, "undefined"],
  "true": ["TRUE", "t", "1", "false"],
  "{a}": ["a", "{ a }", "{a", `{"a"}`, "(a)"],
  "{}": ["{ }", "[]"],
  [`a,b.c:d(e)"f"\\g`]: [
    "a",
    "a,b",
    `a,b.c:d(e)"f"g`,
    `a,b.c:d(e)\\"f\\"\\\\g`,
    `"a,b.c:d(e)"f"\\g"`,
  ],
  "100%_*": ["100", "100%", "1000_*", "100%_", "100%__", "100%_%", "100abc"],
  "is.null": ["null", "is.NULL", "is.not.null"],
  "eq.a": ["a", "eq.eq.a"],
  "not.eq.a": ["b", "a"],
  "in.(a,b)": ["a", "b", "(a,b)"],
  "like.*": ["like.x", "x"],
  "*": ["a", "**"],
  "%": ["a", "%25", "%%"],
  "_": ["a", "__"],
  "(a)": ["a", "(a"],
  [`"a"`]: ["a", `'a'`, `""a""`, `\\"a\\"`],
  "'a'": ["a", "''a''"],
  "'; drop table activation_keys; --": ["'", "drop"],
  "a\\": ["a", "a\\\\"],
  "a&curr_user=eq.b": ["a", "b"],
  "a#1": ["a", "a#", "a#01", "A#1"],
  "a?select=id": ["a"],
  "../a": ["a"],
  "a\nb": ["a", "ab", "a\r\nb", "a\\nb"],
  "\ufeffa": ["a"],
  "a\u200bb": ["ab", "a\u200cb", "a\u200db"],
  "\u202ea": ["a"],
  "ß": ["ss", "SS", "ẞ"],
  "İ": ["i", "I", "ı", "i\u0307"],
  "\u212a": ["K", "k"],
  "ﬁ": ["fi"],
  "Ａ": ["A", "a"],
  "²": ["2"],
  "а": ["a"],
  "🛩": ["🛩\ufe0f", "✈", "\ufffd", "🛪"],
  "👩‍✈️": ["👩", "👩✈️", "👨‍✈️"],
  "𝒵": ["Z", "𝒴"],
  "\ufffd": ["\ufffc", "?"],
  "山田太郎#1": ["山田太郎#１", "山田太郞#1"],
  "0": ["00", "0.0", "-0", "false"],
  "1e3": ["1000"],
};

for (const [name, others] of Object.entries(NAMES)) {
  test(`name: ${JSON.stringify(name)} matches itself and nobody else`, async () => {
    await using project = await issueKeys([name]);
    await assertAnswer(check(project.id, name), ACTIVE);
    for (const other of others) {
      await assertAnswer(check(project.id, other), NOT_FOUND, other);
    }
  });

  test(`name: a look-alike of ${JSON.stringify(name)} does not match`, async () => {
    await using project = await issueKeys(others);
    await assertAnswer(check(project.id, name), NOT_FOUND);
    for (const other of others) {
      await assertAnswer(check(project.id, other), ACTIVE, other);
    }
  });
}

test("name: 256 code points beyond the BMP", async () => {
  const name = "🛩".repeat(LIMITS.name);
  await using project = await issueKeys([name]);
  await assertAnswer(check(project.id, name), ACTIVE);
  await assertAnswer(check(project.id, "🛩".repeat(LIMITS.name - 1)), NOT_FOUND);
});
