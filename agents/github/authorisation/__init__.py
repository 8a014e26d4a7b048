"""The authorisation that a user gives at GitHub, so that changes are made in their own name."""
