"""What leaves the site: feeds, badges, a board to embed, and pictures of a change."""
