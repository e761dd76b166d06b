package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/rerank"
)

type rerankCommand struct {
	Model     string   `required:"" placeholder:"FOLDER" help:"A folder in Hugging Face's format (config.json, tokenizer.json and safetensors files) with a cross-encoder of the BERT or RoBERTa family that has one label."`
	Query     string   `arg:"" name:"query" help:"A question, or search terms."`
	Documents []string `arg:"" optional:"" name:"document" help:"Texts. Default: the lines of standard input."`
	JSON      bool     `name:"json" help:"Read JSON lines from standard input: texts, or objects with the field text. Print an object for each document."`
	DType     string   `name:"dtype" enum:"auto,float32,bfloat16,float16" default:"auto" help:"The type of weights and activations: float32, bfloat16, float16 or auto, which means float16 on GPUs with tensor cores, and otherwise float32."`
	mapping
}

// Help is the text after the flags.
func (rerankCommand) Help() string {
	return `Prints documents by their relevance to a query, the most relevant first. Each line has the score, the number of the
document, from 0, and the document, separated by tabs. With -json, each line is an object with the fields score, index, text
and truncated, and with all other fields of the input's object.

Example:
  gopherwarp rerank -model ms-marco-MiniLM-L-6-v2 "Who wrote Faust?" "Goethe wrote it." "A fist is a hand."
  gopherwarp rerank -model ms-marco-MiniLM-L-6-v2 -json "Who wrote Faust?" <documents.jsonl | head -n 10`
}

// Run runs the command.
func (c *rerankCommand) Run(ctx context.Context, t terminal) error {
	texts := readTexts(input{ctx, os.Stdin}, c.JSON)
	if len(c.Documents) > 0 {
		texts = arguments(c.Documents)
	}
	dev, m, err := c.open(t)
	if err != nil {
		return err
	}
	return errors.Join(c.rank(ctx, t, m, texts), m.Close(), dev.Close())
}

// open opens the model. The caller closes the device and the model.
func (c *rerankCommand) open(t terminal) (*device.Device, *rerank.Model, error) {
	return openModel(t, c.Model, func(dev *device.Device, l loading) (*rerank.Model, error) {
		return rerank.Open(dev, c.Model, rerank.Options{DType: dtypeOf(c.DType), Map: c.on(), Progress: l.progress})
	})
}

// rank prints the documents in the order of their relevance.
func (c *rerankCommand) rank(ctx context.Context, t terminal, m *rerank.Model, texts iter.Seq2[inputText, error]) error {
	var list []inputText
	var documents []string
	for x, err := range texts {
		if err != nil {
			return err
		}
		list, documents = append(list, x), append(documents, x.text)
	}
	pairs := m.Encode(c.Query, documents...)
	logits, err := m.Logits(ctx, pairs...)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(t.out)
	for _, s := range m.Order(logits) {
		if !c.JSON {
			fmt.Fprintf(out, "%.6f\t%d\t%s\n", s.Relevance, s.Index, documents[s.Index])
			continue
		}
		line, err := list[s.Index].line(result{"score", s.Relevance}, result{"index", s.Index}, result{"truncated", pairs[s.Index].Truncated})
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		_, _ = out.Write(line) // Flush reports errors
	}
	return out.Flush()
}
