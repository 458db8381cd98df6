from .workload import Workload

__all__ = ["Workload"]
