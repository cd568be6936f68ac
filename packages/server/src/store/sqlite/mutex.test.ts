import { expect, test } from "vitest";
import { StoreUnavailable } from "../store.ts";
import { Mutex } from "./mutex.ts";

test("lets one in at a time, in the order in which they came", async () => {
  const mutex = new Mutex();
  const order: number[] = [];
  let inside = 0;
  const visit = async (i: number) => {
    await mutex.take(1000);
    expect(++inside).toBe(1);
    await Promise.resolve();
    order.push(i);
    inside--;
    mutex.pass();
  };
  await Promise.all([0, 1, 2, 3, 4, 5].map(visit));
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
});

test("whoever waits too long is told, and loses its place", async () => {
  const mutex = new Mutex();
  await mutex.take(1000);
  const impatient = mutex.take(10);
  const patient = mutex.take(1000);
  await expect(impatient).rejects.toBeInstanceOf(StoreUnavailable);
  mutex.pass();
  await patient;
  const last = mutex.take(1000);
  mutex.pass();
  await last;
  mutex.pass();
  await mutex.take(0);
});
