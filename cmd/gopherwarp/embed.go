package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/embeddings"
)

type embedCommand struct {
	Model string `required:"" placeholder:"FOLDER" help:"A folder of sentence-transformers with an encoder of the BERT family (config.json, tokenizer.json and safetensors files) or, with -pooling, a language model."`
	poolingFlag
	Texts []string `arg:"" optional:"" name:"text" help:"Texts. Default: the lines of standard input."`
	JSON  bool     `name:"json" help:"Read JSON lines from standard input: texts, or objects with the field text. Print an object for each text."`
	DType string   `name:"dtype" enum:"auto,float32,bfloat16,float16" default:"auto" help:"The type of weights and activations: float32, bfloat16, float16 or auto, which means float16 on GPUs with tensor cores, and otherwise float32."`
	mapping
}

// Help is the text after the flags.
func (embedCommand) Help() string {
	return `Prints a vector for each text. Texts with similar meanings have similar vectors. Each vector is a line of numbers. With
-json, each line is an object with the fields text, tokens, truncated and embedding, and with all other fields of the
input's object.

Example:
  gopherwarp embed -model models/all_minilm_l6_v2 "The cat sits outside."
  gopherwarp embed -model models/all_minilm_l6_v2 -json <texts.jsonl >vectors.jsonl`
}

// Run runs the command.
func (c *embedCommand) Run(ctx context.Context, t terminal) error {
	dev, m, err := c.openEmbeddings(ctx, t)
	if err != nil {
		return err
	}
	texts := readTexts(input{ctx, os.Stdin}, c.JSON)
	if len(c.Texts) > 0 {
		texts = arguments(c.Texts)
	}
	return errors.Join(c.embed(ctx, t, m, texts), m.Close(), dev.Close())
}

// dtypeOf returns the type that a value of -dtype means, or dtype.Invalid for auto.
func dtypeOf(flag string) dtype.Type {
	types := map[string]dtype.Type{"float32": dtype.Float32, "bfloat16": dtype.BFloat16, "float16": dtype.Float16}
	return types[flag]
}

// openEmbeddings opens the model. The caller closes the device and the model.
func (c *embedCommand) openEmbeddings(ctx context.Context, t terminal) (*device.Device, vectorSource, error) {
	return openModel(t, c.Model, func(dev *device.Device, l loading) (vectorSource, error) {
		return c.open(ctx, dev, c.Model, embeddings.Options{DType: dtypeOf(c.DType), Map: c.on(), Progress: l.progress})
	})
}

// inputText is a text of the input, with the fields of its object if it has one.
type inputText struct {
	text   string
	fields object
}

// arguments returns texts.
func arguments(list []string) iter.Seq2[inputText, error] {
	return func(yield func(inputText, error) bool) {
		for _, text := range list {
			if !yield(inputText{text: text}, nil) {
				return
			}
		}
	}
}

// maxLine is the largest number of bytes of a line.
const maxLine = 16 << 20

// readTexts returns the texts of lines, which may be JSON.
func readTexts(in io.Reader, inJSON bool) iter.Seq2[inputText, error] {
	return func(yield func(inputText, error) bool) {
		s := bufio.NewScanner(in)
		s.Buffer(nil, maxLine)
		for number := 1; s.Scan(); number++ {
			x, err := inputText{text: s.Text()}, error(nil)
			if inJSON {
				x, err = parseText(s.Bytes())
			}
			if err != nil {
				err = fmt.Errorf("line %d: %w", number, err)
			}
			if !yield(x, err) {
				return
			}
		}
		if err := s.Err(); err != nil {
			yield(inputText{}, fmt.Errorf("reading the texts: %w", err))
		}
	}
}

// together is the number of texts that are embedded before the first of them is printed.
const together = 256

// embed prints the vectors of texts.
func (c *embedCommand) embed(ctx context.Context, t terminal, m vectorSource, texts iter.Seq2[inputText, error]) error {
	out, progress, done := bufio.NewWriter(t.out), console.StartProgress(t.err), 0
	defer progress.Stop()
	var waiting []inputText
	flush := func() error {
		err := c.print(ctx, out, m, waiting)
		done += len(waiting)
		progress.Show("%d texts", done)
		waiting = waiting[:0]
		return err
	}
	for x, err := range texts {
		if err != nil {
			return errors.Join(flush(), out.Flush(), err)
		}
		if waiting = append(waiting, x); len(waiting) == together {
			if err := flush(); err != nil {
				return errors.Join(err, out.Flush())
			}
		}
	}
	return errors.Join(flush(), out.Flush())
}

// print prints the vectors of texts that are embedded together.
func (c *embedCommand) print(ctx context.Context, out *bufio.Writer, m vectorSource, texts []inputText) error {
	tokens, whole := make([][]int32, len(texts)), make([]bool, len(texts))
	for i, x := range texts {
		tokens[i], whole[i] = m.Encode(x.text)
	}
	vectors, err := m.EmbedTokens(ctx, tokens...)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if !c.JSON {
			printVector(out, v)
			continue
		}
		line, err := texts[i].line(result{"tokens", len(tokens[i])}, result{"truncated", !whole[i]}, result{"embedding", v})
		if err != nil {
			return err
		}
		_, _ = out.Write(line) // Flush reports errors
	}
	return nil
}

// printVector prints a line of numbers. Flush reports errors.
func printVector(out *bufio.Writer, v []float32) {
	line := make([]byte, 0, 12*len(v))
	for i, x := range v {
		if i > 0 {
			line = append(line, ' ')
		}
		line = strconv.AppendFloat(line, float64(x), 'g', -1, 32)
	}
	_, _ = out.Write(slices.Concat(line, []byte{'\n'}))
}
