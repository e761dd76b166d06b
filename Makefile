# What the targets do stands in CONTRIBUTING.md. Nothing here is needed to use the project.

.PHONY: test check generate gpu clean

# The README's tests: no GPU, no C compiler.
test:
	go test ./...

# All that CI checks. Needs a C compiler for the race detector.
check:
	.ci/run

# Writes the launchers of the repository's own kernels anew.
generate:
	go run ./cmd/kernelgen ./...

# A folder, dist/gpu, with all that a bare NVIDIA machine needs to verify and measure.
gpu:
	bench/gpu/bundle dist/gpu

clean:
	rm -rf dist
