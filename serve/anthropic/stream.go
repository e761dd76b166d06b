package anthropic

import (
	"encoding/json"
	"iter"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// stream is an answer that is sent as events: message_start; content_block_start, content_block_delta and content_block_stop for each
// block; message_delta; message_stop.
type stream struct {
	answer
	events *gate.Events
	took   *llm.Usage
	index  int // of the block
	open   bool
	call   int // the number of the call that the block is, or 0
}

// event is what the data of events have. Which fields depends on the type.
type event struct {
	Type    string `json:"type"`
	Index   *int   `json:"index,omitempty"`
	Message any    `json:"message,omitempty"`
	Block   any    `json:"content_block,omitempty"`
	Delta   any    `json:"delta,omitempty"`
	Usage   any    `json:"usage,omitempty"`
}

// send sends an event under its type.
func (s *stream) send(e event) error { return s.events.Send(e.Type, e) }

// run sends an answer.
func (s *stream) run(parts iter.Seq2[gate.Part, error]) error {
	for part, err := range parts {
		if err == nil && !s.events.Begun() {
			err = s.begin()
		}
		if err == nil {
			err = s.add(part)
		}
		if err != nil {
			return s.fail(err)
		}
	}
	return s.end()
}

// begin sends what precedes the first block.
func (s *stream) begin() error {
	s.Usage = usageOf(*s.took)
	if err := s.send(event{Type: "message_start", Message: s.answer}); err != nil {
		return err
	}
	return s.send(event{Type: "ping"})
}

// fail returns an error that is the answer, or sends it if an event has been sent.
func (s *stream) fail(err error) error {
	if !gate.IsEvent(err, s.events) {
		return err
	}
	return s.events.Send("error", problemOf(gate.FailureOf(err)))
}

// add sends a part.
func (s *stream) add(part gate.Part) error {
	switch {
	case part.Finish != llm.Unfinished:
		s.finish(part)
		return s.close()
	case part.Call > 0:
		return s.addCall(part)
	case part.Text == "":
		return nil
	}
	if !s.open || s.call > 0 {
		if err := s.begins(0, textBlock{Type: "text"}); err != nil {
			return err
		}
	}
	return s.delta(map[string]string{"type": "text_delta", "text": part.Text})
}

// addCall sends a part of a call.
func (s *stream) addCall(part gate.Part) error {
	if part.Name != "" {
		if err := s.begins(part.Call, callBlock{Type: "tool_use", ID: part.ID, Name: part.Name, Input: json.RawMessage("{}")}); err != nil {
			return err
		}
	}
	if part.Arguments == "" {
		return nil
	}
	return s.delta(map[string]string{"type": "input_json_delta", "partial_json": part.Arguments})
}

// begins ends a block and begins another one: a call, or a text if call is 0.
func (s *stream) begins(call int, block any) error {
	if err := s.close(); err != nil {
		return err
	}
	s.open, s.call = true, call
	return s.send(event{Type: "content_block_start", Index: &s.index, Block: block})
}

// delta sends a part of a block.
func (s *stream) delta(d any) error {
	return s.send(event{Type: "content_block_delta", Index: &s.index, Delta: d})
}

// close ends a block, if one is open.
func (s *stream) close() error {
	if !s.open {
		return nil
	}
	err := s.send(event{Type: "content_block_stop", Index: &s.index})
	s.open = false
	s.index++
	return err
}

// end sends what follows the last block.
func (s *stream) end() error {
	type delta struct {
		Reason *string `json:"stop_reason"`
		Stop   *string `json:"stop_sequence"`
	}
	if err := s.send(event{Type: "message_delta", Delta: delta{s.Reason, s.Stop}, Usage: usageOf(*s.took)}); err != nil {
		return err
	}
	return s.send(event{Type: "message_stop"})
}
