package classify_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/classify"
)

// photograph is what testdata/judge.py prints of one.
type photograph struct {
	Name                  string
	Pixels, Probabilities []float32
}

// photographs runs testdata/judge.py, which writes photographs to a folder.
func photographs(t *testing.T, model, folder string) (list []photograph) {
	t.Helper()
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import PIL, safetensors, skimage, timm, torchvision; assert PIL.__version__ >= '13'").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import safetensors, skimage, timm, torchvision and Pillow 13: %v\n%s", python, err, out)
	}
	c := exec.CommandContext(t.Context(), python, "testdata/judge.py", filepath.Join(model, "model.safetensors"), folder)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list) < 20 {
		t.Fatalf("%d photographs, %v", len(list), err)
	}
	return list
}

// TestPyTorch compares the prepared pixels of the photographs of scikit-image with those of torchvision and Pillow, and the probabilities of
// EfficientNet-Lite0 for them with those of PyTorch in float32. The environment variable GOPHERWARP_PYTHON names another interpreter than
// python3.
func TestPyTorch(t *testing.T) {
	model, folder := filepath.Join(cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "models")), "efficientnet_lite0"), t.TempDir()
	if _, err := os.Stat(model); err != nil {
		t.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
	}
	list := photographs(t, model, folder)
	m, err := classify.Open(openCPU(t), model, classify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(folder, p.Name))
			if err != nil {
				t.Fatal(err)
			}
			picture, err := classify.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			pixels, err := classify.Prepare(t.Context(), m, picture)
			if err != nil {
				t.Fatal(err)
			}
			probabilities, err := classify.Probabilities(t.Context(), m, pixels)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "a pixel", pixels, p.Pixels, 1e-4)
			within(t, "a probability", probabilities, p.Probabilities, 1e-3)
			if got, want := top(probabilities), top(p.Probabilities); !slices.Equal(got, want) {
				t.Errorf("the most probable classes are %v, want %v", got, want)
			}
		})
	}
}

// within demands that numbers differ by at most a tolerance.
func within(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	worst := 0.0
	for i, v := range got {
		worst = max(worst, math.Abs(float64(v)-float64(want[i])))
	}
	if !(worst <= tolerance) {
		t.Errorf("%s differs by %v", what, worst)
	}
	t.Logf("%s differs by at most %.2g", what, worst)
}

// top returns the five most probable classes.
func top(probabilities []float32) []int {
	list := make([]int, len(probabilities))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(probabilities[b], probabilities[a]) })
	return list[:5]
}
