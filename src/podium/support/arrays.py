"""Names for the types of arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.signedinteger[Any]]
Mask = npt.NDArray[np.bool_]
