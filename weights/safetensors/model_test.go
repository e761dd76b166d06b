package safetensors_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// TestModel reads MiniLM in the folder that the environment variable GOPHERWARP_MODELS names, or else models of the repository, and writes it
// to a new file.
func TestModel(t *testing.T) {
	folder := cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "..", "models"))
	name := filepath.Join(folder, "all_minilm_l6_v2", "model.safetensors")
	if _, err := os.Stat(name); err != nil {
		t.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
	}
	f, err := safetensors.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Map(); err != nil {
		t.Fatal(err)
	}
	x, err := f.Tensor("embeddings.word_embeddings.weight")
	if err != nil {
		t.Fatal(err)
	}
	w, err := weights.Values[float32](x)
	if err != nil || !slices.Equal(x.Shape(), []int{30522, 384}) || len(w) != 30522*384 {
		t.Errorf("%d weights of shape %v, %v", len(w), x.Shape(), err)
	}
	copied := filepath.Join(t.TempDir(), "copy.safetensors")
	if err := safetensors.Save(copied, f); err != nil {
		t.Fatal(err)
	}
	again, err := safetensors.Open(copied)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	same(t, again, f)
}
