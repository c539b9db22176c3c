// Who is looking?

import {api, key} from "./api.js";

const STRANGER = Object.freeze({name: "anyone", groups: [], scopes: [], admin: false, auth: "open"});
let asked = null;

/** Who the service takes this person for; asked once, until a key comes or goes. */
export function session() {
  asked ??= api.whoami().catch(() => {
    asked = null;
    return STRANGER;
  });
  return asked;
}

/** Keep this key and ask who it makes of the person. A key that the service does not take is forgotten at once. */
export async function signIn(text) {
  const before = key.get();
  key.set(text);
  asked = null;
  try {
    const who = await api.whoami();
    asked = Promise.resolve(who);
    dispatchEvent(new Event("session"));
    return who;
  } catch (error) {
    key.set(before);
    throw error;
  }
}

export function signOut() {
  key.set("");
  asked = null;
  dispatchEvent(new Event("session"));
}

export const signedIn = () => Boolean(key.get());
