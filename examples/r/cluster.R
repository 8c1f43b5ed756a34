# Clusters of samples that two data frames describe, from R through reticulate.
#
# Rscript cluster.R [PYTHON]: the Python that has mvsc-fast and pandas (< 3 for reticulate 1.28,
# with numpy < 2).

library(reticulate)
python <- commandArgs(trailingOnly = TRUE)
if (length(python)) use_python(python[1], required = TRUE)
mvsc <- import("mvsc_fast")

# Data frames with one row for each sample. Their row names are the ids of the samples.
set.seed(1)
group <- rep(1:3, each = 40)
assay <- function(columns, prefix) {
  means <- matrix(rnorm(3 * columns, sd = 2), 3)
  values <- means[group, ] + matrix(rnorm(120 * columns), 120)
  dimnames(values) <- list(sprintf("sample%03d", 1:120), paste0(prefix, 1:columns))
  as.data.frame(values)
}
views <- list(rna = assay(30, "gene"), protein = assay(8, "protein")[sample(120), ])

# The two have the same samples in another order: align() matches them by id.
views <- mvsc$views$align(views)
model <- mvsc$ConsensusTLRR(n_clusters = 3, random_state = 0)$fit(views)
labels <- setNames(model$labels_, rownames(views$rna))
print(table(labels, group = group[as.integer(substr(names(labels), 7, 9))]))

# Labels of other samples, and what distinguishes the clusters.
print(model$predict(list(rna = views$rna[1:5, ], protein = views$protein[1:5, ])))
cat(as.character(mvsc$explain(model, views)), "\n")
