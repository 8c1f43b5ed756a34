"""What a fitted model stores with keep="labels", and that nothing needs the rest."""

import pickle

import numpy as np
import pytest

from mvsc_fast import SNN, TLRR, ConsensusTLRR, datasets

SIZES = [("dense", {"max_iter": 0}), ("sparse", {}), ("sample", {"max_samples": 100})]


@pytest.fixture(scope="module")
def views():
    return datasets.make_multiview_subspaces(150, 3, random_state=0)[0]


def same_model(estimator, views):
    """Both ways of the same fit, as they come back from a pickle, and the larger over the smaller.

    They have the same labels, and predict the same.
    """
    everything, labels = (
        pickle.dumps(estimator.set_params(keep=keep).fit(views)) for keep in ("all", "labels")
    )
    first, second = pickle.loads(everything), pickle.loads(labels)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.view_support_, second.view_support_)
    np.testing.assert_array_equal(first.predict(views), second.predict(views))
    for name in ("affinity_", "embedding_"):
        assert hasattr(first, name) and not hasattr(second, name)
    return first, second, len(everything) / len(labels)


@pytest.mark.parametrize(("size", "parameters"), SIZES, ids=[size for size, _ in SIZES])
def test_tlrr(views, size, parameters):
    first, second, ratio = same_model(TLRR(3, size=size, random_state=0, **parameters), views)
    assert ratio > 3
    assert set(vars(first)) - set(vars(second)) == {
        "affinity_", "embedding_", "similarity_", "tensor_",
    }  # fmt: skip
    assert second.path_.labels is None and second.path_.best == first.path_.best
    with pytest.raises(AttributeError, match='keep="labels" has not stored tensor_'):
        second.tensor_  # noqa: B018
    with pytest.raises(AttributeError, match="object has no attribute 'tensors'"):
        second.tensors  # noqa: B018


def test_consensus(views):
    first, second, ratio = same_model(ConsensusTLRR(3, random_state=0), views)
    assert ratio > 1.3  # predict needs 600 landmarks, here all samples
    assert all(one.labels is None for one in second.candidates_)
    assert [c.predictability for c in first.candidates_] == [
        c.predictability for c in second.candidates_
    ]


def test_what_others_need_of_a_model_is_there(views):
    inner = {keep: TLRR(3, keep=keep, random_state=0, max_iter=0) for keep in ("all", "labels")}
    first, second = (SNN(3, graph=inner[keep], tol=1e-4, random_state=0) for keep in inner)
    np.testing.assert_array_equal(first.fit_predict(views), second.fit_predict(views))
    fitted = inner["labels"].fit(views)
    assert SNN(3, graph=fitted, tol=1e-4).fit(views).tensor_.shape[1:] == (150, 150)
