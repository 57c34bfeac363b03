-- Activation keys: one row for each key that an operator has issued for a product (`project_id`).
-- The operator's own back end writes the table: it issues keys, and records the user who activates
-- one. The edge function `check-username-active` reads it and asks one question: is there a key of
-- this product whose current user has exactly this name?

create table public.activation_keys (
  -- This project has decided that a row's id is the key that the customer receives: the
  -- specification of the service does not say what a key is.
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null,
  -- With the collation "C", the index on this column does not depend on the version of a collation
  -- library, whatever the locale of the database is: an upgrade of the library cannot corrupt it.
  curr_user text collate "C",
  -- With this number, the rows can give back to a back end the orders that it has lost. The lookup
  -- does not read it.
  order_number text,
  created_at timestamptz not null default now(),
  constraint activation_keys_curr_user_length check (char_length(curr_user) between 1 and 256)
);

comment on table public.activation_keys is
  'Activation keys issued for simulator add-ons. Through the Data API, only the role service_role reads and writes this table.';
comment on column public.activation_keys.id is
  'The activation key itself, which the customer receives, and so a secret.';
comment on column public.activation_keys.project_id is 'The product that the key unlocks.';
comment on column public.activation_keys.curr_user is
  'The name of the user who has activated the key, exactly as the add-on sends it. Null until the key is activated.';
comment on column public.activation_keys.order_number is
  'The number of the back end''s order of this key. Null for a key without an order.';
comment on column public.activation_keys.created_at is 'When the key was issued.';

-- The index has both columns that the lookup reads, so PostgreSQL can use an index-only scan. Keys
-- that nobody has activated yet are left out, because the lookup never finds them.
create index activation_keys_lookup_idx
  on public.activation_keys (project_id, curr_user)
  where curr_user is not null;

-- There is no policy: the role of the secret key, `service_role`, bypasses row level security, and
-- `anon` and `authenticated` would see no row even if they were granted the table.
alter table public.activation_keys enable row level security;

-- What a new table grants to these roles by default depends on a setting of the Supabase project.
-- Everything is taken from them first, so that they have the same rights whatever that setting is.
-- (A role of your own keeps what your default privileges grant it.)
revoke all on table public.activation_keys from public, anon, authenticated, service_role;
grant select, insert, update, delete on table public.activation_keys to service_role;
