/** The numbers of the contract, as the tests expect them. The code and the pages are held to these. */
export const LIMITS = {
  /** Longest body that is accepted: in bytes, in pieces, and in milliseconds until it is whole. */
  bodyBytes: 16 * 1024,
  bodyPieces: 1_024,
  bodyMs: 10_000,
  /** What is read and discarded of a longer one. */
  discardedBytes: 8 * 1024 * 1024,
  discardedMs: 1_000,
  /** Longest user name, in code points. */
  name: 256,
  /** How long a lookup may take, in milliseconds, and how many attempts it may make. */
  budgetMs: 5_000,
  attempts: 6,
  /** When the last attempt begins at the earliest, in milliseconds. */
  lastAttemptMs: 4_200,
  /** How much of the Data API's response is read. */
  responseMiB: 1,
} as const;
