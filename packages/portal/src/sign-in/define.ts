import { FieldgateSignIn } from "./element.ts";

if (!customElements.get("fieldgate-sign-in")) customElements.define("fieldgate-sign-in", FieldgateSignIn);
