-- The first use of a key: an operator's back end calls this function through the Data API when an
-- add-on has sent it a key and the name of a user. The function writes the name into the key, unless
-- the key has another user's name already, and returns whether the key is this user's now.

-- `strict` means that the function returns null, and writes nothing, if a value is null. Each value
-- is written with the function's name before it, because a column named `key` or `username`, which a
-- later migration may add, would otherwise make the name ambiguous, and end every first use.
create function public.record_first_use(key uuid, project_id uuid, username text) returns boolean
language plpgsql strict set search_path = '' as $$
begin
  -- One update decides for unused and used keys alike: it waits while another call writes the same
  -- row, and then reads the row anew. A question after the update could say "another user's" of a
  -- key that was emptied between the two.
  update public.activation_keys as keys set curr_user = record_first_use.username
  where keys.id = record_first_use.key and keys.project_id = record_first_use.project_id
    and (keys.curr_user is null or keys.curr_user = record_first_use.username);
  return found;
end $$;
comment on function public.record_first_use is
  'Writes the name of a user into a key that nobody has used. True: the key is this user''s now, or was already. False: the key is another user''s, or the product has no such key.';

-- In older Supabase projects, everybody may call every new function in `public`.
revoke all on function public.record_first_use from public, anon, authenticated, service_role;
grant execute on function public.record_first_use to service_role;
