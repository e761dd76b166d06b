package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// writing limits the time in which a client receives an answer that is not streamed.
const writing = time.Minute

// WriteJSON answers a request with v in JSON.
func WriteJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return WriteBytes(w, append(text, '\n'))
}

// WriteBytes answers a request with a body. The caller sets the headers first.
func WriteBytes(w http.ResponseWriter, body []byte) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writing)) // not every ResponseWriter has one
	_, _ = w.Write(body)                                                        // a client that has left learns nothing
	return nil
}

// Events is an answer that consists of server-sent events.
type Events struct {
	w       http.ResponseWriter
	timeout time.Duration // of a write
	begun   bool
}

// NewEvents returns an answer without events. Nothing is written before the first event.
func (g *Gate) NewEvents(w http.ResponseWriter) *Events {
	return &Events{w: w, timeout: g.ClientTimeout}
}

// Begun reports whether an event has been sent. From then on, an error can only be sent as an event.
func (e *Events) Begun() bool { return e.begun }

// IsEvent reports whether an error can only be sent as an event: events have been sent, and the client has not left.
func IsEvent(err error, events interface{ Begun() bool }) bool {
	return events.Begun() && !errors.Is(err, ErrLeft)
}

// Send sends an event with a value in JSON. The name may be empty. The error wraps ErrLeft if the client does not receive the event.
func (e *Events) Send(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.SendText(name, text)
}

// SendText sends an event whose data is a single line of text.
func (e *Events) SendText(name string, data []byte) error {
	if !e.begun {
		e.w.Header().Set("Content-Type", "text/event-stream")
		e.w.Header().Set("Cache-Control", "no-cache")
		e.w.Header().Set("X-Accel-Buffering", "no") // proxies must not collect events
		e.begun = true
	}
	var event []byte
	if name != "" {
		event = append(event, "event: "+name+"\n"...)
	}
	event = append(append(append(event, "data: "...), data...), "\n\n"...)
	c := http.NewResponseController(e.w)
	_ = c.SetWriteDeadline(time.Now().Add(e.timeout)) // not every ResponseWriter has one
	if _, err := e.w.Write(event); err != nil {
		return fmt.Errorf("%w: %w", ErrLeft, err)
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("%w: %w", ErrLeft, err)
	}
	return nil
}
