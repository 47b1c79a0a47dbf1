export { Canopy, type CanopyOptions, type Given, type Page, type RequestOptions, type UploadOptions } from "./canopy.js";
export { ApiKey, type ApiKeyOptions, type Change, type Credentials, GivenToken, type GivenTokenOptions, type Issued } from "./credentials.js";
export { document, type TypedDocument } from "./documents.js";
export { CanopyError, type Code, type Details, type Fault } from "./errors.js";
export type { Http, HttpOptions } from "./http.js";
export type { Progress } from "./progress.js";
export type * as Schema from "./schema.js";
export { type CompanyOption, type Program, Session, type SessionOptions, type SignIn } from "./session.js";
export type { SubscribeOptions } from "./socket.js";
