"""Why a rating moved: the duels and other causes of a change, their shares, and the words for them."""
