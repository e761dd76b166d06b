package safetensors_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkHeader reports the time for a header of 10,000 tensors.
func BenchmarkHeader(b *testing.B) {
	var header strings.Builder
	header.WriteString("{")
	for i := range 10_000 {
		if i > 0 {
			header.WriteString(",")
		}
		fmt.Fprintf(&header, `"model.layers.%d.mlp.down_proj.weight":{"dtype":"U8","shape":[2,1],"data_offsets":[%d,%d]}`, i, 2*i, 2*i+2)
	}
	file := raw(header.String()+"}", 20_000)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := read(file); err != nil {
			b.Fatal(err)
		}
	}
}
