"""Events as their pages tell of them, each read in one transaction."""

from podium.store.insights.career_reader import CareerReader
from podium.store.insights.event_story import EventStory, event_story


class StoryReader(CareerReader):
    """Pools with what the pages of events tell."""

    def event_story(self, pool_name: str, event_id: str, player: str | None = None) -> EventStory:
        """Tell of an event, and why it moved the rating of one player.

        Args:
            player: whose change is explained; the one that surprises most where None.

        Returns:
            Its content and changes, the explanation and what might have been, and what was done to it.

        Raises:
            UnknownError: no such pool or event, or the player is not rated in it.
        """
        with self.reading(pool_name) as (connection, pool):
            return event_story(connection, pool, event_id, player)
