package nn_test

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
)

func ExampleSummary() {
	dev, err := cpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()
	params := nn.NewParams(stream, nn.Options{DType: dtype.Float32})
	defer params.Close()

	type block struct {
		Norm      nn.LayerNorm
		Attention nn.MultiHead
		Down      nn.Linear
	}
	model := struct {
		Embed  nn.Embedding
		Blocks []block
	}{
		Embed:  nn.NewEmbedding(params, 100, 8),
		Blocks: []block{{nn.NewLayerNorm(params, 8, 1e-5), nn.NewMultiHead(params, 2, 2, 4), nn.NewLinear(params, 8, 8)}},
	}
	fmt.Print(nn.Summary(model))
	// Output:
	// layer                    type       shape       parameters  bytes
	// Embed                    Embedding  100 of 8    800         6400
	// Blocks[0].Norm           LayerNorm  8           16          128
	// Blocks[0].Attention.QKV  Stacked    8 to 8 8 8  216         1728
	// Blocks[0].Attention.O    Linear     8 to 8      72          576
	// Blocks[0].Down           Linear     8 to 8      72          576
	// total                                           1176        9408
}
