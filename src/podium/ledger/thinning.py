"""A long history as so many points as a screen can show."""

import numpy as np
import numpy.typing as npt

POINTS_A_COLUMN = 4  # the first, the lowest, the highest and the last


def thinned(times: npt.NDArray[np.int64], ratings: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.int64]:
    """The numbers of at most so many points, in their order: of each column of pixels the outermost.

    Args:
        times: rising; they are the places on the screen from left to right.
        ratings: the heights.
        most: at least `POINTS_A_COLUMN`.
    """
    if times.size <= most:
        return np.arange(times.size)
    columns = most // POINTS_A_COLUMN
    width = max(int(times[-1]) - int(times[0]), 1)
    column = np.minimum((times - times[0]) / width * columns, columns - 1).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    taken = set[int]()
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), times.size], strict=True):
        heights = ratings[start:stop]
        taken |= {start, start + int(heights.argmin()), start + int(heights.argmax()), stop - 1}
    return np.array(sorted(taken))
