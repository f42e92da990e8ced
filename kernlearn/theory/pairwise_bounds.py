r"""What online learning from pairs is promised: Kar (2013), theorems 6.3, 6.5, 6.6, 6.9, 6.13.

The theorems hide constants in O(). Here they are as the proofs of section 6.12 have them, with the
probability of failure δ shared out over all events that the proofs put together (most often log
n/δ becomes log 2n/δ). Where the proofs have slips, what is returned holds, and the notes of the
function say so.

A complexity :math:`\mathcal{R}_m(\ell \circ \mathcal{H})` of the losses is given as a number c for
:math:`c / \sqrt{m}`, as in all of tables 6.1 to 6.3, or as a function of m;
:func:`contracted_complexity` makes it out of one of :math:`\mathcal{H}`.
"""

from kernlearn.theory._fast_rates import fast_rate_bound, finite_buffer_fast_rate_bound
from kernlearn.theory._slow_rates import (
    ExcessRiskBound,
    contracted_complexity,
    excess_risk_bound,
    finite_buffer_excess_risk_bound,
)
from kernlearn.theory._stream_regret_bounds import (
    all_pairs_regret_bound,
    olp_buffer_regret_bound,
    olp_regret_bound,
)

__all__ = [
    "ExcessRiskBound",
    "all_pairs_regret_bound",
    "contracted_complexity",
    "excess_risk_bound",
    "fast_rate_bound",
    "finite_buffer_excess_risk_bound",
    "finite_buffer_fast_rate_bound",
    "olp_buffer_regret_bound",
    "olp_regret_bound",
]
