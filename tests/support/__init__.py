"""What tests share and the product does not need."""
