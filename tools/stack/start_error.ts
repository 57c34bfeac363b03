/** Something that a person can put right. Its message says what happened and what to do. */
export class StartError extends Error {}
