// Command write writes a language model with random weights: a GGUF file or, with -mixture safetensors, a folder in the format of Hugging
// Face, with bfloat16 weights.
//
//	go run ./bench/random/write -mixture Q4_K_M -o model.gguf   # the shape of Llama 3.1 8B
//	go run ./bench/random/write -mixture safetensors -o folder
//	go run ./bench/random/write -layers 2 -hidden 256 -ffn 512 -heads 4 -keyheads 2 -headdim 64 -vocabulary 1000 -o small.gguf
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/gopherwarp/gopherwarp/bench/random"
)

func main() {
	shape := random.Llama8B()
	random.Flags(flag.CommandLine, &shape)
	mixture := flag.String("mixture", "BF16", "Q4_K_M, safetensors, or a type such as BF16 or Q8_0")
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	name := flag.String("o", "", "the file or folder")
	flag.Parse()
	if err := write(*name, *mixture, *seed, shape); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

// write writes the model.
func write(name, mixture string, seed uint64, shape random.Shape) error {
	if name == "" {
		return errors.New("no name: use -o")
	}
	if mixture == "safetensors" {
		return random.WriteFolder(name, shape, seed)
	}
	m, err := random.ParseMixture(mixture)
	if err != nil {
		return err
	}
	return random.WriteFile(name, shape, random.Options{Mixture: m, Seed: seed})
}
