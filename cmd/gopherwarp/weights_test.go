package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// saveModel writes a file with names that a terminal would act on, and returns its name.
func saveModel(t *testing.T) string {
	t.Helper()
	c := weights.Contents{Metadata: weights.Metadata{
		{Key: "general.name", Value: "a model\x1b[2J"},
		{Key: "tokens", Value: slices.Repeat([]string{"世界", "\x00", `"`}, 1000)},
		{Key: "template", Value: strings.Repeat("{% for m in messages %}\n", 1000)},
		{Key: "a.key.as.long.as.they.are.in.models.with.many.parts", Value: float32(math.NaN())},
		{Key: "bytes", Value: []uint8{1, 2}},
		{Key: "nested", Value: []any{[]float64{math.Inf(1)}}},
	}}
	for _, s := range []weights.Spec{
		{Name: "token_embd.weight", Type: weights.Q8_0, Shape: []int{1000, 64}},
		{Name: "model.layers.10.post_attention_layernorm.weight", Type: weights.F32, Shape: []int{64}},
		{Name: "evil\r\x1b[31m", Type: weights.F32},
	} {
		size, err := s.Size()
		if err != nil {
			t.Fatal(err)
		}
		x, err := weights.NewTensor(s, bytes.NewReader(make([]byte, size)))
		if err != nil {
			t.Fatal(err)
		}
		c.Tensors = append(c.Tensors, x)
	}
	f, err := weights.New(c)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "m.gguf")
	if err := gguf.Save(name, f); err != nil {
		t.Fatal(err)
	}
	return name
}

// weightsOf runs the command and returns what it prints.
func weightsOf(t *testing.T, args ...string) string {
	t.Helper()
	var out, failed bytes.Buffer
	if code := run(context.Background(), append([]string{"weights"}, args...), terminal{&out, &failed}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &failed)
	}
	return out.String()
}

func TestWeights(t *testing.T) {
	name := saveModel(t)
	for width, want := range map[int][]string{
		0:   {"evil", `general.name                                         "a model\x1b[2J"`, "token_embd.weight                                Q8_0  1000 x 64  66.4 KiB"},
		40:  {"model.layers.10.\n  post_attention_layernorm.weight\n    F32  64  256 B\n", "general.name  \"a model\\x1b[2J\"\n", "tokens\n    3000 x string: \"世界\" \"\\x00\" \"\\\"\" \"…\n"},
		80:  {`"evil\r\x1b[31m"                                  F32     scalar       4 B`, "GGUF 3  tensors  elements      size\nQ8_0          1     64000  66.4 KiB\nF32           2        65     260 B\nall           3     64065  66.7 KiB\n"},
		200: {"nested                                               1 x array: 1 x float64: +Inf\n"},
	} {
		t.Setenv("COLUMNS", fmt.Sprint(width))
		out := weightsOf(t, name)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("width %d: lacks %q:\n%s", width, w, out)
			}
		}
		for line := range strings.Lines(out) {
			if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > width && width > 0 || strings.ContainsAny(line, "\x1b\r\x00") {
				t.Errorf("width %d: a line has %d columns: %q", width, n, line)
			}
		}
	}
}

func TestWeightsJSON(t *testing.T) {
	var out struct {
		Format   string
		Metadata []struct {
			Key, Type string
			Value     any
		}
		Tensors []struct {
			Name, Type string
			Shape      []int
			From, To   int
		}
		Totals []weightTotal
	}
	if err := json.Unmarshal([]byte(weightsOf(t, "-json", saveModel(t))), &out); err != nil {
		t.Fatal(err)
	}
	if out.Format != "GGUF 3" || len(out.Metadata) != 6 || len(out.Tensors) != 3 {
		t.Fatalf("%s, %d entries, %d tensors", out.Format, len(out.Metadata), len(out.Tensors))
	}
	if tokens := out.Metadata[1]; tokens.Type != "[]string" || len(tokens.Value.([]any)) != 3000 {
		t.Errorf("tokens are %v", tokens)
	}
	if s := fmt.Sprintln(out.Metadata[3].Value, out.Metadata[4].Value, out.Metadata[5].Value, out.Metadata[5].Type); s != "NaN [1 2] [[+Inf]] []any\n" {
		t.Errorf("values are %s", s)
	}
	x := out.Tensors[0]
	if x.Name != "token_embd.weight" || x.Type != "Q8_0" || !slices.Equal(x.Shape, []int{1000, 64}) || x.To-x.From != 68000 {
		t.Errorf("the first tensor is %v", x)
	}
	if want := (weightTotal{"Q8_0", 1, 64000, 68000}); out.Totals[0] != want {
		t.Errorf("the totals are %v", out.Totals)
	}
}

// TestWeightsPickle expects an error in words.
func TestWeightsPickle(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pytorch_model.bin")
	if err := os.WriteFile(name, []byte("PK\x03\x04............"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := run(context.Background(), []string{"weights", name}, terminal{&out, &out}); code != exitFailed || !strings.Contains(out.String(), "Python pickle") {
		t.Errorf("exit code %d: %s", code, &out)
	}
}

// TestWeightsSums prints the sum of a file, and verifies the file with it.
func TestWeightsSums(t *testing.T) {
	name := saveModel(t)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sums := weightsOf(t, "-sum", name)
	if want := fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name); sums != want {
		t.Errorf("-sum prints %q, want %q", sums, want)
	}
	verify := func() (int, string) {
		var out bytes.Buffer
		code := run(context.Background(), []string{"weights", "-verify", name}, terminal{&out, &out})
		return code, out.String()
	}
	if code, out := verify(); code != exitFailed || !strings.Contains(out, "no SHA-256 is known") {
		t.Errorf("without a sum: exit code %d: %s", code, out)
	}
	if err := os.WriteFile(name+".sha256", []byte(sums), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := verify(); code != exitOK || out != name+": ok\n" {
		t.Errorf("exit code %d: %s", code, out)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := verify(); code != exitFailed || !strings.Contains(out, "the file differs") {
		t.Errorf("of a changed file: exit code %d: %s", code, out)
	}
}
