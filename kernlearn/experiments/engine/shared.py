"""Training that the trials of a group share: it is done once in a process, then remembered."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from kernlearn.experiments.engine.environment import recorded_warnings, warn_again
from kernlearn.experiments.engine.spec import Trial

_MOST_RESULTS = 8


class Shared:
    """Results of functions, remembered by their arguments, for the trials of one group.

    It has the interface by which scikit-learn's estimators use :class:`joblib.Memory`.

    Attributes
    ----------
    hits : int
        How many results were not computed again.
    """

    def __init__(self) -> None:
        self._group = ""
        self._results: OrderedDict[str, Any] = OrderedDict()
        self.hits = 0

    def __deepcopy__(self, memo: Any) -> "Shared":
        """Return itself: clones of an estimator share what it remembers, and do not copy it."""
        return self

    def __reduce__(self) -> Any:
        """In another process it starts empty: results are large."""
        return Shared, ()

    def enter(self, trial: Trial) -> None:
        """Forget all results if the trial belongs to another group than the last one."""
        if (group := trial.group) != self._group:
            self._results.clear()
            self._group = group

    def cache(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with memory; its results must not be changed."""

        def remembered(*arguments: Any) -> Any:
            import joblib

            key = joblib.hash((function.__module__, function.__qualname__, arguments))
            if key in self._results:
                self.hits += 1
                self._results.move_to_end(key)
                result, caught = self._results[key]
            else:
                with recorded_warnings() as caught:
                    result = function(*arguments)
                self._results[key] = result, caught
                if len(self._results) > _MOST_RESULTS:
                    self._results.popitem(last=False)
            warn_again(caught)
            return result

        return remembered
