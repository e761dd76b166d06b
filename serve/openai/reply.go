package openai

import (
	"context"
	"crypto/rand"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// reply is a response that is being generated, and perhaps sent as events.
type reply struct {
	response
	question gate.Question
	request  llm.Request
	events   sink // nil for a response that is sent at the end
	took     *llm.Usage
	number   int   // of the next event
	item     *item // that is open, the last of Output; or nil
}

// sink receives the events of a response.
type sink interface {
	// Send sends an event of a kind. The error wraps gate.ErrLeft if the client does not receive it.
	Send(kind string, event any) error
	// Begun reports whether an event has been sent.
	Begun() bool
}

// responseEvent is the data of an event. Which fields it has depends on the type.
type responseEvent struct {
	Type      string       `json:"type"`
	Number    int          `json:"sequence_number"`
	Response  *response    `json:"response,omitempty"`
	Output    *int         `json:"output_index,omitempty"`
	Item      *item        `json:"item,omitempty"`
	ItemID    string       `json:"item_id,omitempty"`
	Content   *int         `json:"content_index,omitempty"`
	Part      *contentPart `json:"part,omitempty"`
	Delta     *string      `json:"delta,omitempty"`
	Text      *string      `json:"text,omitempty"`
	Name      string       `json:"name,omitempty"`
	Arguments *string      `json:"arguments,omitempty"`
	Logprobs  *[]any       `json:"logprobs,omitempty"`
}

// send sends an event, if the response is streamed.
func (s *reply) send(e responseEvent) error {
	if s.events == nil {
		return nil
	}
	e.Number = s.number
	s.number++
	return s.events.Send(e.Type, e)
}

// run generates the response.
func (s *reply) run(ctx context.Context) error {
	for part, err := range s.question.Answer(ctx, s.request) {
		if err == nil && s.number == 0 {
			err = s.begin()
		}
		if err == nil {
			err = s.add(part)
		}
		if err != nil {
			return s.fail(err)
		}
	}
	return nil
}

// begin sends what precedes the first item.
func (s *reply) begin() error {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		if err := s.send(responseEvent{Type: kind, Response: &s.response}); err != nil {
			return err
		}
	}
	return nil
}

// fail returns an error that is the answer, or sends it if an event has been sent.
func (s *reply) fail(err error) error {
	if s.events == nil || !gate.IsEvent(err, s.events) {
		return err
	}
	s.Status, s.Error = "failed", &responseError{"server_error", gate.FailureOf(err).Message}
	return s.send(responseEvent{Type: "response.failed", Response: &s.response})
}

// add adds a part.
func (s *reply) add(part gate.Part) error {
	switch {
	case part.Finish != llm.Unfinished:
		return s.finish(part.Finish)
	case part.Call > 0:
		return s.addCall(part)
	case part.Text == "":
		return nil
	}
	if s.item == nil || s.item.Type != "message" {
		if err := s.open(&item{Type: "message", ID: "msg_" + rand.Text(), Role: "assistant", Content: &[]contentPart{}}); err != nil {
			return err
		}
		empty := newPart("")
		if err := s.send(s.within(responseEvent{Type: "response.content_part.added", Part: &empty})); err != nil {
			return err
		}
		*s.item.Content = []contentPart{empty}
	}
	(*s.item.Content)[0].Text += part.Text
	return s.send(s.within(responseEvent{Type: "response.output_text.delta", Delta: &part.Text, Logprobs: &[]any{}}))
}

// addCall adds a part of a call.
func (s *reply) addCall(part gate.Part) error {
	if part.Name != "" {
		none := ""
		if err := s.open(&item{Type: "function_call", ID: "fc_" + rand.Text(), CallID: part.ID, Name: part.Name, Arguments: &none}); err != nil {
			return err
		}
	}
	if part.Arguments == "" {
		return nil
	}
	all := *s.item.Arguments + part.Arguments
	s.item.Arguments = &all
	return s.send(s.within(responseEvent{Type: "response.function_call_arguments.delta", Delta: &part.Arguments}))
}

// within adds where the open item is to an event.
func (s *reply) within(e responseEvent) responseEvent {
	last, zero := len(s.Output)-1, 0
	e.Output, e.ItemID = &last, s.item.ID
	if s.item.Type == "message" {
		e.Content = &zero
	}
	return e
}

// open ends an item and begins another one.
func (s *reply) open(x *item) error {
	if err := s.close("completed"); err != nil {
		return err
	}
	x.Status = "in_progress"
	s.item, s.Output = x, append(s.Output, x)
	last := len(s.Output) - 1
	return s.send(responseEvent{Type: "response.output_item.added", Output: &last, Item: x})
}

// close ends an item, if one is open.
func (s *reply) close(status string) error {
	if s.item == nil {
		return nil
	}
	x, last := s.item, len(s.Output)-1
	x.Status = status
	var list []responseEvent
	if x.Type == "message" {
		part := (*x.Content)[0]
		list = []responseEvent{
			s.within(responseEvent{Type: "response.output_text.done", Text: &part.Text, Logprobs: &[]any{}}),
			s.within(responseEvent{Type: "response.content_part.done", Part: &part}),
		}
	} else {
		list = []responseEvent{s.within(responseEvent{Type: "response.function_call_arguments.done", Name: x.Name, Arguments: x.Arguments})}
	}
	for _, e := range append(list, responseEvent{Type: "response.output_item.done", Output: &last, Item: x}) {
		if err := s.send(e); err != nil {
			return err
		}
	}
	s.item = nil
	return nil
}

// finish ends the response.
func (s *reply) finish(why llm.Finish) error {
	s.response.finish(why, *s.took)
	if err := s.close(s.Status); err != nil {
		return err
	}
	return s.send(responseEvent{Type: "response." + s.Status, Response: &s.response})
}
