-- Keys to try the function with on a local stack. `supabase db push` does not run this file on a
-- hosted project unless you ask for that with `--include-seed`.

insert into public.activation_keys (project_id, curr_user) values
  -- An activated user with a non-ASCII name and a discriminator.
  ('6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4', 'Zoë Brückner#4821'),
  -- The same user holds a key of a second product.
  ('b41c7e08-52d9-4a63-8e1f-7d90ac35b216', 'Zoë Brückner#4821'),
  -- One user with two keys of one product: still a single yes.
  ('6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4', 'CaptainKirin#0417'),
  ('6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4', 'CaptainKirin#0417');

-- A key that nobody has activated yet, so it matches no user. Its id is fixed, so that README.md
-- can show how a name is written into its row.
insert into public.activation_keys (id, project_id, curr_user) values
  ('c47483a5-3d7d-49ae-a026-b9fbe3b175b1', '6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4', null);
