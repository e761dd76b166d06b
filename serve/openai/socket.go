package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/listen"
)

// idleSocket is how long a connection of WebSocket may have no request. A client may call functions in the meantime.
const idleSocket = 10 * time.Minute

// socket is a connection of WebSocket, over which a client sends one request after another in the protocol of responses.
type socket struct {
	*Handler
	conn *websocket.Conn
	last turn
}

// turn is the last response of a socket, which the next request may continue. Other connections do not know it.
type turn struct {
	id    string // empty if there is none
	items input  // the whole conversation, with the response
}

// socketRequest is a message of the client.
type socketRequest struct {
	Type     string `json:"type"`
	Generate *bool  `json:"generate"` // false for a response without output, which the next request continues
	responsesRequest
}

// socketFailure is the message that reports an error.
type socketFailure struct {
	Type   string  `json:"type"`
	Status int     `json:"status"`
	Error  problem `json:"error"`
}

// connect answers the requests of a client over WebSocket.
func (h *Handler) connect(w http.ResponseWriter, r *http.Request) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return gate.Failure{Status: http.StatusUpgradeRequired, Message: "a GET request opens a connection of WebSocket; other requests are sent with POST"}
	}
	select {
	case h.sockets <- struct{}{}:
		defer func() { <-h.sockets }()
	default:
		return gate.Failure{
			Status: http.StatusTooManyRequests, Code: "websocket_connection_limit_reached",
			Message: fmt.Sprintf("%d connections of WebSocket are open", cap(h.sockets)),
		}
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", gate.ErrLeft, err) // Accept has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(h.Body)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s, messages := &socket{Handler: h, conn: conn}, make(chan []byte, 1)
	go s.read(ctx, cancel, messages)
	return s.serve(r.WithContext(ctx), messages)
}

// read passes on what the client sends. When the client leaves, it ends the answer that is being generated.
func (s *socket) read(ctx context.Context, cancel context.CancelFunc, to chan<- []byte) {
	defer cancel()
	for {
		data, err := s.receive(ctx)
		if err != nil {
			return
		}
		select {
		case to <- data:
		case <-ctx.Done():
			return
		}
	}
}

// receive waits for a message. Once it has begun, it must arrive in the time that the gate allows for a request.
func (s *socket) receive(ctx context.Context) ([]byte, error) {
	_, from, err := s.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(s.ClientTimeout, func() { _ = s.close(websocket.StatusPolicyViolation, "the message took too long to arrive") })
	defer late.Stop()
	return io.ReadAll(from)
}

// serve answers messages until the client leaves, sends none for a long time, or the server ends.
func (s *socket) serve(r *http.Request, messages <-chan []byte) error {
	idle := time.NewTimer(idleSocket)
	defer idle.Stop()
	for {
		select {
		case data := <-messages:
			if err := s.answer(r, data); err != nil {
				return err
			}
			idle.Reset(idleSocket)
		case <-idle.C:
			return s.close(websocket.StatusPolicyViolation, "no request for a long time")
		case <-listen.Ending(r.Context()):
			return s.close(websocket.StatusGoingAway, "the server is shutting down")
		case <-r.Context().Done():
			return gate.ErrLeft
		}
	}
}

// close tells the client why the connection ends.
func (s *socket) close(code websocket.StatusCode, why string) error {
	_ = s.conn.Close(code, why) // a client that has left learns nothing
	return gate.ErrLeft
}

// answer answers a message. It returns only errors that end the connection.
func (s *socket) answer(r *http.Request, data []byte) error {
	ctx, end := s.WithTurn(r.Context())
	defer end()
	r = r.WithContext(ctx)
	var body socketRequest
	err := s.Decode(ctx, data, &body)
	if err == nil && body.Type != "response.create" {
		err = gate.Invalid("type", "%q is not response.create", body.Type)
	}
	if err == nil {
		err = s.Limit(func(_ http.ResponseWriter, r *http.Request) error {
			return gate.Hold(r.Context(), func(ctx context.Context) error { return s.respond(ctx, &body) })
		})(nil, r)
	}
	if err == nil || errors.Is(err, gate.ErrLeft) {
		return err
	}
	f := gate.FailureOf(err)
	return s.send(r.Context(), socketFailure{"error", f.Status, problemOf(f)["error"]})
}

// respond generates a response. One that fails cannot be continued, and neither can the one that it would have continued. A conversation
// may have as many bytes as a request over HTTP that would have all of it, because the connection remembers it.
func (s *socket) respond(ctx context.Context, body *socketRequest) error {
	previous := body.Previous
	if previous != nil {
		if *previous != s.last.id {
			return gate.Failure{
				Status: http.StatusBadRequest, Param: "previous_response_id", Code: "previous_response_not_found",
				Message: fmt.Sprintf("the last response of this connection is not %q", *previous),
			}
		}
		body.Previous, body.Input = nil, slices.Concat(s.last.items, body.Input)
		s.last = turn{}
		if body.Input.size() > s.Body {
			return &http.MaxBytesError{Limit: s.Body}
		}
	}
	a, err := s.newReply(ctx, &body.responsesRequest)
	if err != nil {
		return err
	}
	a.Previous, a.events = previous, &frames{socket: s, ctx: ctx}
	if body.Generate != nil && !*body.Generate {
		err = errors.Join(a.begin(), a.finish(llm.Ended))
	} else {
		err = a.run(ctx)
	}
	if err == nil && a.Status != "failed" {
		s.last = turn{a.ID, slices.Concat(body.Input, itemsOf(a.Output))}
	}
	return err
}

// itemsOf returns the output of a response as the input of the next one.
func itemsOf(output []*item) (list input) {
	for _, x := range output {
		in := inputItem{Type: x.Type, Role: x.Role, CallID: x.CallID, Name: x.Name}
		if x.Content != nil {
			in.Content = new(content)
			for _, part := range *x.Content {
				*in.Content += content(part.Text)
			}
		}
		if x.Arguments != nil {
			in.Arguments = *x.Arguments
		}
		list = append(list, in)
	}
	return list
}

// send sends a message. The error wraps gate.ErrLeft if the client does not receive it.
func (s *socket) send(ctx context.Context, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.ClientTimeout) // the reason of an end can still be sent
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("%w: %w", gate.ErrLeft, err)
	}
	return nil
}

// frames sends the events of a response as messages.
type frames struct {
	socket *socket
	ctx    context.Context
	begun  bool
}

// Send implements sink. The message itself names the kind.
func (f *frames) Send(_ string, v any) error {
	f.begun = true
	return f.socket.send(f.ctx, v)
}

// Begun implements sink.
func (f *frames) Begun() bool { return f.begun }
