% Clusters of samples that two matrices describe, from Octave through the command line.
%
% octave cluster.m [COMMAND]: the command mvsc-fast, with its folder if it is not on the path.

arguments = argv();
command = "mvsc-fast";
if numel(arguments), command = arguments{end}; end

% Three groups of 40 samples; columns are samples, as in most published files.
randn("seed", 1);
gt = kron(1:3, ones(1, 40))';
X = {2 * randn(30, 3)(:, gt) + randn(30, 120), 2 * randn(8, 3)(:, gt) + randn(8, 120)};
folder = tempname();
mkdir(folder);
save("-v7", fullfile(folder, "study.mat"), "X", "gt");

% The command reads the file and writes a table of labels, which have the order of the samples.
data = fullfile(folder, "study.mat");
output = fullfile(folder, "labels.csv");
status = system(sprintf('"%s" cluster "%s" --transpose --clusters 3 > "%s"', command, data, output));
if status, error("mvsc-fast ended with status %d", status); end
labels = dlmread(output, ",", 1, 1)(:, 1);
printf("%d of %d samples are in the cluster of their group\n", ...
       sum(max(accumarray([gt labels + 1], 1), [], 2)), numel(gt));
