import numpy as np
import scipy.sparse

from mvsc_fast.neighbors import NeighborsPath
from mvsc_fast.plots import plot_neighbors_path, plot_similarity


def test_samples_are_sorted_by_label():
    y = np.array([0, 1, 0, 1])
    S = (y[:, None] == y).astype(float)
    figure = plot_similarity(S, 0 * S, y)
    image = figure.axes[0].images[0].get_array()
    np.testing.assert_array_equal(image, np.kron(np.eye(2), np.ones((2, 2))))


def test_the_chosen_size_is_marked(tmp_path):
    path = NeighborsPath(
        n_neighbors=np.array([6, 6, 8, 8]),
        tau=np.ones(4),
        embedding=np.array(["c", "2c", "c", "2c"]),
        labels=np.zeros((4, 3)),
        predictability=np.array([0.5, 0.9, 0.7, 0.8]),
        best=1,
    )
    figure = plot_neighbors_path(path)
    assert "chosen: 6" in figure.axes[0].get_legend_handles_labels()[1]
    figure.savefig(tmp_path / "path.png")


def test_large_and_sparse_affinities_are_thinned():
    labels = np.arange(5000) % 3
    A = scipy.sparse.csr_array((np.ones(5000), (np.arange(5000), labels)), shape=(5000, 5000))
    figure = plot_similarity(A, A, labels)
    (image,) = figure.axes[0].get_images()
    assert image.get_array().shape == (1667, 1667)
