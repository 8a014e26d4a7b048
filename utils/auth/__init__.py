"""Who calls: credentials, what they prove, and what they allow."""
