package formats_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// The example quantizes a tensor, writes it to a GGUF file, and converts that to a safetensors file in float32.
func Example() {
	folder, err := os.MkdirTemp("", "weights")
	check(err)
	defer os.RemoveAll(folder)

	ramp := make([]float32, 64)
	for i := range ramp {
		ramp[i] = float32(i)
	}
	data, err := gguf.Quantize(weights.Q8_0, nil, ramp)
	check(err)
	t, err := weights.NewTensor(weights.Spec{Name: "ramp", Type: weights.Q8_0, Shape: []int{2, 32}}, bytes.NewReader(data))
	check(err)
	m := weights.Metadata{{Key: "general.name", Value: "example"}}
	f, err := weights.New(weights.Contents{Metadata: m, Tensors: []*weights.Tensor{t}})
	check(err)
	check(gguf.Save(filepath.Join(folder, "model.gguf"), f))

	check(convert(filepath.Join(folder, "model.gguf"), filepath.Join(folder, "model.safetensors")))

	f, err = formats.Open(filepath.Join(folder, "model.safetensors"))
	check(err)
	t, err = f.Tensor("ramp")
	check(err)
	w, err := weights.Values[float32](t)
	check(err)
	fmt.Println(f.Format, t.Type(), t.Shape(), w[30:34])
	check(f.Close())
	// Output: safetensors F32 [2 32] [30.029297 31.00586 32.246094 33.23828]
}

// convert dequantizes the tensors of a GGUF file and writes them to a safetensors file.
func convert(from, to string) error {
	f, err := gguf.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	var tensors []*weights.Tensor
	for _, t := range f.Tensors {
		t, err := gguf.Float32(t) // dequantizes when it is read
		if err != nil {
			return err
		}
		tensors = append(tensors, t)
	}
	converted, err := weights.New(weights.Contents{Tensors: tensors})
	if err != nil {
		return err
	}
	return safetensors.Save(to, converted)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
