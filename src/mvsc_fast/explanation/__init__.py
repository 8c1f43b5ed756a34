"""Why a fitted model's labels are what they are: clusters, samples between them, views, choices."""

from ._explain import Explanation, explain

__all__ = ["Explanation", "explain"]
