"""What iterations repeat: penalties, costly residuals only where they count, and the ends."""

import numpy as np

from mvsc_fast.solvers._run import Run


def test_penalties_grow_up_to_their_cap():
    run = Run(0.0, 5, None, mu=1.0, rho=3.0, mu_max=20.0)
    seen = []
    for mu in run:
        seen.append((mu, run.next_mu, run.growth))
        run.record(1.0)
    assert [mu for mu, _, _ in seen] == [1.0, 3.0, 9.0, 20.0, 20.0]
    assert all(after == mu * growth for mu, after, growth in seen)
    assert run.n_iter == 5 and not run.converged


def test_a_costly_measure_is_taken_only_where_it_could_stop_the_run():
    calls = []

    def costly(value):
        def measure():
            calls.append(value)
            return value

        return measure

    run = Run(0.1, 10, None, mu=1.0)
    assert run.largest(0.2, costly(5.0)) == 0.2 and calls == []
    assert run.largest(0.05, 0.01, costly(0.3), costly(0.4)) == 0.3 and calls == [0.3]
    for _ in run:
        run.record(0.05, costly(0.07), costly(0.06))
    assert run.converged and run.n_iter == 1 and calls == [0.3, 0.07, 0.06]
    np.testing.assert_array_equal(run.history["residual"], [0.07])


def test_the_callback_sees_every_iteration_and_stops_the_run():
    states = []

    def callback(state):
        states.append(state)
        return state.iteration == 3

    run = Run(0.0, 10, callback, mu=1.0)
    for _ in run:
        run.record(1.0 / (run.n_iter + 1))
    assert [(s.iteration, s.residual) for s in states] == [(1, 1.0), (2, 0.5), (3, 1.0 / 3)]
    assert run.n_iter == 3 and not run.converged


def test_the_history_has_further_measures():
    run = Run(0.0, 2, None)
    for _ in run:
        run.record(1.0, objective=5.0 - run.n_iter)
    np.testing.assert_array_equal(run.history["objective"], [5.0, 4.0])


def test_no_iterations():
    run = Run(0.0, 0, None, mu=1.0)
    assert list(run) == [] and len(run.history["seconds"]) == 0
