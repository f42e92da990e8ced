"""The engine: plans of trials, what a trial does, and who runs them."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "": "run",
        "executors": "Executor make_executor",
        "plan": "Plan chosen_by_mean make_plan",
        "run": "Choice Interrupts Listener parse_only run_plan trial_states trials_to_run",
    },
)
