package gate

import (
	"context"
	"crypto/rand"
	"iter"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
)

// A Question is a conversation that a model answers.
type Question struct {
	Model     Model
	Messages  []chat.Message
	Functions []Function // the functions that the model may call
	Single    bool       // whether the answer has at most one call
	Forced    bool       // whether Gate.Force restricts the answer to a call
}

// Part is a part of an answer.
type Part struct {
	chat.Part
	Token  *llm.Token // a token may yield several parts: the first of them has the token, and the others have nil
	Choice int        // the number of the answer, below Request.N
	ID     string     // the ID of the call, in the first part of the call
	Finish llm.Finish // Unfinished, except in the last part of an answer; the last part has neither text nor call
	Stop   string     // in the last part: the text of Request.Stop that ended the answer
	Called bool       // in the last part: whether the answer has calls and the last call is complete
}

// Answer returns the parts of r.N answers. Each token yields at least one part, which may be empty. The iterator ends after an error, which wraps
// ErrLeft if the client has left. r.Stop
// applies to the text of the answer, not to its calls.
func (q Question) Answer(ctx context.Context, r llm.Request) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		described, names, err := tools(q.Functions)
		if err != nil {
			yield(Part{}, err)
			return
		}
		g := newGeneration(ctx, "chat", &r)
		defer func() { g.stages(r.Usage); g.end() }()
		r.Template.Tools, r.User = described, UserOf(ctx)
		if endsTurn(ctx, 1, &r); q.Forced {
			r.Stop = nil
		}
		list := make([]splitter, max(r.N, 1))
		for i := range list {
			list[i].single, list[i].forced = q.Single, q.Forced
			if len(names) > 0 {
				list[i].parser = chat.NewParser(names)
			}
		}
		if len(names) > 0 {
			r.Exempt = func() func(string) bool {
				p := chat.NewParser(names)
				return func(piece string) bool {
					p.Write(piece)
					return p.Calling()
				}
			}
		}
		for token, err := range q.Model.Chat(ctx, q.Messages, r) {
			err = leftOr(ctx, err)
			g.token(token, err)
			if err != nil {
				yield(Part{}, err)
				return
			}
			for _, part := range list[token.Choice].split(token) {
				part.Choice = token.Choice
				if !yield(part, nil) {
					return
				}
			}
		}
	}
}

// splitter finds the calls in tokens.
type splitter struct {
	parser *chat.Parser // nil if there are no functions
	single bool
	forced bool // there is no text
	called bool
	last   int // the number of the last call
}

// split returns the parts that a token completes.
func (s *splitter) split(t llm.Token) (list []Part) {
	defer func() { list[0].Token = &t }()
	if s.parser == nil {
		list = []Part{{Part: chat.Part{Text: t.Text}}}
	} else {
		parts := s.parser.Write(t.Text)
		if t.Finish != llm.Unfinished {
			parts = append(parts, s.parser.Close()...)
		}
		for _, part := range parts {
			list = s.add(list, part)
		}
		if len(list) == 0 {
			list = []Part{{}}
		}
	}
	if t.Finish != llm.Unfinished {
		list = append(list, Part{Finish: t.Finish, Stop: t.Stop, Called: s.called && !s.within()})
	}
	return list
}

// within reports whether the answer has ended within the arguments of a call.
func (s *splitter) within() bool { return s.parser.Within() && (s.last == 1 || !s.single) }

// lengthOfID is the length of the IDs of calls: the templates of Mistral refuse others.
const lengthOfID = 9

// add adds a part of the parser to a list.
func (s *splitter) add(list []Part, part chat.Part) []Part {
	s.last = max(s.last, part.Call)
	if s.single && part.Call > 1 || s.forced && part.Call == 0 {
		return list
	}
	p := Part{Part: part}
	if part.Name != "" {
		p.ID, s.called = rand.Text()[:lengthOfID], true
	}
	return append(list, p)
}
