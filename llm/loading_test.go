package llm_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestMap demands that the files of each network are mapped while it is loaded, if the options say so.
func TestMap(t *testing.T) {
	const list = "/proc/self/maps"
	if _, err := os.ReadFile(list); err != nil {
		t.Skip(err)
	}
	dev := kerneltest.Device(t, cpu.Open)
	model, draft := llamatest.Write(t, llamatest.Options{}), llamatest.Write(t, llamatest.Options{Seed: 9})
	for _, mapped := range []bool{false, true} {
		seen := map[string]bool{}
		look := func() error {
			text, err := os.ReadFile(list)
			for _, path := range []string{model, draft} {
				seen[path] = seen[path] || bytes.Contains(text, []byte(path))
			}
			return err
		}
		m, err := llm.Open(dev, model, llm.Options{DraftModel: draft, Map: mapped, Interrupt: look})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if seen[model] != mapped || seen[draft] != mapped {
			t.Errorf("Map is %v, but of the model %v, of the draft model %v", mapped, seen[model], seen[draft])
		}
		clear(seen)
		e, err := llm.OpenEmbedder(dev, model, llm.EmbedOptions{Map: mapped, Interrupt: look})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if seen[model] != mapped {
			t.Errorf("Map is %v, but of the embedder %v", mapped, seen[model])
		}
	}
}
