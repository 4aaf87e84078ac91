"""A technique that counts its looks: how tests see what is kept from one to the next."""
