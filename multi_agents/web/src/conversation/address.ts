const PLACE = "#/c/";
const ID = /^[\w.:-]{1,128}$/;

/**
 * The conversation that the address bar names; empty for none. It stands behind `#`, which a browser sends to no server.
 * It is whatever somebody wrote there: `mayExist` says whether an agent may have a conversation of this id.
 */
export function conversationInAddress(): string {
  if (!location.hash.startsWith(PLACE)) return "";
  const written = location.hash.slice(PLACE.length);
  try {
    return decodeURIComponent(written);
  } catch {
    return written; // not escaped as addresses are
  }
}

export function mayExist(id: string): boolean {
  return ID.test(id);
}

export function showInAddress(id: string): void {
  const target = id ? `${PLACE}${id}` : location.pathname;
  if (conversationInAddress() !== id) history.pushState(null, "", target);
}

export function onAddress(listener: () => void): () => void {
  addEventListener("popstate", listener);
  return () => removeEventListener("popstate", listener);
}
