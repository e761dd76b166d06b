package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// client is a connection of WebSocket.
type client struct {
	*testing.T
	*websocket.Conn
}

// message is what a test reads of a message of the server.
type message struct {
	Type     string
	Status   int
	Error    struct{ Code, Message, Param string }
	Response struct {
		ID, Status string
		Previous   string `json:"previous_response_id"`
		Output     []struct {
			Type    string
			Content []struct{ Text string }
		}
	}
}

// ask sends a message and returns the answers, of which the last is the end of a response, or an error.
func (c client) ask(text string) (all []message) {
	c.Helper()
	if err := c.Write(c.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.Fatal(err)
	}
	for {
		var m message
		if err := wsjson.Read(c.Context(), c.Conn, &m); err != nil {
			c.Fatal(err)
		}
		all = append(all, m)
		switch m.Type {
		case "response.completed", "response.failed", "response.incomplete", "error":
			return all
		}
	}
}

// end is the last message of ask.
func (c client) end(text string) message {
	c.Helper()
	all := c.ask(text)
	return all[len(all)-1]
}

// A connection has the events of a stream as messages, and continues its last response.
func TestSocket(t *testing.T) {
	m := &listener{messages: make(chan []chat.Message, 9)}
	c := connect(t, serve(t, openai.Options{Models: map[string]openai.Model{"m": m}, Keys: []string{"k"}}).URL, "k")
	all := c.ask(`{"type": "response.create", "model": "m", "input": "a b"}`)
	var kinds []string
	for _, e := range all {
		kinds = append(kinds, strings.TrimPrefix(e.Type, "response."))
	}
	const want = "created in_progress output_item.added content_part.added output_text.delta output_text.delta output_text.done content_part.done output_item.done completed"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("the events are %s, want %s", got, want)
	}
	first := all[len(all)-1].Response
	if first.Status != "completed" || first.Output[0].Content[0].Text != "a b" {
		t.Errorf("the response is %+v", first)
	}
	next := c.end(`{"type": "response.create", "input": "c", "previous_response_id": "` + first.ID + `"}`).Response
	<-m.messages
	if got := rolesOf(<-m.messages); next.Previous != first.ID || got != "user: a b, assistant: a b, user: c" {
		t.Errorf("the response continues %q with %s", next.Previous, got)
	}
	if e := c.end(`{"type": "response.create", "input": "d", "previous_response_id": "` + first.ID + `"}`); e.Status != 400 || e.Error.Code != "previous_response_not_found" || e.Error.Param != "previous_response_id" {
		t.Errorf("after the next one: %+v", e)
	}
	warm := c.end(`{"type": "response.create", "input": "e", "previous_response_id": "` + next.ID + `", "generate": false}`).Response
	c.end(`{"type": "response.create", "input": "f", "previous_response_id": "` + warm.ID + `"}`)
	if got := rolesOf(<-m.messages); len(warm.Output) > 0 || got != "user: a b, assistant: a b, user: c, assistant: c, user: e, user: f" {
		t.Errorf("after a response without output: %s", got)
	}
}

// rolesOf returns messages as a text.
func rolesOf(list []chat.Message) string {
	var parts []string
	for _, m := range list {
		parts = append(parts, m.Role+": "+m.Content)
	}
	return strings.Join(parts, ", ")
}

// An error is a message, after which the connection is still usable. A response that failed is forgotten, with the one before.
func TestSocketErrors(t *testing.T) {
	c := connect(t, serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}}).URL, "")
	for text, want := range map[string]string{
		`{`:                           "not a request in JSON",
		`{"type": "response.steer"}`:  `"response.steer" is not response.create`,
		`{"type": "response.create"}`: "there is no message",
		`{"type": "response.create", "input": "a", "model": "x"}`:       "there is no model",
		`{"type": "response.create", "input": "a", "background": true}`: "background",
	} {
		if e := c.end(text); e.Type != "error" || e.Status/100 != 4 || !strings.Contains(e.Error.Message, want) {
			t.Errorf("%s: %+v, want %q", text, e, want)
		}
	}
	if e := c.end(`{"type": "response.create", "input": "a fail"}`); e.Type != "response.failed" || e.Response.Status != "failed" {
		t.Errorf("an error in the stream: %+v", e)
	}
	id := c.end(`{"type": "response.create", "input": "a"}`).Response.ID
	for _, c := range []struct {
		client
		input, want string
	}{
		{connect(t, serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}}).URL, ""), `"b"`, "previous_response_not_found"},
		{c, `[{"type": "function_call_output", "call_id": "1", "output": "b"}]`, ""},
		{c, `"b"`, "previous_response_not_found"},
	} {
		if e := c.end(`{"type": "response.create", "previous_response_id": "` + id + `", "input": ` + c.input + `}`); e.Type != "error" || e.Error.Code != c.want {
			t.Errorf("%s: %+v, want %q", c.input, e, c.want)
		}
	}
}

// dial tries to open a connection with a key.
// A connection remembers no conversation that is longer than a request may be, however short the parts are.
func TestSocketConversation(t *testing.T) {
	for name, input := range map[string]string{"long texts": `"` + strings.Repeat("x", 600) + `"`, "many short texts": `[{"role": "user", "content": "x"}` + strings.Repeat(`, {"role": "user", "content": "x"}`, 19) + `]`} {
		c := connect(t, serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}, Body: 2000}).URL, "")
		last := c.end(`{"type": "response.create", "generate": false, "input": ` + input + `}`)
		n := 1
		for ; last.Type == "response.completed" && n < 10; n++ {
			last = c.end(`{"type": "response.create", "generate": false, "previous_response_id": "` + last.Response.ID + `", "input": ` + input + `}`)
		}
		if last.Status != http.StatusRequestEntityTooLarge || !strings.Contains(last.Error.Message, "2000 bytes") || n > 5 {
			t.Errorf("%s: request %d of a conversation: %+v", name, n, last)
		}
		if e := c.end(`{"type": "response.create", "input": "short"}`); e.Type != "response.completed" {
			t.Errorf("%s: the next conversation: %+v", name, e)
		}
	}
}

func dial(t *testing.T, url, key string) (*websocket.Conn, *http.Response, error) {
	return websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http")+"/v1/responses", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + key}},
	})
}

// connect opens a connection.
func connect(t *testing.T, url, key string) client {
	t.Helper()
	c, _, err := dial(t, url, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	return client{t, c}
}

// Clients need a key, and connections have a limit. A client that leaves ends its answer.
func TestSocketLimits(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1), wait: make(chan struct{}), ended: make(chan error, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}, Keys: []string{"k"}, Requests: 1, Body: 100})
	c := connect(t, s.URL, "k")
	for key, want := range map[string]int{"": http.StatusUnauthorized, "k": http.StatusTooManyRequests} {
		if _, answer, err := dial(t, s.URL, key); err == nil || answer == nil || answer.StatusCode != want {
			t.Errorf("a second connection with the key %q: %v, want status %d", key, err, want)
		}
	}
	if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"type": "response.create", "input": "a"}`)); err != nil {
		t.Fatal(err)
	}
	<-m.requests
	_ = c.CloseNow()
	select {
	case <-m.ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the answer goes on after the client has left")
	}
	late, _, err := dial(t, s.URL, "k")
	for try := 0; err != nil && try < 1000; try++ { // until the server has noticed
		time.Sleep(10 * time.Millisecond)
		late, _, err = dial(t, s.URL, "k")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer late.CloseNow()
	if err := late.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("a", 101))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := late.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("after a message that is too long: %v", err)
	}
}

// A GET request that does not open a connection is a mistake.
func TestGetResponses(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	if status, body := get(t, s.URL+"/v1/responses"); status != http.StatusUpgradeRequired || !strings.Contains(body, "are sent with POST") {
		t.Errorf("%d %s", status, body)
	}
}

// A message that does not arrive in time ends the connection.
func TestSocketHalfMessage(t *testing.T) {
	c := connect(t, serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}, ClientTimeout: 100 * time.Millisecond}).URL, "")
	time.Sleep(200 * time.Millisecond) // the time begins with a message
	if e := c.end(`{"type": "response.create", "input": "a"}`); e.Type != "response.completed" {
		t.Errorf("a whole message: %+v", e)
	}
	w, err := c.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(strings.Repeat(" ", 10000))); err != nil { // more than a buffer
		t.Fatal(err)
	}
	began := time.Now()
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("after half a message: %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}
