package resnet_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// judge prints the scores of torchvision's ResNet-50 for images in the layout [images height width channels].
const judge = `
import json, sys, torch, torchvision
from safetensors.torch import load_file
model = torchvision.models.resnet50(num_classes=1000)
missing = model.load_state_dict(load_file(sys.argv[1]), strict=False)
assert not missing.unexpected_keys and all(k.endswith("num_batches_tracked") for k in missing.missing_keys), missing
pixels, shape = json.load(sys.stdin)
with torch.inference_mode():
    print(json.dumps(model.eval()(torch.tensor(pixels).reshape(shape).permute(0, 3, 1, 2)).tolist()))
`

// TestTorchvision compares the scores of a ResNet-50 with random weights with those of torchvision, in float32. The environment variable
// GOPHERWARP_PYTHON names another interpreter than python3.
func TestTorchvision(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import safetensors, torch, torchvision").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import safetensors, torch and torchvision: %v\n%s", python, err, out)
	}
	f, err := resnettest.Random(resnet.Config{Blocks: [4]int{3, 4, 6, 3}, Width: 64, Bottleneck: true, Classes: 1000}, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "resnet50.safetensors")
	if err := safetensors.Save(path, f); err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal([]any{pixels(), []int{images, side, side, 3}})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, "-c", judge, path)
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(input), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var want [][]float64
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	got, worst := forward(t, cpu.Open, f, dtype.Float32), 0.0
	if len(want) != images || len(got) != images*len(want[0]) {
		t.Fatalf("%d scores, want %d of %d images", len(got), len(want), images)
	}
	for i, v := range got {
		d := math.Abs(float64(v) - want[i/1000][i%1000])
		if worst = max(worst, d); !(d <= 1e-3) {
			t.Fatalf("score %d of image %d is %v, want %v", i%1000, i/1000, v, want[i/1000][i%1000])
		}
	}
	t.Logf("the largest difference is %.2g", worst)
}
