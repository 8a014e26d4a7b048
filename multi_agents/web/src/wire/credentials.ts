/** Who this page says it is. Kept in memory alone: a reload forgets it, and nothing else on this machine can read it. */
export class Credentials {
  private authorization = "";
  /** Told when a token took the place of one that ends. */
  onRenewed: () => void = () => undefined;

  /** Whether a key or a token is used. */
  get known(): boolean {
    return this.authorization !== "";
  }

  /** The headers of each request. */
  headers(): Record<string, string> {
    return this.authorization ? { Authorization: this.authorization } : {};
  }

  /** Use a key or an access token from now on; an empty one is none. */
  useToken(token: string): void {
    this.authorization = token ? `Bearer ${token}` : "";
  }
}
