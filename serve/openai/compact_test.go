package openai_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// TestCompact compacts a conversation with a model that repeats its prompt, and goes on from there.
func TestCompact(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	status, body := post(t, s.URL+"/v1/responses/compact", `{"model": "m", "instructions": "Be short.", "prompt_cache_key": "k", "input": [
		{"role": "user", "content": "Launch on Tuesday?"}, {"role": "assistant", "content": "Yes."},
		{"type": "function_call", "call_id": "1", "name": "plan", "arguments": "{\"day\": 2}"}, {"type": "function_call_output", "call_id": "1", "output": "done"}]}`)
	var got struct {
		ID, Object string
		Created    int64 `json:"created_at"`
		Output     []map[string]string
		Usage      struct {
			Total int `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || got.Object != "response.compaction" || len(got.Output) != 1 ||
		got.Created == 0 || got.Usage.Total == 0 || !strings.HasPrefix(got.ID, "resp_") || got.Output[0]["type"] != "compaction" || got.Output[0]["id"] == "" {
		t.Fatalf("%d %s, %v", status, body, err)
	}
	const want = "Write a summary of this conversation, with all facts, decisions and open questions:\n\nsystem: Be short." +
		"\nuser: Launch on Tuesday?\nassistant: Yes. call of plan({\"day\": 2})\ntool: done"
	if text, err := base64.StdEncoding.DecodeString(got.Output[0]["encrypted_content"]); err != nil || string(text) != want {
		t.Errorf("the summary is %q, %v, want %q", text, err, want)
	}
	output, err := json.Marshal(got.Output)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := post(t, s.URL+"/v1/responses", `{"model": "m", "input": `+string(output)+`}`); status != http.StatusOK || !strings.Contains(body, `"text":"I continue from there."`) {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

// TestCompactMistakes sends requests that are refused.
func TestCompactMistakes(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	for _, c := range []struct{ path, body, param string }{
		{"/compact", `{"input": "a"}`, "model"},
		{"/compact", `{"model": "m"}`, "input"},
		{"/compact", `{"model": "m", "input": "a", "previous_response_id": "resp_1"}`, "previous_response_id"},
		{"", `{"model": "m", "input": [{"type": "compaction", "encrypted_content": "?"}]}`, "input"},
	} {
		if status, body := post(t, s.URL+"/v1/responses"+c.path, c.body); status != http.StatusBadRequest || !strings.Contains(body, `"param":"`+c.param+`"`) {
			t.Errorf("%s: %d %s", c.body, status, body)
		}
	}
}
