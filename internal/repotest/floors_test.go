package repotest

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// floors describes which packages of this repository, and which third-party modules, a package
// may import. Imports go down only. A name that ends in /... stands for the packages below it
// too. Tests may import what they need; what is in this literal is about everything else,
// under all build tags.
//
// It is a statement of policy: a change of it is a change of the design, and the reason
// belongs in RATIONALE.md.
var floors = map[string]string{
	// The vocabulary.
	"dtype":                "",
	"math32":               "",
	"internal/simt":        "",
	"gpu":                  "internal/simt dtype",
	"gpu/collective":       "gpu",
	"internal/origin":      "",
	"internal/ptxtext":     "",
	"internal/ptxtext/...": "internal/ptxtext",
	"device/driver":        "dtype gpu internal/origin internal/ptxtext",
	"internal/stack":       "",
	"device":               "device/driver internal/stack dtype gpu",
	"internal/phantom":     "device device/driver",

	// Files of weights, which know no device.
	"weights":                   "dtype x/sys",
	"weights/blocks":            "dtype",
	"weights/blocks/blockstest": "dtype",
	"weights/gguf":              "weights weights/blocks dtype",
	"weights/safetensors":       "weights",
	"weights/formats":           "weights weights/gguf weights/safetensors",
	"weights/checksum":          "weights",

	// The compiler, which knows no device's driver.
	"internal/diag":        "",
	"internal/ir":          "dtype",
	"internal/analysis":    "internal/ir dtype",
	"internal/ir/edit":     "internal/ir internal/analysis dtype",
	"internal/pass":        "internal/ir internal/ir/edit internal/analysis dtype",
	"internal/frontend":    "internal/ir internal/diag device/driver dtype x/tools",
	"internal/backend/...": "internal/backend/cpu/vasm internal/backend/cpu/units internal/backend/cpu/layout internal/backend/cpu/vector internal/ir internal/analysis device/driver dtype",
	"compile/internal/...": "internal/diag internal/ptxtext device/driver dtype x/tools compile/internal/...",
	"compile":              "compile/internal/... internal/frontend internal/ir internal/analysis internal/pass internal/backend/... internal/diag internal/origin device/driver dtype x/tools",

	"internal/lint": "internal/ir internal/analysis internal/pass",
	"vet":           "compile internal/frontend internal/diag internal/lint x/tools",

	// The runtimes, which know no compiler.
	"internal/dl":                     "purego x/sys",
	"internal/dl/stubdll":             "",
	"internal/cudasys/...":            "internal/dl internal/cudasys",
	"internal/toolkit":                "internal/dl",
	"internal/spirv":                  "",
	"internal/ptxspirv":               "internal/spirv internal/ptxinterp/ptx",
	"internal/vulkansys":              "internal/dl",
	"vulkan":                          "internal/ptxspirv internal/ptxinterp/ptx internal/vulkansys device device/driver",
	"internal/streamcopy":             "",
	"internal/rendezvous":             "",
	"internal/turn":                   "",
	"cuda":                            "internal/cudasys internal/streamcopy device device/driver dtype",
	"cuda/gonumblas":                  "cuda cuda/cublas device gonum",
	"cuda/nvml":                       "internal/toolkit internal/dl",
	"cuda/cublas":                     "cuda cuda/internal/library internal/toolkit device device/driver dtype",
	"cuda/nccl":                       "cuda internal/rendezvous internal/toolkit device dtype",
	"cuda/cufft":                      "cuda cuda/internal/library internal/toolkit device dtype",
	"cuda/curand":                     "cuda cuda/internal/library internal/toolkit device",
	"cpu":                             "internal/simt internal/turn gpu device device/driver dtype x/sys",
	"cuda/nvtx":                       "internal/dl",
	"internal/ptxinterp/...":          "internal/ptxinterp/... internal/turn device device/driver dtype",
	"internal/verify/conformance/...": "internal/verify/conformance/... device device/driver dtype gpu gpu/collective math32",
	"internal/verify/conformance/run": "internal/verify/conformance/... . device",
	"internal/kernels/...":            "internal/kernels/row weights/blocks device device/driver dtype gpu math32",
	"internal/kernels/quant":          "internal/kernels/gemm internal/kernels/row weights/blocks device device/driver dtype gpu math32",
	"internal/kernels/row":            "device dtype gpu",
	"internal/kernels/attention":      "internal/kernels/prefill internal/kernels/row device device/driver dtype gpu math32",
	"internal/kernels/attentionback":  "internal/kernels/prefill internal/kernels/row device device/driver dtype gpu math32",
	"internal/kernels/conv":           "internal/kernels/gemm internal/kernels/row device device/driver dtype gpu math32",
	"internal/kernels/kerneltest":     "device cpu cuda internal/kernels/row internal/ptxinterp internal/verify/sweep",
	"internal/kernels/prefilltest":    "internal/kernels/kerneltest internal/kernels/prefill internal/kernels/row device",
	"internal/verify":                 "",
	"internal/verify/ondemand":        "compile internal/verify/sweep",
	"internal/verify/sweep":           "",
	"internal/verify/seeded/...":      "device device/driver dtype gpu",
	"internal/verify/progen":          "",
	"internal/verify/progen/shrink":   "internal/verify/progen",
	"internal/verify/progen/trial":    "internal/verify/progen cpu device device/driver gpu dtype",
	"internal/verify/progen/child":    "",
	"internal/verify/progen/compare":  "internal/verify/progen internal/verify/progen/child internal/verify/progen/trial compile internal/diag internal/ptxinterp device device/driver",
	"internal/verify/progen/long":     "internal/verify/progen internal/verify/progen/child internal/verify/progen/trial internal/verify/progen/compare device",
	"internal/verify/progen/replay":   "internal/verify/progen/trial . cuda device",
	"internal/verify/corpus":          "internal/verify/progen",
	"internal/verify/corpus/runner":   "internal/verify/corpus internal/verify/progen internal/verify/progen/child internal/verify/progen/compare internal/verify/progen/trial internal/diag",
	"internal/verify/mutation":        "x/tools",
	"internal/verify/mutation/runner": "internal/verify/mutation internal/verify/progen",
	"device/devicetest/...":           "device/devicetest/... device device/driver gpu dtype",
	"math32/...":                      ". cpu math32 device device/driver gpu dtype",

	// What packages of NVIDIA's libraries share.
	"cuda/internal/library/...": "cuda cuda/internal/library internal/toolkit internal/cudasys/cudafake device",

	// Kernels that users call.
	"prim":         "device device/driver dtype gpu math32",
	"prim/zvector": "",

	// Text for language models.
	"tokenizer/internal/aligned":     "",
	"tokenizer/internal/bytelevel":   "",
	"tokenizer/internal/pattern":     "tokenizer/internal/aligned regexp2",
	"tokenizer/internal/normalize":   "tokenizer/internal/aligned tokenizer/internal/bytelevel tokenizer/internal/pattern x/text uax29",
	"tokenizer/internal/pretokenize": "tokenizer/internal/aligned tokenizer/internal/normalize tokenizer/internal/pattern",
	"tokenizer/internal/model":       "tokenizer/internal/bytelevel",
	"tokenizer/internal/decode":      "tokenizer/internal/bytelevel tokenizer/internal/pattern",
	"tokenizer":                      "tokenizer/internal/aligned tokenizer/internal/bytelevel tokenizer/internal/pattern tokenizer/internal/normalize tokenizer/internal/pretokenize tokenizer/internal/model tokenizer/internal/decode",
	"chat/internal/jinja":            "",
	"chat":                           "chat/internal/jinja",
	"grammar/internal/regular":       "",
	"grammar/internal/pattern":       "grammar/internal/regular",
	"grammar/internal/machine":       "grammar/internal/regular",
	"grammar/internal/schema":        "grammar/internal/regular grammar/internal/pattern grammar/internal/machine",
	"grammar":                        "grammar/internal/regular grammar/internal/pattern grammar/internal/machine grammar/internal/schema tokenizer",

	// Tensors and models. Only tensor and nn know kernels; train knows those of optimizers, models those of their attention, and
	// model/bert those that reduce the rows of a text.
	"tensor":                  "internal/stack internal/kernels/array internal/kernels/activation internal/kernels/attentionback internal/kernels/conv internal/kernels/dropout internal/kernels/gemm internal/kernels/loss internal/kernels/norm internal/kernels/prefill internal/kernels/rope internal/kernels/row internal/kernels/softmax internal/kernels/strided prim weights weights/safetensors device dtype gpu",
	"nn":                      "tensor weights weights/blocks weights/formats weights/gguf weights/safetensors internal/kernels/... device dtype",
	"train":                   "nn tensor weights weights/safetensors internal/kernels/optimizer internal/stack device dtype",
	"train/text":              "tokenizer chat",
	"train/finetune":          "train/text train llm model/llama model/lora tensor weights device train/events nn weights/gguf dtype cuda/nccl internal/phantom internal/rendezvous",
	"model/lora":              "internal/kernels/lora nn tensor weights weights/safetensors device dtype",
	"train/events":            "",
	"model/llama":             "model/lora nn tensor weights weights/gguf internal/kernels/attention internal/kernels/prefill internal/kernels/rope device dtype",
	"model/llama/llamatest":   "weights weights/gguf weights/safetensors weights/blocks/blockstest dtype",
	"model/bert":              "nn tensor weights weights/formats internal/kernels/pooling internal/kernels/prefill internal/kernels/row device dtype",
	"model/bert/berttest":     "weights weights/safetensors",
	"model/resnet":            "nn tensor weights device dtype",
	"model/resnet/resnettest": "model/resnet weights weights/safetensors",
	"model/efficientnet":      "nn tensor weights device dtype",
	"classify":                "internal/kernels/resize model/efficientnet model/resnet tensor weights weights/formats device dtype",
	"embeddings":              "model/bert tensor tokenizer weights weights/formats device dtype",
	"rerank":                  "model/bert tokenizer weights weights/formats device dtype",
	"llm":                     "model/llama model/lora tensor tokenizer chat grammar weights weights/formats weights/safetensors internal/kernels/sampling device dtype",
	"serve/batch":             "",
	"serve/repository":        "device",
	"serve/spans":             "protobuf",
	"serve/spans/spanstest":   "protobuf",
	"serve/gate":              "serve/batch serve/repository serve/spans llm chat grammar tokenizer",
	"serve/anthropic":         "serve/gate llm chat",
	"serve/page":              "",
	"serve/gate/gatetest":     "",
	"serve/listen":            "",
	"serve/openai":            "serve/batch serve/gate serve/repository serve/listen rerank llm model/llama chat grammar tokenizer prometheus websocket",
	"serve/pictures":          "serve/batch serve/gate serve/repository classify prometheus",
	"serve/kserve":            "serve/batch serve/gate serve/repository classify prometheus",
	"serve/kserve/rpc":        "serve/gate serve/kserve serve/spans connect protobuf",
	"serve/llamacpp":          "serve/gate llm chat grammar tokenizer",

	// What is told of devices.
	"trace":   "device",
	"metrics": "device cuda/nvml prometheus",

	// What programs import first.
	"": "cuda vulkan cpu internal/ptxinterp device trace",

	// The command, and what is built on everything.
	"cmd/...":                   "cmd/... bench/report train/finetune train/text model/llama model/lora weights/gguf weights/safetensors yaml serve/openai serve/anthropic serve/gate serve/repository serve/page llm classify embeddings rerank chat grammar weights weights/checksum weights/formats metrics cuda/cublas cuda/cufft cuda/curand cuda/nccl cuda/nvml prometheus x/ansi x/sys x/term compile vet cuda vulkan cpu device device/driver device/devicetest/... dtype gpu internal/ptxinterp internal/diag internal/dl internal/cudasys . x/tools serve/llamacpp serve/listen serve/kserve serve/pictures serve/spans serve/kserve/rpc",
	"cmd/internal/commandline":  "",
	"cmd/internal/console":      "x/ansi",
	"cmd/internal/build":        "cmd/internal/console compile internal/diag",
	"cmd/kernelgen":             "cmd/internal/build",
	"examples/...":              ". train/finetune llm tensor nn train weights weights/gguf device device/driver dtype gpu math32",
	"bench/...":                 ". device device/driver dtype gpu math32",
	"bench/readme":              "bench/report",
	"bench/report":              "",
	"bench/peers":               "",
	"bench/harness":             "bench/peers bench/report device device/driver",
	"bench/harness/harnesstest": "bench/harness bench/report cpu internal/ptxinterp internal/verify/ondemand device device/driver",
	"bench/public":              "bench/harness bench/report device device/driver dtype gpu math32",
	"bench/suite":               "bench/harness bench/random bench/report model/llama tensor internal/kernels/sampling prim internal/kernels/gemm internal/kernels/matmul cuda/cublas device device/driver dtype gpu math32",
	"bench/compile":             "bench/report compile internal/ir internal/pass internal/backend/...",
	"bench/multi":               "cuda cuda/nccl device",
	"bench/launch":              "bench/report bench/launch/crossing cuda/cublas cuda/cufft internal/cudasys internal/dl . device device/driver gpu",
	"bench/gemm":                "internal/kernels/gemm cuda/cublas . device dtype",
	"bench/attention":           "internal/kernels/attention internal/kernels/attentionback internal/kernels/prefill . device dtype",
	"bench/cached":              "internal/kernels/attention . device dtype",
	"bench/quant":               "internal/kernels/quant weights weights/blocks/blockstest . device dtype",
	"bench/rows":                "internal/kernels/... . device device/driver dtype gpu math32",
	"bench/train":               "nn tensor train . device dtype",
	"bench/decode":              "internal/kernels/matvec . device device/driver dtype gpu math32",
	"bench/serve":               "bench/random llm serve/openai model/llama model/llama/llamatest model/lora tensor tokenizer . device serve/listen",
	"bench/requests":            "classify embeddings model/bert/berttest model/resnet model/resnet/resnettest serve/gate serve/listen serve/openai serve/pictures serve/repository weights/safetensors . device cpu",
	"bench/embed":               "embeddings model/bert tensor weights . device dtype",
	"bench/llm":                 "bench/random llm chat tokenizer model/llama model/lora train tensor internal/kernels/sampling . device weights dtype",
	"bench/random":              "model/llama/llamatest weights weights/blocks/blockstest weights/gguf weights/safetensors dtype",
	"bench/random/write":        "bench/random",
	"bench/classify":            "model/resnet model/resnet/resnettest tensor weights . device dtype",
	"bench/suite/run":           "bench/suite bench/public bench/harness bench/peers bench/report . device device/driver",
	"bench/suite/unchecked":     "compile device/driver",
	"bench/start/ptx":           "compile",
	"deploy/image":              "xz",
	"deploy/kubernetes/check":   "",
	"internal/repotest":         "",
}

// modules are the third-party modules, by the word that floors uses.
var modules = map[string]string{
	"github.com/ebitengine/purego":        "purego",
	"go.yaml.in/yaml/v3":                  "yaml",
	"golang.org/x/tools":                  "x/tools",
	"gonum.org/v1/gonum":                  "gonum",
	"golang.org/x/sys":                    "x/sys",
	"github.com/google/go-cmp":            "go-cmp",
	"github.com/charmbracelet/x/ansi":     "x/ansi",
	"golang.org/x/term":                   "x/term",
	"github.com/google/pprof":             "pprof",
	"github.com/prometheus/client_golang": "prometheus",
	"github.com/dlclark/regexp2/v2":       "regexp2",
	"connectrpc.com/connect":              "connect",
	"github.com/coder/websocket":          "websocket",
	"google.golang.org/protobuf":          "protobuf",
	"github.com/clipperhouse/uax29/v2":    "uax29",
	"golang.org/x/text":                   "x/text",
	"github.com/ulikunitz/xz":             "xz",
}

// vectors is what a package of vector code is called, which a build writes and only the package above it imports.
const vectors = "zvector"

// strangers never meet in one package, not even through others, except in those above them.
var strangers = struct{ a, b, above string }{"compile", "cuda", "cmd/..."}

func TestFloors(t *testing.T) {
	for dir, p := range load(t).packages {
		allowed, ok := floorOf(dir)
		if !ok {
			t.Errorf("%s: the package has no floor; add it to floors with what it may import", dir)
			continue
		}
		for _, imp := range p.imports {
			if !matchesAny(imp.word, allowed) && imp.word != path.Join(dir, vectors) {
				t.Errorf("%s imports %s, which is not on a floor below it; move the code that both need down, or turn the call round (an argument, an interface declared here)", imp.file, imp.word)
			}
		}
	}
}

func TestStrangersNeverMeet(t *testing.T) {
	packages := load(t).packages
	for dir := range packages {
		reached := reach(packages, dir)
		if reached[strangers.a] && reached[strangers.b] && !matches(dir, strangers.above) {
			t.Errorf("%s reaches both %s and %s; what they share belongs in device/driver or dtype", dir, strangers.a, strangers.b)
		}
	}
}

// TestFloorsGoDown demands that the literal itself has no circle, so that "below" means
// something even for packages that are not written yet.
func TestFloorsGoDown(t *testing.T) {
	for name := range floors {
		seen := map[string]bool{}
		todo := strings.Fields(floors[name])
		for len(todo) > 0 {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if next == name && !strings.HasSuffix(name, "/...") {
				t.Errorf("floors lets %s import itself through others; take one of the steps out", name)
				break
			}
			if !seen[next] {
				seen[next] = true
				todo = append(todo, strings.Fields(floors[strings.TrimPrefix(next, ".")])...)
			}
		}
	}
}

// TestModulesAreKnown demands that every third-party module of go.mod has a word here.
func TestModulesAreKnown(t *testing.T) {
	mod := string(load(t).files["go.mod"])
	for line := range strings.Lines(mod) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) < 2 || !strings.HasPrefix(fields[1], "v") || strings.Contains(line, "// indirect") {
			continue
		}
		if _, ok := modules[fields[0]]; !ok {
			t.Errorf("go.mod requires %s; add it to modules here, to floors for the package that needs it, and the reason to RATIONALE.md", fields[0])
		}
	}
}

// floorOf returns what the package in dir may import: the rule of its own name, or else of
// the longest pattern that matches.
func floorOf(dir string) ([]string, bool) {
	if rule, ok := floors[strings.TrimPrefix(dir, ".")]; ok {
		return strings.Fields(rule), true
	}
	names := slices.Sorted(maps.Keys(floors))
	for _, name := range slices.Backward(names) {
		if matches(dir, name) {
			return strings.Fields(floors[name]), true
		}
	}
	return nil, false
}

// matches reports whether the package in dir is the pattern or, for dir/..., below it.
func matches(dir, pattern string) bool {
	base, tree := strings.CutSuffix(pattern, "/...")
	return dir == base || tree && strings.HasPrefix(dir, base+"/")
}

func matchesAny(dir string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(dir, p) })
}

// reach returns the packages of this repository that dir imports, also through others, and
// itself.
func reach(packages map[string]*pkg, dir string) map[string]bool {
	reached := map[string]bool{}
	var walk func(string)
	walk = func(dir string) {
		if reached[dir] || packages[dir] == nil {
			return
		}
		reached[dir] = true
		for _, imp := range packages[dir].imports {
			walk(path.Clean(imp.word))
		}
	}
	walk(dir)
	return reached
}
