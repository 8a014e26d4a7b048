const FORM = /^#\/c\/([\w.:-]{1,128})$/;

/** The conversation that the address bar names. It stands behind `#`, which a browser sends to no server. */
export function conversationInAddress(): string {
  return FORM.exec(location.hash)?.[1] ?? "";
}

export function showInAddress(id: string): void {
  const target = id ? `#/c/${id}` : location.pathname;
  if (conversationInAddress() !== id) history.pushState(null, "", target);
}

export function onAddress(listener: () => void): () => void {
  addEventListener("popstate", listener);
  return () => removeEventListener("popstate", listener);
}
