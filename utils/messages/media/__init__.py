"""Pictures and documents in messages: their forms, sizes, costs and handles."""
