/** Where the Data API is, and the key for it. */
export const url = Deno.env.get("SUPABASE_URL") ?? "";
export const secretKey: string =
  JSON.parse(Deno.env.get("SUPABASE_SECRET_KEYS") ?? "{}").default ?? "";
