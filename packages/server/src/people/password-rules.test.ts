import { describe, expect, it } from "vitest";
import { passwordProblem } from "./password-rules.ts";

const context = {
  username: "amina.otieno",
  tenantId: "turkana-cash",
  tenantName: "Turkana Cash Transfer",
  minLength: 15,
};
const problem = (password: string, over: Partial<typeof context> = {}) =>
  passwordProblem(password, { ...context, ...over });

describe("a password is accepted", () => {
  it.each([
    ["several unrelated words", "violet kettle mountain drum"],
    ["words without spaces", "velvetkettlemountaindrum"],
    ["another script", "мой дед любил рыбу и чай"],
    ["a script without spaces", "我的祖父喜欢在河边钓鱼喝茶看书写字"],
    ["accents and emoji", "ananas 🐐 grün Öl Straße"],
    ["only lower case: there are no composition rules", "plumbing otter saffron"],
    ["random characters", "x7#Kq!mZp2$vLw9@"],
    ["a name in a longer sentence", "I love Amina and her 7 spotted goats"],
    ["spaces at the ends", "  plumbing otter saffron  "],
    ["a strong end after a weak beginning", `${"a".repeat(80)} plumbing otter saffron kettle`],
  ])("%s", async (_, password) => {
    expect(await problem(password)).toBeNull();
  });

  it("with 64 and with exactly 1,024 bytes", async () => {
    const words = "plumbing otter saffron kettle mountain drum violet harbour ".repeat(20);
    expect(await problem(words.slice(0, 64))).toBeNull();
    expect(await problem(words.slice(0, 1024))).toBeNull();
  });

  it("with as many code points as needed, however many code units they take", async () => {
    const animals = "🐐🦊🐙🦉🐝🦔🐢🦩🐳🦜🐘🦥🐌🦦🐪";
    expect([...animals]).toHaveLength(15);
    expect(await problem(animals)).toBeNull();
    expect(await problem(animals.slice(2))).toContain("14 characters");
  });
});

describe("a password is refused with its reason", () => {
  it.each([
    ["too short", "violet kettle", "at least 15"],
    [
      "one byte too long",
      `${"plumbing otter saffron kettle mountain drum violet ".repeat(30).slice(0, 1025)}`,
      "1024 bytes",
    ],
    ["two bytes a character", "é".repeat(513), "1024 bytes"],
    ["one character again and again", "aaaaaaaaaaaaaaaa", "repeats"],
    ["one piece again and again", "abcabcabcabcabcabc", "repeats"],
    ["one word again and again", "пароль пароль пароль", "repeats"],
    ["a common password twice", "iloveyouiloveyou", "repeats"],
    ["the alphabet", "abcdefghijklmnopqrst", "alphabet"],
    ["another alphabet", "абвгдежзийклмнопрст", "alphabet"],
    ["a common password", "password12345678", "many people use"],
    ["the digits", "123456789012345", "many people use"],
    ["the username", "amina.otieno.2024", "username"],
    ["the username without its dot", "AminaOtieno123456", "username"],
    ["the tenant's name", "TurkanaCash2024!!", "tenant's name"],
    ["the tenant's id", "turkana-cash-turkana-cash", "tenant's name"],
    ["this service's name", "Fieldgate123456789", "this service"],
    ["the name in disguise", "F13ldg4te!F13ldg4te!", "this service"],
    ["half a character", `plumbing otter \uD83D saffron`, "cannot be sent"],
    ["NUL", "plumbing otter \0 saffron", "cannot be sent"],
  ])("%s", async (_, password, reason) => {
    expect(await problem(password)).toContain(reason);
  });

  it("by the tenant's own length", async () => {
    expect(await problem("plumbing otter saffron", { minLength: 30 })).toContain("at least 30");
  });

  it("and never tells the password itself", async () => {
    for (const password of ["violet kettle", "Fieldgate123456789", "abcabcabcabcabcabc", "password12345678"]) {
      expect(await problem(password)).not.toContain(password);
    }
  });
});
