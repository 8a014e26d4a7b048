/** Of the answers to a question that is asked again and again: an older one may come after a newer one, and does not count then. */
export class Newest {
  private asked = 0;
  private answered = 0;

  /** Begin to ask. What this gives tells of the answer, once it is there, whether it counts. */
  ask(): () => boolean {
    const question = ++this.asked;
    return () => {
      if (question < this.answered) return false;
      this.answered = question;
      return true;
    };
  }

  /** What is asked about has changed: no answer counts that was asked for before. */
  outdate(): void {
    this.answered = ++this.asked;
  }
}
