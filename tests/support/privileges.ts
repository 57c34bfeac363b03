/** Who may do what with the table after the migrations. */
export const PRIVILEGES = [
  { grantee: "service_role", privileges: "DELETE, INSERT, SELECT, UPDATE" },
];

/** Reads who may do what with the table, except its owner. */
export const PRIVILEGES_QUERY = `
  select case grantee when 0 then 'public' else grantee::regrole::text end as grantee,
    string_agg(privilege_type, ', ' order by privilege_type) as privileges
  from pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
  where pg_class.oid = 'public.activation_keys'::regclass and grantee <> relowner
  group by grantee
`;
