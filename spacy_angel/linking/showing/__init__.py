"""Links for a person: pictures, pages and explanations."""
