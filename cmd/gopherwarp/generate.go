package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
)

type generateCommand struct {
	modelFlags
	Prompt *string  `arg:"" optional:"" help:"The text to answer or, with -raw, to continue. Default: standard input."`
	System string   `placeholder:"TEXT" help:"Instructions for the model, before the prompt."`
	Raw    bool     `help:"Continue the prompt, without the format of a conversation."`
	Stop   []string `sep:"none" placeholder:"TEXT" help:"End the answer before this text. May be repeated."`
	JSON   bool     `name:"json" help:"Print the answer as JSON, with the reason of its end and the numbers of tokens."`
}

// Help is the text after the flags.
func (generateCommand) Help() string {
	return `Prints a language model's answer to a prompt.

Example:
  gopherwarp generate -model SmolLM2-135M-Instruct.Q4_1.gguf "Why is the sky blue?"
  git diff | gopherwarp generate -model model.gguf -system "Write a commit message."`
}

// Run runs the command.
func (c *generateCommand) Run(ctx context.Context, t terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	g, err := c.grammar()
	if err != nil {
		return err
	}
	prompt, err := c.prompt(input{ctx, os.Stdin})
	if err != nil {
		return err
	}
	dev, m, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	return errors.Join(c.answer(ctx, t, m, question{prompt, g}), m.Close(), dev.Close())
}

// prompt returns the prompt, which may be the text of in.
func (c *generateCommand) prompt(in io.Reader) (string, error) {
	if c.Prompt != nil && *c.Prompt != "-" {
		return *c.Prompt, nil
	}
	text, err := io.ReadAll(in)
	return strings.TrimSuffix(string(text), "\n"), err
}

// question is what to answer, and the grammar of the answer or nil.
type question struct {
	prompt  string
	grammar *grammar.Grammar
}

// answer prints the answer to a question.
func (c *generateCommand) answer(ctx context.Context, t terminal, m *llm.Model, q question) error {
	var usage llm.Usage
	r := c.request()
	r.Stop, r.Usage, r.Grammar = c.Stop, &usage, q.grammar
	tokens := m.Generate(ctx, q.prompt, r)
	if !c.Raw && m.HasChat() {
		var messages []chat.Message
		if c.System != "" {
			messages = append(messages, chat.Message{Role: "system", Content: c.System})
		}
		tokens = m.Chat(ctx, append(messages, chat.Message{Role: "user", Content: q.prompt}), r)
	}
	if c.JSON {
		err := c.printJSON(t, tokens, &usage)
		if err == nil {
			c.printStats(t, usage)
		}
		return err
	}
	out := console.NewStream(t.out)
	for token, err := range tokens {
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		if err := out.Write(token.Text); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	c.printStats(t, usage)
	return nil
}

// printJSON prints an answer as JSON.
func (c *generateCommand) printJSON(t terminal, tokens iter.Seq2[llm.Token, error], usage *llm.Usage) error {
	var answer struct {
		Text      string `json:"text"`
		Finish    string `json:"finish"`
		Prompt    int    `json:"prompt_tokens"`
		Generated int    `json:"generated_tokens"`
	}
	for token, err := range tokens {
		if err != nil {
			return err
		}
		answer.Text += token.Text
		answer.Finish = token.Finish.String()
	}
	answer.Prompt, answer.Generated = usage.Prompt, usage.Generated
	e := json.NewEncoder(t.out)
	e.SetEscapeHTML(false)
	return e.Encode(answer)
}
