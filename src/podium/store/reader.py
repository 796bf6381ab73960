"""Read from a store, in one transaction per read. Each transaction sees a single version."""

from collections.abc import Iterator, Sequence

from podium.log.database import close_engine, open_database
from podium.log.files import truncate_wal
from podium.log.log import Head
from podium.log.pools import SELECT_PUBLIC, Pool, every_pool, other_arithmetic
from podium.store import hindsight, kept
from podium.store import pool_facts as whole
from podium.store.following import PoolReader
from podium.store.moments import Moment, Moments, reads
from podium.store.verification import Verification, verify_database
from podium.store.writing import administration, reports, sheet_corrections
from podium.store.writing import sheets as brought
from podium.store.writing.pool_files import export_lines
from podium.views import cards, events, headlines
from podium.views import names as player_names
from podium.views import rivals as opponents
from podium.views.board import listed_count, tier_scores
from podium.views.boards import daily, pages, ranks, search
from podium.views.boards.seasons import final_leaderboard, final_leaderboards, season_leaderboard, seasons, standings
from podium.views.details import detail_choices, player_details, player_ids
from podium.views.models import PoolSummary
from podium.views.player_models import FoundPlayer
from podium.views.races import ahead, explanations, fixtures, records
from podium.views.results import counting_results, rate_results, starting_ratings


class Reader(Moments):
    """Read access to pools of results and their ratings.

    Methods that take a pool's name raise `UnknownError` if it does not exist.
    """

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        """Open the database, and upgrade its schema.

        Args:
            url: the path of an SQLite file, or a database URL for SQLAlchemy.
            must_exist: True to raise an error instead of creating a new database.

        Raises:
            StoreError: the database cannot be opened.
        """
        super().__init__(open_database(url, must_exist=must_exist))

    def close(self, patience_s: float = 0.0) -> None:
        """Close the connections. An SQLite database is then complete in its file, unless other processes still use it.

        Args:
            patience_s: number of seconds to wait for other threads of this process that are still reading.
        """
        truncate_wal(self.engine)
        close_engine(self.engine, patience_s)

    def pools(self) -> list[Pool]:
        """List all pools.

        Returns:
            The pools with their systems, sorted by name.
        """
        return self.read(lambda moment: [*every_pool(moment.connection)])

    def _every_pool(self, moment: Moment) -> Iterator[PoolReader]:
        return map(moment.reader, every_pool(moment.connection))

    def public_pools(self) -> frozenset[str]:
        """List the names of the pools that anyone may read.

        Returns:
            The names.
        """
        return self.read(lambda moment: frozenset(moment.connection.execute(SELECT_PUBLIC).scalars()))

    def pool_summaries(self) -> tuple[PoolSummary, ...]:
        """List every pool with its parameters, and with a warning if the system does not suit the pool.

        Returns:
            One summary per pool, sorted by name.
        """
        return self.read(lambda moment: tuple(map(ranks.pool_summary, self._every_pool(moment))))

    pool_summary = reads(ranks.pool_summary)
    pool_facts = reads(whole.pool_facts)
    best_ever = reads(hindsight.best_ever)
    hindsight_day = reads(hindsight.hindsight_day)

    # The log

    cache = reads(kept.read)
    version = reads(PoolReader.version)
    edition = reads(PoolReader.edition)
    log = reads(records.listing)
    newest_log = reads(records.newest_listing)
    news = reads(events.news, as_stored=True)
    match = reads(administration.match_of)
    waiting_matches = reads(administration.waiting_matches)
    sheets = reads(brought.sheets)
    find_gone = reads(sheet_corrections.find_gone)
    next_event_id = reads(brought.next_event_id)

    # Upcoming races

    fixture = reads(fixtures.get_fixture)
    places = reads(fixtures.places_now)
    fixtures = reads(fixtures.fixtures)
    running_race = reads(ahead.running_race)
    newest_heats = reads(ahead.newest_heats)
    seeds = reads(ahead.seeds_of)
    stakes = reads(ahead.stakes_of)

    def export_pool(self, pool_name: str) -> Iterator[str]:
        """Export a pool as lines of JSON: its log with the hash chain, and the names of its players.

        Yields:
            A header, one line per player, and one line per log entry, all from the same version.

        Raises:
            StoreError: the log has no hash chain yet, or its chain is broken.
        """
        with self.reading(pool_name) as pool:
            yield from export_lines(pool)

    def verify(self, pool_name: str | None = None) -> list[str]:
        """Compare the derived tables with a complete recalculation from the log.

        Args:
            pool_name: the pool. Default: all pools.

        Returns:
            One sentence per difference. The list is empty if everything agrees exactly.
        """
        return self.verification(pool_name).findings

    def verification(self, pool_name: str | None = None, heads: Sequence[Head] = ()) -> Verification:
        """Check the chain of the log, and compare the stored data with a complete recalculation.

        At the same time, SQLite checks its file. An error in one pool does not stop the check of the others.

        Args:
            pool_name: the pool. Default: all pools.
            heads: heads from receipts. Each must exist in the log of one of the pools.

        Returns:
            The number of items compared, and the findings.

        Raises:
            UnavailableError: the database is currently unavailable.
            UnknownError: the pool does not exist.
        """
        return verify_database(self.engine, self.snapshots, pool_name, heads)

    # Boards

    leaderboard = reads(pages.leaderboard)
    listed_count = reads(listed_count)
    board = reads(ranks.board)
    tier_scores = reads(tier_scores)
    page_of = reads(pages.page_of)
    newest_entrants = reads(pages.newest_entrants)
    movers = reads(headlines.movers)
    largest_gains = reads(headlines.largest_gains)
    distribution = reads(ranks.distribution)
    group_ranks = reads(ranks.group_ranks)
    seasons = reads(seasons)
    equipment = reads(search.equipment)
    order = reads(ranks.pool_order)
    season_leaderboard = reads(season_leaderboard)
    final_leaderboard = reads(final_leaderboard)
    final_leaderboards = reads(final_leaderboards)
    standings = reads(standings)
    snapshot_days = reads(daily.days)
    ranks_on = reads(daily.ranks_on)

    def search(self, text: str, pools: Sequence[str] | None = None, *, most: int = 10) -> tuple[FoundPlayer, ...]:
        """Find players by the beginning of their names, including former names.

        Args:
            text: the beginning of a name. Case and accents are ignored.
            pools: the pools to search. Default: all pools.
            most: maximum number of players.

        Returns:
            The players, highest rating first. If no name matches, they are players with similar names.
        """

        def find(moment: Moment) -> tuple[FoundPlayer, ...]:
            known = [pool for pool in self._every_pool(moment) if pools is None or pool.name in pools]
            if len(known) > 1:
                known = [pool for pool in known if not other_arithmetic(pool)]  # the other pools can be searched
            return search.search(known, text, most)

        return self.read(find)

    # Reports of players

    links, player_with = reads(reports.links), reads(reports.player_with)
    list_reports, races_to_report = reads(reports.list_reports), reads(reports.races_to_report)
    count_waiting_reports = reads(reports.count_waiting)

    # Players

    rank = reads(ranks.rank)
    ranks_of = reads(daily.ranks_of_player)
    neighbours = reads(pages.neighbours)
    player_card = reads(cards.player_card)
    frequent_players = reads(player_names.frequent_players)
    player_changes = reads(cards.changes_page)
    rating_curve = reads(cards.rating_curve)
    hindsight_curve = reads(hindsight.curve_of)
    rivals = reads(opponents.rivals)
    rivalry = reads(opponents.rivalry)
    compare = reads(opponents.comparison)
    system_and_states = reads(events.system_and_states)

    player = reads(ranks.player)
    starting_ratings = reads(starting_ratings)
    player_details, player_ids, detail_choices = reads(player_details), reads(player_ids), reads(detail_choices)
    predict = reads(ahead.predicted)

    # Events

    results = reads(counting_results)
    history = reads(events.history)
    ledger = reads(events.ledger)
    event = reads(events.event_details)
    event_list = reads(headlines.event_list)
    event_moments = reads(headlines.event_moments)
    event_count = reads(headlines.count_events)
    adjacent_events = reads(headlines.adjacent_events)
    event_story = reads(explanations.event_story)
    event_field = reads(whole.event_field)
    event_record = reads(records.event_record)
    made_up = reads(records.made_up)
    reasons = reads(events.reasons)
    explain = reads(events.explanation)
    what_if = reads(events.alternatives)

    rated = reads(rate_results)
    fair_expectation = reads(whole.fair_expectation_of)
