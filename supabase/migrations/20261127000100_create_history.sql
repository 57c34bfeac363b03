-- The history of `activation_keys`: every change is kept, with the names of users, so that an operator
-- sees what has happened to a key, and can undo a transaction. Only the owner has rights in the schema.
create schema history;

-- One row for each key and transaction, with the net effect of the transaction on the key.
create table history.activation_keys (
  change bigint generated always as identity, -- Orders the changes of a key: times cannot, because transactions overlap.
  key uuid not null,
  -- When the transaction began, which names it: its number could come again in another project.
  changed_at timestamptz not null default now(),
  changed_by text default session_user, -- `authenticator` is the Data API.
  before jsonb, -- Null: the key was issued.
  after jsonb, -- Null: the key was deleted.
  undone boolean not null default false,
  primary key (key, changed_at)
);
create index activation_keys_changed_at_idx on history.activation_keys (changed_at);

-- Security definer, because the roles that change keys have no right in this schema.
create function history.record_change() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if tg_op = 'TRUNCATE' then
    insert into history.activation_keys (key, before) select id, to_jsonb(keys)
      from public.activation_keys as keys on conflict (key, changed_at) do update set after = null;
    return null;
  end if;
  -- If the id has changed, one key was deleted and another one issued. `old.*` is not used, because a
  -- session goes on using an old list of columns after a migration has added one.
  insert into history.activation_keys (key, before, after)
    select * from (values
      (old.id, to_jsonb(old), case when old.id = new.id then to_jsonb(new) end),
      (case when old.id is distinct from new.id then new.id end, null, to_jsonb(new))
    ) as changed (key, before, after)
    where key is not null and before is distinct from after
  on conflict (key, changed_at) do update set after = excluded.after;
  return null;
end $$;
create trigger record_change after insert or update or delete on public.activation_keys
  for each row execute function history.record_change();
create trigger record_truncate before truncate on public.activation_keys
  for each statement execute function history.record_change();

-- The keys that are there already. No transaction in the history has issued them, so they are marked
-- as undone, because an undo would delete them otherwise.
insert into history.activation_keys (key, changed_at, changed_by, after, undone)
  select id, created_at, null, to_jsonb(keys), true from public.activation_keys as keys;

-- One row for each transaction and product: how many keys were issued, deleted and so on. The product
-- is that before the change, because an operator looks for keys where they are missing.
create view history.transactions as
  select changed_at, changed_by, (coalesce(before, after) ->> 'project_id')::uuid as project_id,
    count(*) filter (where before is null) as issued,
    count(*) filter (where after is null) as deleted,
    count(*) filter (where before -> 'project_id' <> after -> 'project_id') as moved,
    count(*) filter (where before ->> 'curr_user' <> after ->> 'curr_user') as renamed,
    count(*) filter (where before -> 'curr_user' <> 'null' and after -> 'curr_user' = 'null') as emptied,
    count(*) filter (where before -> 'curr_user' = 'null' and after -> 'curr_user' <> 'null') as first_used,
    count(*) filter (where undone) as undone
  from history.activation_keys where before is distinct from after group by 1, 2, 3;

-- Brings each key that a transaction has changed back to what it was before, if the key still has the
-- product and the name that the transaction left. It is one call with one row as its result, because
-- Supabase Studio adds a limit to a query, which would end an undo with a row for each key.
create function history.undo(undone_at timestamptz, only_key uuid default null,
  out undoing timestamptz, out undone integer, out changed_since uuid[])
language plpgsql set search_path = '' as $$
declare line record; present record; remains jsonb;
begin
  lock table public.activation_keys in share row exclusive mode; -- Writers wait, readers do not.
  select now(), 0, '{}' into undoing, undone, changed_since;
  for line in select * from history.activation_keys as lines
    where lines.changed_at = undone_at and lines.key = coalesce(only_key, lines.key)
      and not lines.undone and lines.before is distinct from lines.after
  loop
    -- `for update` fails in a transaction that began too early to see the newest row.
    select project_id::text, curr_user into present
      from public.activation_keys as keys where keys.id = line.key for update;
    -- What the transaction left. A deleted key that was issued again, but not used, counts as left.
    remains := case when found and line.after is null then line.before - 'curr_user' else line.after end;
    if (present.project_id, present.curr_user) is distinct from (remains ->> 'project_id', remains ->> 'curr_user') then
      changed_since := changed_since || line.key; continue;
    elsif line.before is null then
      delete from public.activation_keys as keys where keys.id = line.key;
    else -- A row that is there is updated, and not made anew, because other tables may refer to it.
      insert into public.activation_keys
        select was.* from jsonb_populate_record(null::public.activation_keys, line.before) as was
      on conflict (id) do update set project_id = excluded.project_id,
        curr_user = excluded.curr_user, created_at = excluded.created_at;
    end if;
    update history.activation_keys as lines set undone = true
      where lines.key = line.key and lines.changed_at = line.changed_at;
    undone := undone + 1;
  end loop;
end $$;
revoke all on all functions in schema history from public, anon, authenticated, service_role;
