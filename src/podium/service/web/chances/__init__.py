"""The pages of chances: two players beside each other, and a whole field."""
