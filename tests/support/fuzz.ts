import fc from "fast-check";

/** How often a property is tried. `FUZZ_RUNS` raises it. */
const RUNS = Number(Deno.env.get("FUZZ_RUNS") ?? 300);

/**
 * Tries a property with many inputs. When one fails, fast-check prints the smallest failing input and
 * the seed: add that input to the property's examples.
 *
 * @param inputs What to draw the inputs from.
 * @param property Throws when it does not hold.
 * @param examples Inputs that once failed, or that must not be left to chance.
 */
export async function assertProperty<Input>(
  inputs: fc.Arbitrary<Input>,
  property: (input: Input) => Promise<void>,
  examples: Input[],
): Promise<void> {
  await fc.assert(fc.asyncProperty(inputs, property), {
    numRuns: RUNS + examples.length,
    examples: examples.map((example) => [example]),
  });
}
