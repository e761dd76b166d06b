package bert_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// texts have 1 to 40 tokens, so that products are of few rows in some layers of a batch, and of many in others.
func texts() (list [][]int32) {
	for _, n := range []int{5, 1, 17, 40, 16} {
		tokens := make([]int32, n)
		for i := range tokens {
			tokens[i] = int32((i*7 + n) % berttest.Vocabulary())
		}
		list = append(list, tokens)
	}
	return list
}

// load loads the model of a folder.
func load(s *tensor.Scope, folder string, o bert.LoadOptions) (*bert.Model, error) {
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if err != nil {
		return nil, err
	}
	c, err := bert.ParseConfig(text)
	if err != nil {
		return nil, err
	}
	f, err := formats.Open(folder)
	if err != nil {
		return nil, err
	}
	m, err := bert.Load(s.Stream(), f, c, o)
	return m, errors.Join(err, s.Stream().Synchronize(s.Context()), f.Close())
}

// TestForward compares activations with the reference, for each type and device.
func TestForward(t *testing.T) {
	folder := berttest.WriteFolder(t, berttest.Options{Seed: 1})
	ref := newReference(t, folder, "")
	var want []float64
	for _, text := range texts() {
		for _, row := range ref.forward(text) {
			want = append(want, row...)
		}
	}
	for name, open := range kerneltest.Executions() {
		for of, tolerance := range map[dtype.Type]float64{dtype.Float32: 2e-5, dtype.Float16: 0.02, dtype.BFloat16: 0.12} {
			if name == "native" || of != dtype.Float32 && name != "interp" && name != "cuda" && name != "AVX-512" {
				continue // the other executions of the same kernels are tested with the kernels
			}
			t.Run(name+"/"+of.String(), func(t *testing.T) {
				forward(t, open, folder, of, func(got []float32) {
					if len(got) != len(want) {
						t.Fatalf("%d elements, want %d", len(got), len(want))
					}
					for i, w := range want {
						if !(math.Abs(float64(got[i])-w) <= tolerance) {
							t.Fatalf("element %d of token %d is %v, want %v", i%berttest.Hidden, i/berttest.Hidden, got[i], w)
						}
					}
				})
			})
		}
	}
}

// forward calls check with the activations of texts.
func forward(t *testing.T, open kerneltest.Opener, folder string, of dtype.Type, check func(got []float32)) {
	t.Helper()
	err := tensor.Run(t.Context(), kerneltest.Device(t, open), func(s *tensor.Scope) error {
		m, err := load(s, folder, bert.LoadOptions{DType: of})
		if err != nil {
			return err
		}
		defer m.Close()
		if m.DType() != of {
			t.Errorf("activations are %v", m.DType())
		}
		b, err := m.NewBatch(s, texts()...)
		if err != nil {
			return err
		}
		got, err := tensor.Values[float32](t.Context(), m.Forward(b).To(dtype.Float32))
		if err == nil {
			check(got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPool compares vectors with those of the reference's activations. Names of tensors have a prefix.
func TestPool(t *testing.T) {
	plain, prefixed := berttest.WriteFolder(t, berttest.Options{Seed: 2}), berttest.WriteFolder(t, berttest.Options{Seed: 2, Prefix: "bert."})
	ref := newReference(t, plain, "")
	err := tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
		m, err := load(s, prefixed, bert.LoadOptions{})
		if err != nil {
			return err
		}
		defer m.Close()
		b, err := m.NewBatch(s, texts()...)
		if err != nil {
			return err
		}
		x := m.Forward(b)
		for _, method := range []bert.Method{bert.Mean, bert.Max, bert.First} {
			got, err := tensor.Values[float32](t.Context(), b.Pool(x, method, false))
			if err != nil {
				return err
			}
			for i, text := range texts() {
				for c, w := range pooled(ref.forward(text), method) {
					if g := float64(got[i*berttest.Hidden+c]); !(math.Abs(g-w) <= 2e-5) {
						t.Fatalf("method %v, text %d, element %d: %v, want %v", method, i, c, g, w)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// pooled returns the vector of rows.
func pooled(rows [][]float64, m bert.Method) []float64 {
	y := append([]float64{}, rows[0]...)
	if m == bert.First {
		return y
	}
	for _, row := range rows[1:] {
		for c, v := range row {
			if m == bert.Max {
				y[c] = max(y[c], v)
			} else {
				y[c] += v
			}
		}
	}
	for c := range y {
		if m == bert.Mean {
			y[c] /= float64(len(rows))
		}
	}
	return y
}

// TestMistakes passes texts that do not fit a model, and files that have none.
func TestMistakes(t *testing.T) {
	folder := berttest.WriteFolder(t, berttest.Options{})
	err := tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
		m, err := load(s, folder, bert.LoadOptions{})
		if err != nil {
			return err
		}
		defer m.Close()
		for name, c := range map[string]struct {
			tokens []int32
			want   error
		}{
			"empty": {[]int32{}, bert.ErrLength}, "long": {make([]int32, berttest.Positions+1), bert.ErrLength},
			"negative": {[]int32{-1}, bert.ErrToken}, "large": {[]int32{int32(berttest.Vocabulary())}, bert.ErrToken},
		} {
			if _, err := m.NewBatch(s, []int32{1}, c.tokens); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		wide := berttest.WriteFolder(t, berttest.Options{Change: func(c map[string]any) { c["intermediate_size"] = 97 }})
		if _, err := load(s, wide, bert.LoadOptions{}); !errors.Is(err, nn.ErrShape) {
			t.Errorf("another shape: %v", err)
		}
		deep := berttest.WriteFolder(t, berttest.Options{Change: func(c map[string]any) { c["num_hidden_layers"] = 1 << 20 }})
		if _, err := load(s, deep, bert.LoadOptions{}); !errors.Is(err, bert.ErrConfig) {
			t.Errorf("many layers: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestParseConfig passes contents that make no sense.
func TestParseConfig(t *testing.T) {
	const good = `{"model_type": "bert", "num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536, "num_attention_heads": 12,
		"vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}`
	if c, err := bert.ParseConfig([]byte(good)); err != nil || c != (bert.Config{Type: "bert", Layers: 6, Hidden: 384, FFN: 1536, Heads: 12, Vocabulary: 30522, Positions: 512, Types: 2, Epsilon: 1e-12}) {
		t.Errorf("got %+v, %v", c, err)
	}
	for fields, want := range map[string]int{
		`"architectures": ["BertForSequenceClassification"]`: 2, `"architectures": ["BertModel"], "num_labels": 3`: 0,
		`"architectures": ["BertForSequenceClassification"], "num_labels": 3`:                               3,
		`"architectures": ["BertForSequenceClassification"], "num_labels": 3, "id2label": {"0": "LABEL_0"}`: 1,
		`"architectures": ["BertForTokenClassification"], "id2label": {"0": "LABEL_0"}`:                     0,
	} {
		if c, err := bert.ParseConfig([]byte(strings.Replace(good, "{", "{"+fields+",", 1))); err != nil || c.Labels != want {
			t.Errorf("%s: %d labels, want %d; %v", fields, c.Labels, want, err)
		}
	}
	for fields, want := range map[string][3]int{ // positions, shift and labels
		`"roberta"`: {510, 2, 0}, `"xlm-roberta", "pad_token_id": 3`: {508, 4, 0}, `"roberta", "architectures": ["RobertaForSequenceClassification"]`: {510, 2, 2},
		`"xlm-roberta", "architectures": ["XLMRobertaForSequenceClassification"], "num_labels": 1`: {510, 2, 1},
		`"camembert", "architectures": ["CamembertForSequenceClassification"], "num_labels": 1`:    {510, 2, 1},
		`"roberta", "architectures": ["BertForSequenceClassification"]`:                            {510, 2, 0},
	} {
		c, err := bert.ParseConfig([]byte(strings.Replace(good, `"bert"`, fields, 1)))
		if got := [3]int{c.Positions, c.Shift, c.Labels}; err != nil || got != want || c.HasTypes() {
			t.Errorf("%s: %v, want %v; %v", fields, got, want, err)
		}
	}
	for change, want := range map[[2]string]error{
		{`"bert"`, `"deberta-v2"`}: bert.ErrArchitecture, {`"bert"`, `""`}: bert.ErrArchitecture, {`"bert"`, `"roberta", "pad_token_id": 600`}: bert.ErrConfig, {`"bert"`, `"roberta", "pad_token_id": -2`}: bert.ErrConfig, {`"gelu"`, `"relu"`}: bert.ErrConfig, {`384`, `380`}: bert.ErrConfig, {`384`, `-384`}: bert.ErrConfig,
		{`"gelu"`, `"gelu", "position_embedding_type": "relative_key"`}: bert.ErrConfig, {`12,`, `0,`}: bert.ErrConfig, {`12,`, `2,`}: bert.ErrConfig, {`1e-12`, `2`}: bert.ErrConfig,
		{`{`, `[`}: bert.ErrConfig, {`512`, `1e99`}: bert.ErrConfig, {`{`, `{"architectures": ["BertForSequenceClassification"], "num_labels": -1,`}: bert.ErrConfig,
	} {
		if _, err := bert.ParseConfig([]byte(strings.Replace(good, change[0], change[1], 1))); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", change, err, want)
		}
	}
}

// TestEncoder compares the vectors of an Encoder, twice for each batch, with those of batches of the same texts.
func TestEncoder(t *testing.T) {
	folder := berttest.WriteFolder(t, berttest.Options{Seed: 1})
	for name, open := range kerneltest.Executions() {
		if name == "native" || name == "scalar" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dev := kerneltest.Device(t, open)
			stream, err := dev.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			err = tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error {
				m, err := load(s, folder, bert.LoadOptions{})
				if err != nil {
					return err
				}
				defer m.Close()
				e := bert.NewEncoder(stream, m, bert.Pooling{Method: bert.Mean, Unit: true})
				defer func() {
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				}()
				for _, list := range [][][]int32{texts(), texts()[:1], texts(), texts()[1:]} {
					b, err := m.NewBatch(s, list...)
					if err != nil {
						return err
					}
					want, err := tensor.Values[float32](t.Context(), b.Pool(m.Forward(b), bert.Mean, true))
					if err != nil {
						return err
					}
					got, err := e.Vectors(t.Context(), list...)
					if err != nil {
						return err
					}
					if len(got) != len(list) {
						t.Fatalf("%d vectors, want %d", len(got), len(list))
					}
					for i, w := range want {
						if !(math.Abs(float64(got[i/berttest.Hidden][i%berttest.Hidden]-w)) <= 2e-3) {
							t.Fatalf("element %d is %v, want %v", i, got[i/berttest.Hidden][i%berttest.Hidden], w)
						}
					}
				}
				if _, err := e.Vectors(t.Context(), []int32{1}, nil); !errors.Is(err, bert.ErrLength) {
					t.Errorf("an empty text: %v", err)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
