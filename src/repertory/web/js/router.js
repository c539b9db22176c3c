// Which view is open?
//
// The state of the page is in the fragment of its address, #/entry/tool:calendar/create_event, so that a link reproduces it. The fragment
// is never sent: what people look for stays out of the logs of every server between.

/** What the address says: {room, rest, values}. The first part of the path names the room; the rest may hold slashes. */
export function read(hash = location.hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [, room, rest = ""] = /^([^/]*)\/?(.*)$/s.exec(path);
  return {room, rest: decode(rest), values: new URLSearchParams(search)};
}

export function link(room, rest = "", values = {}) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== "" && one !== false) given.append(name, one === true ? "1" : one);
  }
  const query = given.toString();
  return `#/${room}${rest ? `/${inPath(rest)}` : ""}${query ? `?${query}` : ""}`;
}

const inPath = id => encodeURIComponent(id).replaceAll("%2F", "/").replaceAll("%3A", ":"); // readable: nobody but this module reads it

export const entryLink = id => link("entry", id);
/** An entry at one of its passages: of a file the section that the number behind the # names. */
export const passageLink = ({id, document_id: passage}) => link("entry", id, {at: /#(\d+)$/.exec(passage)?.[1]});
export const searchLink = values => link("", "", values);

/** Change the address without opening anything: typing is not travelling. */
export const replace = hash => history.replaceState(history.state, "", hash);
export const go = hash => {
  location.hash = hash;
};

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
