package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/cmd/gopherwarp/internal/editor"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
)

type chatCommand struct {
	modelFlags
	System string `placeholder:"TEXT" help:"Instructions for the model, at the beginning of each conversation."`
}

// Help is the text after the flags.
func (chatCommand) Help() string {
	return `Starts a conversation with a language model. Ctrl-C stops an answer, Ctrl-D ends the conversation. A line that ends with
a backslash continues on the next line. /help lists the commands of a conversation. In a terminal, the cursor keys edit the
line, Up and Down find earlier lines, and pasted lines are one message; ↵ is a line break and ⇥ a tab in it.

Example:
  gopherwarp chat -model SmolLM2-135M-Instruct.Q4_1.gguf`
}

// commandsOfChat is what /help prints.
const commandsOfChat = `/clear          forget the conversation
/system TEXT    forget the conversation and give the model instructions
/exit           leave; so does Ctrl-D
/help           print this list
Ctrl-C          stop an answer
Up, Down        find earlier lines
A line that ends with \ continues on the next line. Pasted lines are one message.`

// Run runs the command.
func (c *chatCommand) Run(ctx context.Context, t terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	g, err := c.grammar()
	if err != nil {
		return err
	}
	dev, m, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := ctx.Err(); err != nil { // an interrupt that came before
		return errors.Join(err, m.Close(), dev.Close())
	}
	s := &session{chatCommand: c, terminal: t, model: m, grammar: g, interrupts: interrupts}
	s.lines, s.prompt = linesOf(t, interrupts)
	err = s.run(context.WithoutCancel(ctx)) // an interrupt ends an answer, not the command
	if e, ok := errors.AsType[editor.Terminated](err); ok {
		err = exit{code: 128 + int(e.Signal)} // as shells report it
	}
	return errors.Join(err, m.Close(), dev.Close())
}

// session is a conversation in a terminal.
type session struct {
	*chatCommand
	terminal
	model      *llm.Model
	grammar    *grammar.Grammar // of answers, or nil
	interrupts <-chan os.Signal
	lines      lineReader
	prompt     bool // a person enters the lines
	messages   []chat.Message
}

// run answers the lines.
func (s *session) run(ctx context.Context) error {
	if !s.model.HasChat() {
		return llm.ErrChat
	}
	s.begin(s.System)
	if s.prompt {
		console.Print(s.out, s.model.Name()+". /help lists commands.", 0)
	}
	for {
		text, err := s.read()
		if err != nil || text == "/exit" || text == "/quit" {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if text == "" || s.command(text) {
			continue
		}
		if err := s.answer(ctx, text); err != nil {
			return err
		}
	}
}

// begin begins a conversation.
func (s *session) begin(system string) {
	s.System, s.messages = system, nil
	if system != "" {
		s.messages = []chat.Message{{Role: "system", Content: system}}
	}
}

// command runs text if it is a command.
func (s *session) command(text string) bool {
	name, rest, _ := strings.Cut(text, " ")
	switch {
	case name == "/help":
		console.Print(s.out, commandsOfChat, 16)
	case name == "/clear":
		s.begin(s.System)
	case name == "/system":
		s.begin(strings.TrimSpace(rest))
	case name == "/exit" || name == "/quit":
		console.Print(s.out, name+" takes no argument.", 0)
	case strings.HasPrefix(name, "/") && !strings.Contains(name[1:], "/"):
		console.Print(s.out, fmt.Sprintf("There is no command %s. /help lists them.", name), 0)
	default:
		return false
	}
	return true
}

// read returns the next message or command.
func (s *session) read() (string, error) {
	text, prompt := "", "> "
	for {
		line, err := s.lines.ReadLine(prompt)
		if errors.Is(err, editor.ErrInterrupt) {
			text, prompt = "", "> "
			s.show("\n/exit or Ctrl-D leaves.\n")
			continue
		}
		if err != nil {
			s.show("\n")
			return "", err
		}
		part, more := strings.CutSuffix(line, `\`)
		if text += part; !more {
			return strings.TrimSpace(text), nil
		}
		text, prompt = text+"\n", "  "
	}
}

// show prints text for a person.
func (s *session) show(text string) {
	if s.prompt {
		fmt.Fprint(s.out, text)
	}
}

// answer prints the answer to a message. An interrupt ends the answer, which remains a part of the conversation.
func (s *session) answer(ctx context.Context, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-s.interrupts:
			cancel()
		case <-stop:
		}
	}()
	var usage llm.Usage
	r := s.request()
	r.Usage, r.Grammar = &usage, s.grammar
	messages := append(s.messages, chat.Message{Role: "user", Content: text})
	out, answer := console.NewStream(s.out), ""
	for token, err := range s.model.Chat(ctx, messages, r) {
		switch {
		case err != nil && ctx.Err() != nil:
			token.Text = " (stopped)"
		case errors.Is(err, llm.ErrContext):
			if err := out.Flush(); err != nil {
				return err
			}
			console.Print(s.out, fmt.Sprintf("The conversation is longer than %d tokens. /clear begins a new one.", s.model.Context()), 0)
			return nil
		case err != nil:
			return errors.Join(out.Flush(), err)
		}
		if err == nil {
			answer += token.Text
		}
		if err := out.Write(token.Text); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	s.messages = append(messages, chat.Message{Role: "assistant", Content: answer})
	s.printStats(s.terminal, usage)
	return nil
}
