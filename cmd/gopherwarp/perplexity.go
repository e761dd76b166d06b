package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/llm"
)

type perplexityCommand struct {
	Model   string `required:"" placeholder:"FILE" help:"A GGUF file, a folder with a GGUF file, or a folder in Hugging Face's format (config.json and safetensors files)."`
	Context int    `placeholder:"N" help:"The number of tokens of a chunk. Default: 512, or the model's context if it is shorter."`
	Adapter string `placeholder:"DIR" help:"A LoRA adapter for the model: a folder that finetune or the Python package PEFT wrote."`
	mapping
	cacheFlag
	File string `arg:"" help:"The text, in UTF-8; - for standard input."`
}

// Help is the text after the flags.
func (perplexityCommand) Help() string {
	return `Prints the perplexity of a text. The better a language model predicts the text, the lower the perplexity is. To see how
much quality a model loses in each format, compare the perplexities of its files.

The text is split into independent chunks. As in llama.cpp, only the tokens of the second half of each chunk count, so
that at least half a chunk precedes each of these tokens. Perplexities are comparable only for the same text, the same tokenizer and
the same size of chunks. The number after ± is the standard error.

Example:
  gopherwarp perplexity -model SmolLM2-135M-Instruct.Q4_1.gguf README.md`
}

// Run runs the command.
func (c *perplexityCommand) Run(ctx context.Context, t terminal) error {
	source := modelSource{Model: c.Model, Context: c.Context, cacheFlag: c.cacheFlag, mapping: c.mapping}
	if err := source.check(); err != nil {
		return err
	}
	text, err := c.text(input{ctx, os.Stdin})
	if err != nil {
		return err
	}
	dev, m, err := source.open(ctx, t, llm.Options{Sequences: 1, Adapter: c.Adapter})
	if err != nil {
		return err
	}
	return errors.Join(c.print(ctx, t, m, text), m.Close(), dev.Close())
}

// text returns the text of the file or of in.
func (c *perplexityCommand) text(in io.Reader) (string, error) {
	var text []byte
	var err error
	if c.File == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(c.File)
	}
	switch {
	case err != nil:
		return "", err
	case len(text) == 0:
		return "", fmt.Errorf("%s is empty", c.File)
	case !utf8.Valid(text):
		return "", fmt.Errorf("%s is not a text in UTF-8", c.File)
	}
	return string(text), nil
}

// print prints the perplexity of a text.
func (c *perplexityCommand) print(ctx context.Context, t terminal, m *llm.Model, text string) error {
	progress := console.StartProgress(t.err)
	p, err := m.Perplexity(ctx, text, llm.PerplexityOptions{Chunk: c.Context, Progress: func(p llm.Perplexity, chunks int) {
		progress.Show("chunk %d of %d: perplexity %.4f", p.Chunks, chunks, p.Value())
	}})
	progress.Stop()
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	chunks := "chunks"
	if p.Chunks == 1 {
		chunks = "chunk"
	}
	_, err = fmt.Fprintf(t.out, "perplexity %.4f ± %.4f (%d tokens in %d %s of %d)\n", p.Value(), p.StandardError(), p.Tokens, p.Chunks, chunks, p.Size)
	return err
}
