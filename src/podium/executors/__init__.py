"""Who does the work on the pools of a dataset: this process, others of this machine, or Dask's workers."""

from podium.executors.choosing import Engine, executor
from podium.executors.running import Executor, Function, Local, Task

__all__ = ["Engine", "Executor", "Function", "Local", "Task", "executor"]
