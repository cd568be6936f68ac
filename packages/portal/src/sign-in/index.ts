import "./define.ts";

export { FieldgateSignIn } from "./element.ts";
