"""Who does the work on the pools of a dataset: this process, others of this machine, or Dask's workers."""

from podium.executors.choosing import Engine, executor
from podium.executors.running import Executor, Local, Task

__all__ = ["Engine", "Executor", "Local", "Task", "executor"]
