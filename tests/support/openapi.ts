/** The document `docs/openapi.yaml`, for the tests that hold it against the contract. */
import { parse } from "@std/yaml";
import { Ajv2020 } from "ajv";
import { readPage } from "./pages.ts";

/** The document as a text, and parsed. */
export const TEXT = await readPage("docs/openapi.yaml");
export const OPENAPI = parse(TEXT);
const ajv = new Ajv2020({ strict: false }).addSchema(OPENAPI, "openapi");
/** Returns a function that tells whether JSON matches a schema of the document. */
export const getSchema = (name: string) => ajv.getSchema(`openapi#/components/schemas/${name}`)!;
