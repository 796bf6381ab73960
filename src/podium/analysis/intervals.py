"""How far a share that was counted may be off."""

import math

STANDARD_ERRORS = 1.959963984540054  # on either side of a mean, for 95 of 100


def share_interval(share: float, count: float) -> tuple[float, float]:
    """The 95 % interval of a share among so many, as if each came about by itself.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (1927).
    """
    z = STANDARD_ERRORS**2 / count
    middle, reach = share + z / 2.0, math.sqrt(share * (1.0 - share) * z + z * z / 4.0)
    return (middle - reach) / (1.0 + z), (middle + reach) / (1.0 + z)
