-- Activation keys: one row for each key that an operator has issued for a product.
-- The edge function `check-username-active` asks one question of this table:
-- is there a key of this project whose current user has exactly this name?

create table public.activation_keys (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null,
  -- "C" compares bytes, whatever the database's own locale is.
  curr_user text collate "C",
  created_at timestamptz not null default now(),
  constraint activation_keys_curr_user_length check (char_length(curr_user) between 1 and 256)
);

comment on table public.activation_keys is
  'Activation keys issued for simulator add-ons. The edge function check-username-active looks them up; nobody else reads them through the Data API.';
comment on column public.activation_keys.id is 'Identifies the key.';
comment on column public.activation_keys.project_id is 'The product that the key unlocks.';
comment on column public.activation_keys.curr_user is
  'Simulator user name that holds the key, exactly as the simulator reports it. Null until the key is first used in the simulator.';
comment on column public.activation_keys.created_at is 'When the key was issued.';

-- Only serves the lookup: both columns are in the index, unused keys are not.
create index activation_keys_lookup_idx
  on public.activation_keys (project_id, curr_user)
  where curr_user is not null;

-- No policy: the secret key's role bypasses row level security, and every other role sees no row.
alter table public.activation_keys enable row level security;

-- What a new table grants by default depends on the project's setting. Taking everything away first
-- makes the outcome the same either way.
revoke all on table public.activation_keys from public, anon, authenticated, service_role;
grant select, insert, update, delete on table public.activation_keys to service_role;
